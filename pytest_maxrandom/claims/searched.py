"""How a claim is judged on examples on which a search has tried prompts."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pytest_maxrandom.claims.needed import least_p, units_of_claim
from pytest_maxrandom.claims.verdict import BESIDE
from pytest_maxrandom.record import Remark, Searched, SearchOfExamples, Unpassable
from pytest_maxrandom.stats import search
from pytest_maxrandom.stats.matching import fewest_hits, matches_p

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.shuffles import Shuffle
    from pytest_maxrandom.ledger import SetLedger, Subject, Try
    from pytest_maxrandom.ledger.lines import Looked, Told
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.stats.search import Feedback


def searched(
    planned: PlannedClaim,
    t: int,
    tries: Collection[Try],
    searches: Mapping[str, Mapping[Try, Told]],
    looks: Sequence[Looked],
    seen: Sequence[int],
    best: Try,
) -> Searched:
    """Return as the best of how many prompts a claim's best one is judged after searches.

    Parameters
    ----------
    t : int
        Prompts that count for the claim.
    tries : collection of Try
        Those of them that the ledger knows.
    searches : mapping
        By the name of a search what it was told of each try, from the ledger.
    looks : sequence of Looked
        Those at any claim on these examples before this one.
    seen : sequence of int
        The n of each result that searches could read beside what they were told.
    best : Try
        The best prompt.
    """
    own = len(told_of(searches).intersection(tries))
    found = found_in(searches, best)
    return judged_as(planned, t - own, searches_of(searches), looks, seen, found)


def told_besides(
    planned: PlannedClaim, ledger: SetLedger, subject: Subject, best: Try | None = None
) -> tuple[list[int], list[Looked]]:
    """Return what searches were told beside the replies to them, or will be: results, and looks.

    Without `best`, the best prompt, all counts that stands there now.

    Returns
    -------
    list of int, list of Looked
        The n of each result that they could read, and the looks.
    """
    found = ledger.in_sight(best, further=best is None)
    # Beside an incumbent a look tells of that as well.
    tries = {tried for tried, _ in found} if planned.suite.incumbent is None else set()
    prompts = planned.condition.prompt_set.digests if best else []
    return [n for _, n in found], ledger.looks_before(subject, prompts, tries)


def found_in(searches: Mapping[str, Mapping[Try, Told]], best: Try | None = None) -> search.Found:
    """Return what searches were told before they tried a prompt; all of it if they never did.

    A search that is told nothing has no place for it: what the others were told may have led there.
    """
    learning = [
        {tried: told for tried, told in tries.items() if told.feedback != "none"}
        for tries in searches.values()
    ]
    of_best = next((tries for tries in learning if best in tries), None)
    before = better = 0
    for tries in learning:
        until = list(tries).index(best) if best is not None and tries is of_best else len(tries)
        learned = list(tries.values())[:until]
        before += len(learned)
        better += max(0, sum(each.accepted for each in learned) - 1)
    return search.Found(before, better)


def told_of(searches: Mapping[str, Mapping[Try, Told]]) -> set[Try]:
    """Return the tries of which a search was told anything."""
    return {
        tried
        for tries in searches.values()
        for tried, what in tries.items()
        if what.feedback != "none"
    }


def searches_of(
    searches: Mapping[str, Mapping[Try, Told]],
) -> list[tuple[str, search.Searched]]:
    """Return the searches of a ledger, each with the name of who proposed its prompts."""
    return [_search(list(tries.values())) for tries in searches.values()]


def _search(told: Sequence[Told]) -> tuple[str, search.Searched]:
    first = told[0]
    feedback = cast("Feedback", first.feedback)  # a ledger with another one is not read
    n = max(each.n for each in told)
    return first.by, search.Searched(feedback, len(told), n, first.budget or None)


def judged_as(
    planned: PlannedClaim,
    t: int,
    searches: Sequence[tuple[str, search.Searched]],
    looks: Sequence[Looked],
    seen: Sequence[int],
    best: search.Found,
) -> Searched:
    """Return how a claim is judged after searches, each with the name of who proposed prompts.

    `t` counts the prompts of the claim of which no search was told anything; `best` is what
    searches were told before the best prompt.
    """
    told = [_told_by(planned, look) for look in looks] + [search.Look(1, n) for n in seen]
    prompts = search.prompts_of(t, [one for _, one in searches], looks=told, found=best)
    judged = Searched(
        searches=_recorded(searches),
        possible=None if prompts is None else float(prompts),
        decided_by="validation",
        looks=len(looks),
        in_sight=len(seen),
    )
    if judged.learned:
        judged.why = _impossible(planned, judged, prompts)
    if judged.why:
        # On a test set the best prompt is compared with guessers, which is no incumbent.
        decides = bool(planned.condition.test) and planned.claim.bounds().keys().isdisjoint(BESIDE)
        judged.decided_by = "test" if decides else "nothing"
    return judged


def _told_by(planned: PlannedClaim, look: Looked) -> search.Look:
    """Return what a verdict told; beside an incumbent also how many of its answers are right.

    And on how many examples one of the two alone is right, which its p-value and interval tell.
    """
    beside = 1 if planned.suite.incumbent is None else (look.n + 1) ** 2
    return search.Look(max(1, look.t) * beside, look.n)


def most_judged_as(
    planned: PlannedClaim,
    t: int,
    searches: Sequence[tuple[str, search.Searched]],
    looks: Sequence[Looked],
    seen: Sequence[int],
    most: search.Found,
) -> Searched:
    """Return how a claim is judged at worst if no more prompts than these were better before.

    Where most prompts are better, fewer nodes have so many that were than one less.
    """
    given = [one for _, one in searches]

    def prompts(better: int) -> float:
        found = search.prompts_of(t, given, found=search.Found(most.before, better))
        return math.inf if found is None else found

    worst = max(range(most.better + 1), key=prompts)
    return judged_as(planned, t, searches, looks, seen, search.Found(most.before, worst))


def _recorded(searches: Sequence[tuple[str, search.Searched]]) -> list[SearchOfExamples]:
    return [SearchOfExamples(by, one.feedback, one.steps, one.budget) for by, one in searches]


def compared_after(searches: Mapping[str, Mapping[Try, Told]]) -> list[Remark]:
    """Say that prompts which are compared may come from searches, if there were any."""
    if not searches:
        return []
    told = [asdict(each) for each in _recorded(searches_of(searches))]
    return [Remark("compared_after_searches", {"searches": told})]


def _impossible(planned: PlannedClaim, found: Searched, prompts: int | None) -> Unpassable | None:
    """Say why no result on the validation set can pass; None where one can."""
    if any(one.feedback == "answers" for one in found.searches):
        return "answers"
    if planned.suite.metric != "accuracy":
        return "metric"
    if prompts is None:
        return "too_many"
    claim, null = planned.claim, planned.with_t(prompts).null
    if claim.unmet(null, null.results[-1]):
        return "too_many"
    levels = claim.levels(null.t)
    beside = levels.get("incumbent_p")
    if beside is not None:
        units, is_graded = units_of_claim(planned), planned.is_graded
        if least_p(claim, "incumbent_p", prompts, units, is_graded=is_graded) > beside:
            return "too_many"
    level = levels.get("permutation_p")
    if level is None:
        return None
    views = planned.condition.shuffled
    if any(
        view.groups or view.things or any(len(right) > 1 for right in view.gold) for view in views
    ):
        return "no_formula"
    few = any(level * view.arrangements < prompts for view in views)
    return "permutations" if few else None


def unjudged(result: Result, *, holds: bool) -> Result:
    """Return a result without the p-values that the validation set cannot have after a search."""
    return replace(
        result,
        p_max=None,
        p_max_error=None,
        log_p_max=None,
        union_p=None,
        permutation_p=None,
        baseline_p=None,
        baseline=None,
        control_p=None,
        control=None,
        incumbent_p=None,
        incumbent=None,
        critical_count=None,
        critical_score=None,
        critical_parts=[],
        new_questions=None,
        holds=holds,
        passed=holds,
    )


def search_facts(found: Searched) -> dict[str, Any]:
    """Return what a reader must know of the searches: from where tries came, and the rule."""
    rule = asdict(found)
    return {"searches": rule["searches"], "rule": rule}


def fewest_of_tree(shuffle: Shuffle, best: int, level: float) -> int:
    """Return with how many right answers the best prompt has a permutation p of at most a level.

    With answers that give each label as often, and by themselves. More than there are examples
    where no number does, or no formula is known.
    """
    answers = np.asarray(shuffle.answers)[best]
    least = None
    if shuffle.groups is None and shuffle.offered is None:
        least = fewest_hits(answers, shuffle.gold, shuffle.strata, level)
    return answers.size + 1 if least is None else least


def permuted_p_of_tree(shuffle: Shuffle, best: int, prompts: int) -> float:
    """Return the permutation p of the best prompt of a search, which is that of so many.

    Each of them is taken to reach the best one's score as often as that does by itself
    (Bonferroni): those that were tried were chosen by their answers, so they cannot stand for the
    others.

    Parameters
    ----------
    best : int
        Row of the best prompt.
    prompts : int
        As the best of which it is judged.

    Returns
    -------
    float
        1 where right answers belong together or are those of an order, or an example has several:
        no formula is known.
    """
    alone = None
    if shuffle.groups is None and shuffle.offered is None:
        alone = matches_p(np.asarray(shuffle.answers)[best], shuffle.gold, shuffle.strata)
    if not alone:
        return 1.0 if alone is None else 0.0
    return math.exp(min(0.0, math.log(prompts) + math.log(alone)))

"""A claim in words: what it says, what became of it, and what it would have taken."""

from __future__ import annotations

from dataclasses import asdict

from pytest_maxrandom.claims.shortcuts import HEURISTICS, OF_OPEN
from pytest_maxrandom.notation import BASELINES, P_VALUES, accuracy, count, equals, level, p_value
from pytest_maxrandom.record import ALLOWED, SCORE, ClaimRecord, DecidedEarly, Record, RunRecord
from pytest_maxrandom.reports import incumbent
from pytest_maxrandom.reports.quantities import (
    best_value,
    examples,
    levels_of,
    metric_name,
    needed_score,
    of_samples,
    p_is,
    shown_p,
)
from pytest_maxrandom.reports.red_flags import MEASURES
from pytest_maxrandom.reports.searches import rule
from pytest_maxrandom.reports.text import clauses, listed, number_of
from pytest_maxrandom.stats import multiplicity

_ADJUSTMENTS = {"holm": "Holm", "bh": "Benjamini and Hochberg", "none": "not adjusted"}
_OF_LEVELS = {"family": "shared by the suite's claims", "looks": "spent per doubling of t"}
"""How levels come about that are not those of the suite."""
_OF_INCUMBENT = ("better_than", "by", "beats")
"""Parts of a claim that are said together."""
_NEGLIGIBLE = 1e-6
"""A smaller Monte Carlo error changes no digit that is shown."""


def best_interval(claim: ClaimRecord) -> tuple[float, float] | None:
    """Return between which accuracies on new questions that of the best prompt lies.

    Each end is at 95 %, and the selection of the best of t is accounted for; see
    `pytest_maxrandom.stats.winner.interval`. None where the metric is no accuracy, or the best
    prompt is not known.
    """
    n = examples(claim)
    if claim.metric != "accuracy" or claim.best_correct is None or not n or not claim.guessers:
        return None
    if claim.best_correct > n:
        return None
    from pytest_maxrandom.stats import winner  # it needs NumPy, which a summary does not

    return winner.interval(claim.best_correct, n, claim.guessers, worth=claim.effective_n)


def result(claim: ClaimRecord) -> str:
    """Say what the best prompt reaches: ``41 of 60 correct``, or its value of another metric."""
    if claim.decided is not None:
        return bounded(claim.decided, claim.n)
    if claim.best_accuracy is None:
        return ""
    if claim.metric == "accuracy" and claim.best_correct is not None:
        by = "" if claim.sampled is None else f" ({metric_name(claim)})"
        return f"{count(claim.best_correct)} of {count(examples(claim))} correct{by}"
    if claim.metric == "accuracy" and claim.sampled is None:
        return f"a mean score of {accuracy(claim.best_accuracy)}"
    return f"{metric_name(claim)} {accuracy(best_value(claim))}"


def bounded(decided: DecidedEarly, n: int | None) -> str:
    """Say between what the right answers of a best prompt are that is not known."""
    if decided.at_most == n:
        return f"at least {count(decided.at_least)} of {count(n)} correct"
    return f"{count(decided.at_least)} to {count(decided.at_most)} of {count(n)} correct"


def decided(claim: ClaimRecord) -> str:
    """Say what was computed of a claim that was decided early, and what that saved."""
    sweep = claim.decided
    if sweep is None:
        return ""
    saved = 1 - sweep.answers / sweep.of_answers
    best = "a prompt has" if claim.passed else "no prompt can have"
    return clauses(
        f"{best} the {count(claim.critical_count)} of {count(claim.n)} correct answers that are "
        f"needed with t = {count(claim.t)}",
        f"{count(sweep.answers)} of {count(sweep.of_answers)} answers were enough to know that "
        f"({saved:.1%} saved): {count(sweep.begun)} of {count(sweep.of_prompts)} prompts were "
        f"begun, {count(sweep.whole)} scored on all examples",
        f"the best prompt has {bounded(sweep, claim.n)}, so its exact accuracy is unknown",
    )


def decisive(claim: ClaimRecord) -> str:
    """Return which p-value decides: the largest relative to its level, else ``p_max``."""
    levels = levels_of(claim)
    return multiplicity.decisive({key: getattr(claim, key) for key in levels}, levels) or "p_max"


def decided_by(claim: ClaimRecord) -> str:
    """Say what the p-value that decides is, where it is known and another one than p_max."""
    if claim.decided_on_test is not None:
        return f"p on the test set {equals(decisive_p(claim))}"
    return p_is(claim, decisive(claim)) if decisive_name(claim) else ""


def decisive_name(claim: ClaimRecord) -> str:
    """Name the p-value that decides, where it is known and another one than p_max."""
    key, name = decisive(claim), name_of_p(claim)
    if claim.decided_on_test is not None:
        return name
    return "" if key == "p_max" or getattr(claim, key) is None else name


def name_of_p(claim: ClaimRecord) -> str:
    """Name what `decisive_p` writes, whether it is known or not."""
    return "p on the test set" if claim.decided_on_test else P_VALUES[decisive(claim)]


def decisive_p(claim: ClaimRecord) -> str:
    """Write the p-value that decides."""
    if claim.decided_on_test is not None:
        return p_value(claim.decided_on_test.p)
    return shown_p(claim, decisive(claim))


def claimed(claim: ClaimRecord) -> str:
    """Say what the suite asserts."""
    levels = levels_of(claim)
    bounded: dict[str, list[str]] = {}
    for key, bound in levels.items():
        bounded.setdefault(level(bound), []).append(P_VALUES[key])
    phrases = [*filter(None, [incumbent.claimed(claim.asserted)])]
    phrases += [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} at most {bound}"
        for bound, names in bounded.items()
    ]
    for key, value in claim.asserted.items():
        if key == "test_p" and isinstance(value, float):
            phrases.append(f"p on the test set is at most {level(value)}")
        elif key == "beats" and isinstance(value, str):
            phrases.append(f"the best {metric_name(claim)} is above {BASELINES.get(value, value)}")
        elif key not in _OF_LEVELS and key not in levels and key not in _OF_INCUMBENT:
            phrases.append(f"{key} is {value}")
    shared = [words for key, words in _OF_LEVELS.items() if key in claim.asserted and levels]
    said = ", and ".join(phrases)
    if not shared:
        return said
    whole = dict.fromkeys(level(claim.asserted[key]) for key in levels if key in claim.asserted)
    return f"{said} ({listed([*whole])} {', and '.join(shared)})"


def needed(claim: ClaimRecord) -> str:
    """Say what would have passed; empty where that is not known, or cannot be told."""
    if claim.cannot_tell is not None or (claim.best_accuracy is None and claim.decided is None):
        return ""
    if claim.searched is not None and claim.searched.why is not None:
        return rule(asdict(claim.searched))
    bound = levels_of(claim).get("permutation_p")
    depends = bound is not None and "permutation_p" not in claim.critical_parts
    name = P_VALUES["permutation_p"]
    parts = [
        f"beating {BASELINES.get(claim.asserted[key], key)}" if key == "beats" else P_VALUES[key]
        for key in claim.critical_parts
        if key in claim.asserted
    ]
    if not parts:
        rest = "which depends on the answers, not on their number"
        return "" if bound is None else f"{name} at most {level(bound)}, {rest}"
    if claim.critical_score is not None:
        least = f"a {metric_name(claim)} of at least {accuracy(claim.critical_score, 4)}"
    elif claim.critical_count is not None:
        least = f"at least {count(claim.critical_count)} of {count(claim.n)} correct"
    else:
        what = "number of correct answers" if claim.metric == "accuracy" else metric_name(claim)
        return f"no {what} can pass with n = {count(claim.n)} and t = {count(claim.t)}"
    if depends:
        return f"{least} for {listed(parts)}; the {name} depends on the answers"
    return least if bound is None else f"{least} for {listed(parts)}, the other answers as they are"


def finding(record: Record) -> str:
    """Say why a record did not end as it should have; empty of one that did."""
    if record.outcome in ("passed", ALLOWED):
        return ""
    if record.outcome == "xpassed":
        reason = f" ({record.xfail})" if record.xfail else ""
        return f"passes, but was expected to fail{reason}: remove its xfail"
    return record.message or "no reason was recorded"


def reached(claim: ClaimRecord) -> str:
    """Say by what a claim passes: what its best prompt reaches, and the p-value that decides."""
    key, bounds = decisive(claim), levels_of(claim)
    decides = "" if getattr(claim, key) is None else p_is(claim, key)
    if claim.decided_on_test is not None:
        decides = decided_by(claim)
    elif decides and key in bounds:
        decides = f"{decides} (claimed: at most {level(bounds[key])})"
    at_least = needed_value(claim)
    return clauses(
        result(claim), at_least and f"needed: {at_least}", decides if claim.asserted else ""
    )


def best_shown(claim: ClaimRecord) -> str:
    """Write what the best prompt reaches: ``.550``, ``macro-F1 .515``, or a bound of it."""
    found = claim.decided
    if found is not None and claim.n:
        bound = ("at least", found.at_least) if claim.passed else ("at most", found.at_most)
        return f"{bound[0]} {accuracy(bound[1] / claim.n)}"
    shown = accuracy(best_value(claim))
    return shown if (name := metric_name(claim)) == "accuracy" else f"{name} {shown}"


def needed_value(claim: ClaimRecord) -> str:
    """Write what passes; empty where nothing is asserted, or no number of answers tells."""
    value = needed_score(claim) if claim.asserted else None
    return "" if value is None else accuracy(value)


def guessing(claim: ClaimRecord) -> str:
    """Say how probable it is that guessers do as well as the best prompt."""
    error = _monte_carlo(claim.p_max_error)
    besides = {
        "p_max": f"best of {count(claim.guessers)} independent guessers{error}",
        "union_p": "for any dependence between prompts, if each is right with chance 1/m",
        "permutation_p": "right answers shuffled",
    }
    alone = ""
    if claim.p_standard is not None:
        alone = f"p of one guesser {equals(p_value(claim.p_standard))} (ignores t)"
    known = [key for key in besides if getattr(claim, key) is not None]
    return clauses(*(f"{p_is(claim, key)} ({besides[key]})" for key in known), alone)


def new_questions(claim: ClaimRecord) -> str:
    """Say what the best prompt is worth on new questions."""
    estimate = claim.new_questions
    if estimate is None:
        return ""
    best = claim.best_accuracy
    these = "" if best is None else f" ({accuracy(best)} on these)"
    return clauses(
        f"{_bounded_on_new(claim)} at least {accuracy(estimate.low)} at 95 %",
        estimate.estimate is not None
        and f"estimated {accuracy(estimate.estimate)}, without the bias of the selection{these}",
        estimate.clusters and f"of {number_of(estimate.clusters, 'cluster')} of examples",
    )


def _bounded_on_new(claim: ClaimRecord) -> str:
    """Name what is bounded on new questions: of a prompt that is best in a metric, its accuracy."""
    if claim.sampled is not None:
        return of_samples(claim.sampled, SCORE if claim.metric == SCORE else "accuracy")
    return "score" if claim.metric == SCORE else "accuracy"


def interval_shown(claim: ClaimRecord) -> str:
    """Write between which accuracies on new questions that of the best prompt lies.

    Of scores, means of samples and other metrics only the least is known; empty where nothing is.
    """
    if interval := best_interval(claim):
        return "\N{EN DASH}".join(map(accuracy, interval))
    if claim.new_questions is None:
        return ""
    return f"{_bounded_on_new(claim)} at least {accuracy(claim.new_questions.low)}"


def adjusted(claim: ClaimRecord, run: RunRecord) -> str:
    """Say what the claim's p-value is among all claims of the run, where there are several."""
    tested = sum(other.adjusted_p is not None for other in run.claims)
    if claim.adjusted_p is None or tested < 2:
        return ""
    shown = p_value(claim.adjusted_p, level=max(levels_of(claim).values(), default=None))
    return f"{shown} ({_ADJUSTMENTS[run.adjustment]}, {tested} claims)"


def majority(claim: ClaimRecord) -> str:
    """Say what accuracy a constant answer reaches."""
    if claim.majority_rate is None:
        return ""
    rate = f"an accuracy of {accuracy(claim.majority_rate)} at best"
    beside = "" if claim.majority_p is None else f", p_max {p_value(claim.majority_p)}"
    if beside and claim.metric != "accuracy":
        beside += " of that accuracy"
    reached = ""
    if claim.best_accuracy is not None and claim.majority_rate >= claim.best_accuracy:
        reached = f"; that of the best prompt, {accuracy(claim.best_accuracy)}, is not above it"
    return f"{rate}{beside}{reached}"


def shortcuts(claim: ClaimRecord) -> str:
    """Say what the best heuristic reaches, and the best prompt with blank inputs."""
    kinds = claim.shortcuts
    if kinds is None:
        return ""
    as_many = " with as many different answers" if kinds.measure == "pass" else ""
    if kinds.heuristic in OF_OPEN:
        told = (
            f"{HEURISTICS[name].description()} {accuracy(score)}"
            for name, score in kinds.heuristics.items()
        )
        return (
            f"{', '.join(told)}{as_many}; sign-flip p of the best prompt's "
            f"{accuracy(kinds.best)} above the best of these {equals(p_value(kinds.heuristic_p))}"
        )
    heuristic = HEURISTICS[kinds.heuristic].description()
    return clauses(
        f"{heuristic}, the best of {len(kinds.heuristics)} heuristics, has "
        f"{MEASURES[kinds.measure]} of {accuracy(kinds.heuristic_score)}{as_many} "
        f"(sign-flip p of the best prompt's {accuracy(kinds.best)} "
        f"{equals(p_value(kinds.heuristic_p))})",
        kinds.choices_only is not None
        and f"with blank inputs the best prompt has {accuracy(kinds.choices_only)} (p "
        f"{equals(p_value(kinds.choices_only_p))})",
    )


def scored(claim: ClaimRecord) -> str:
    """Say what the best prompt scores, where the metric is no accuracy."""
    if claim.metric == "accuracy" or claim.best_score is None:
        return ""
    if claim.metric == SCORE:
        judged = f", given by {claim.judge}" if claim.judge else ""
        return (
            f"mean of scores from 0 to 1{judged}; {accuracy(claim.best_score)} of the best prompt"
        )
    error = _monte_carlo(claim.max_random_baseline_error)
    return (
        f"{metric_name(claim)}; {accuracy(claim.best_score)} of the best prompt, which has "
        f"{count(claim.best_correct)} of {count(claim.n)} correct; one guesser "
        f"{accuracy(claim.standard_baseline)}, best of {count(claim.guessers or claim.t)} guessers "
        f"{accuracy(claim.max_random_baseline)}{error}"
    )


def _monte_carlo(error: float | None) -> str:
    return f", Monte Carlo error {p_value(error)}" if error and error >= _NEGLIGIBLE else ""

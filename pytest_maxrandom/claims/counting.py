"""How many prompts were tried, and which of them count: the t of a claim."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.claims.earlier import EarlierTasks
from pytest_maxrandom.claims.samples import scores_samples
from pytest_maxrandom.claims.verdict import BESIDE
from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.ledger import SetLedger, Subject, Try
from pytest_maxrandom.ledger.history import ClaimedSet
from pytest_maxrandom.record import Remark, Tries
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.stats.clusters import numbered, united
from pytest_maxrandom.stats.looks import spent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path, PurePosixPath

    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger.fields import Row
    from pytest_maxrandom.ledger.opened import LedgerFiles
    from pytest_maxrandom.ledger.withheld import Withheld
    from pytest_maxrandom.sweeps.predictions import PromptPredictions


def tries_of(
    planned: PlannedClaim,
    run: Iterable[PlannedClaim],
    ledger: SetLedger,
    subject: Subject,
    identify: Callable[[PlannedClaim], Subject],
) -> tuple[set[Try], set[Try]]:
    """Return the tries of a claim on its examples, and those that count for it.

    Parameters
    ----------
    run : iterable of PlannedClaim
        What the session is about, the claim's siblings left out: what it is about to try counts.
    ledger : SetLedger
        Of the claim's examples.
    subject : Subject
        The claim's.
    identify : callable
        Returns the subjects of other claims.
    """
    claim = {*ledger.tries(subject), *own_tries(planned, subject)}
    of_any = planned.counted == "task"
    counted = {*ledger.tries(), *claim} if of_any else claim
    for other, tries in _tries_of_others(planned, run, ledger, identify):
        counted |= tries
        if of_any and _claim_key(other) == _claim_key(planned):
            claim |= tries
    return claim, counted


def _tries_of_others(
    planned: PlannedClaim,
    run: Iterable[PlannedClaim],
    ledger: SetLedger,
    identify: Callable[[PlannedClaim], Subject],
) -> Iterator[tuple[PlannedClaim, set[Try]]]:
    """Yield the other claims of a run that count for a claim, with what they try."""
    for other in run:
        if other is planned:
            continue
        if _claim_key(other) != _claim_key(planned) and planned.counted != "task":
            continue
        theirs = other.condition.prompt_set.validation
        same = theirs == planned.condition.prompt_set.validation
        if other.base != planned.base or not (
            same or ledger.is_about(other.condition.question_digests)
        ):
            continue
        try:
            tries = own_tries(other, identify(other))
        except ModelError:  # and so none of its prompts will be tried
            continue
        # Another suite may have the same replicates.
        siblings = ledger.siblings_on(theirs)
        yield other, {tried for tried in tries if tried.prompt not in siblings}


def subject_of(planned: PlannedClaim) -> Subject:
    """Return what the ledger knows a claim by.

    Raises
    ------
    ModelError
        If the model's files cannot be read.
    """
    return subject_by(planned, planned.backends.identify(planned.located).tried_digest)


def count_prompt(ledger: SetLedger, subject: Subject, found: PromptPredictions) -> None:
    """Count a prompt, once however many samples of it there are.

    Its right answers are told where all samples are there and they are a whole number.
    """
    digest, n, correct = found.prompt.digest, len(found.examples), found.known_correct
    if correct is None:
        ledger.begun(subject, {digest: n})
    else:
        ledger.evaluated(subject, digest, n, correct)


def subject_by(planned: PlannedClaim, digest: str) -> Subject:
    """Return what the ledger knows a claim by, if its model has this digest."""
    return Subject(
        model=counted_name(planned),
        model_digest=digest,
        quantization=planned.model.variant,
        shots=planned.condition.shots,
        scoring=_scoring(planned),
    )


def _scoring(planned: PlannedClaim) -> str:
    """Return how a ledger knows that answers are read.

    What samples come to may be chosen after they were seen: it makes further tries, as another
    scoring does. Their number makes none, and neither does their mean, that of a single answer.
    """
    how, scoring = planned.aggregate, planned.suite.scoring
    if how is None or how.how == "mean":
        return scoring
    return f"{scoring}, {how.how}" + (f"@{how.asked}" if how.asked else "")


def _claim_key(planned: PlannedClaim) -> tuple[str, int]:
    """Return what is the same claim, whatever the revision of its model."""
    return counted_name(planned), planned.condition.shots


def counted_name(planned: PlannedClaim) -> str:
    """Return the name by which a ledger knows a model, and so what counts as tries of one claim.

    The trained arms of `contamination` are known by their part in it: the design names all three
    before any is seen, each is reported, and none is chosen for its score, so that base, extra and
    test are no tries of one claim. Neither the arm's name nor its settings are a part of the name:
    another learning rate is a further try of the same part. Arms outside that design count
    together, because the best of them may be chosen.
    """
    check, name = planned.suite.contamination, planned.model.name
    if check is None or planned.arm.train is None:
        return name
    parts = {check.extra: "extra", check.test: "test"}
    part = parts.get(planned.arm.name)
    return name if part is None else f"{name} (trained: {part})"


def own_tries(planned: PlannedClaim, subject: Subject) -> set[Try]:
    """Return what a claim tries by itself."""
    return set(map(subject.tried, planned.condition.prompt_set.digests))


def claim_ledger(
    planned: PlannedClaim,
    run: str = "",
    files: LedgerFiles | None = None,
    earlier: EarlierTasks | None = None,
    withheld: Withheld | None = None,
) -> SetLedger:
    """Return the ledger of a claim's examples, which its siblings' prompts are no tries in.

    Parameters
    ----------
    run : str
        Names the session in what is written.
    files : LedgerFiles, optional
        What it has read already.
    earlier : EarlierTasks, optional
        What the tasks of the claim's folder asked before, perhaps in other words.
    withheld : Withheld, optional
        Where right answers are kept that a search must not see.

    Raises
    ------
    LedgerError
        If it cannot be read.
    """
    siblings = planned.design.siblings(planned.replicate) if planned.design else None
    condition = planned.condition
    examples = condition.prompt_set.validation
    task = condition.task.name
    ledger = SetLedger(planned.ledger, run, task, examples, siblings, files, withheld)
    if earlier is not None:
        earlier.join(ledger, examples)
    return ledger


class ClaimsOfRun:
    """All claims of a run whose models are run, with all their replicates."""

    def __init__(self, claims: Iterable[PlannedClaim]) -> None:
        self.claims = list(dict.fromkeys(claims))
        self._by_key: dict[tuple[str, int], list[PlannedClaim]] = {}
        self._near: dict[Condition, int] = {}
        self._earlier: dict[Path, EarlierTasks] = {}
        self._by_arm: dict[str, list[PlannedClaim]] = {}
        for claim in self.claims:
            self._by_key.setdefault(_claim_key(claim), []).append(claim)
            self._by_arm.setdefault(claim.arm.name, []).append(claim)

    def __iter__(self) -> Iterator[PlannedClaim]:
        return iter(self.claims)

    def of_arm(self, name: str) -> Sequence[PlannedClaim]:
        """Return the claims about an arm, or else a model, of this name."""
        return self._by_arm.get(name, ())

    def earlier(self, planned: PlannedClaim) -> EarlierTasks:
        """Return what the tasks of a claim's folder asked before, read once for all claims."""
        if planned.base not in self._earlier:
            self._earlier[planned.base] = EarlierTasks(planned.base)
        return self._earlier[planned.base]

    def that_count_for(self, planned: PlannedClaim) -> list[PlannedClaim]:
        """Return the claims whose prompts may count for a claim: no siblings.

        These are other replicates in the same design. What is tried on a model that makes its
        answers up counts for such models only.
        """
        by_task = planned.counted == "task"
        near = self._sharing_examples()
        here = near.get(planned.condition)
        return [
            other
            for other in (self.claims if by_task else self._by_key.get(_claim_key(planned), []))
            if here in (None, near[other.condition])
            and other.model.simulated == planned.model.simulated
            and (
                planned.design is None
                or other.design is not planned.design
                or other.replicate == planned.replicate
            )
        ]

    def _sharing_examples(self) -> dict[Condition, int]:
        """Return a number for each condition, the same where validation sets share examples.

        They may share them through other sets. Whatever shares none cannot be the same set, changed
        a little, so that a claim need not look at it.
        """
        if not self._near:
            first: dict[str, Condition] = {}
            conditions = [*dict.fromkeys(claim.condition for claim in self.claims)]
            parts = united(
                (each, *(first.setdefault(question, each) for question in each.question_digests))
                for each in conditions
            )
            numbers = numbered(parts[each] for each in conditions)
            self._near = dict(zip(conditions, numbers.tolist(), strict=True))
        return self._near


def explained(
    planned: PlannedClaim, run: Iterable[PlannedClaim], ledger: SetLedger, subject: Subject, t: int
) -> list[Remark]:
    """Say why t is not the number of prompts that are asked for, where the ledger does not.

    `t` is without the tries that searches learned of.
    """
    run, notes = [*run], []
    files = {(other.name, other.file) for other in (planned, *run)}
    times = Counter(name for name, _ in files)
    known = {*ledger.tries(subject), *own_tries(planned, subject)}
    for other, tries in _tries_of_others(planned, run, ledger, subject_of):
        if _claim_key(other) == _claim_key(planned) and (new := tries - known):
            common = ledger.shared_with(other.condition.prompt_set.validation)
            name = f"{other.name} of {other.file}" if times[other.name] > 1 else other.name
            values = {"prompts": len(new), "claim": name, "examples": common}
            notes.append(Remark("tries_of_another_claim", values))
            known |= new
    budget = planned.suite.prompts.budget
    if budget is None:
        return notes
    if t > budget:
        notes.append(Remark("budget_overrun", {"budget": budget, "t": t}))
    before = [of_look for of_look in ledger.looked_at(subject).values() if of_look < budget]
    if before and t == budget:
        notes.append(Remark("budget_raised", {"budget": budget, "t": max(before)}))
    return notes


def look_of(
    planned: PlannedClaim,
    result: Result,
    look: int,
    claim: int,
    task: int,
    own: int,
    chosen: tuple[int, int],
) -> Tries:
    """Return what a look at a claim that has been judged counts.

    Parameters
    ----------
    look : int
        Its number, from 1.
    claim, task : int
        Tries of this claim, and of any, on its examples.
    own : int
        What counts for it without the tries that searches learned of.
    chosen : tuple of int
        Of how many its prompts and its model may have been chosen, as the ledger has it.
    """
    prompts, variants = chosen
    counted: Literal["claim", "task", "budget", "doubling"] = planned.counted
    if planned.claim.spend:
        counted = "doubling"
    elif planned.suite.prompts.budget == own:
        counted = "budget"
    level, holds = _spent(planned, result)
    return Tries(
        run=len(planned.condition.prompt_set.prompts),
        claim=claim,
        task=task,
        counted=counted,
        look=look,
        level=level,
        holds=holds,
        distinct_prompts=prompts,
        variants=variants,
    )


def _spent(planned: PlannedClaim, result: Result) -> tuple[float, bool]:
    """Return the level of a look whose claim spends it, and whether the claim holds at that.

    After a search the level is that of the claim: what it could have tried is counted otherwise.
    So it is where guessers are known by the answers alone.
    """
    if result.has_learned or scores_samples(planned.aggregate) or planned.is_graded:
        return min(result.levels.values(), default=DEFAULT_LEVEL), bool(result.holds)
    spending = replace(planned.claim, spend=True)
    t = spending.tried(result.t)
    levels = spending.levels(t)
    reached = result.best_correct if planned.suite.metric == "accuracy" else result.best_score
    if result.decided is not None:
        reached = result.decided.at_least
    assert reached is not None
    holds = not spending.unmet(planned.with_t(t).null, reached)
    if "permutation_p" in levels:
        p = result.permutation_p  # None where it was not needed to see that the claim fails
        # Each further prompt adds the best one's own p-value, which is at most that of all.
        holds &= p is not None and p * (1 + t - result.t) <= levels["permutation_p"]
    for key in BESIDE.keys() & levels.keys():
        p, beside = getattr(result, key), getattr(result, BESIDE[key])
        # An exact test has p times t; of resamples each further prompt adds what the best one has.
        more = t / result.t if beside is None or beside.test == "exact" else 1 + t - result.t
        holds &= p is not None and p * more <= levels[key]
    return min(levels.values(), default=spent(DEFAULT_LEVEL, t).level), holds


def claimed_set(planned: PlannedClaim, folder: PurePosixPath, suite: str) -> ClaimedSet:
    """Return what a claim is tested on, and what of a ledger counts for it.

    A model on the hub is known by its name, one in a folder by its content, too: a suite that is
    moved may name the folder otherwise. The folder is read only where a row is of another name.
    """

    @functools.cache
    def digest() -> str | None:
        try:
            is_local = planned.located.size is not None
            return subject_of(planned).model_digest if is_local else None
        except ModelError:
            return None

    def counts(row: Row) -> bool:
        if planned.counted == "task":
            return True
        if row["shots"] != planned.condition.shots:
            return False
        return bool(row["model"] == counted_name(planned) or row["model_digest"] == digest())

    condition = planned.condition
    who = f"{suite}::{planned.name}"
    return ClaimedSet(folder, who, condition.example_digests, condition.named_questions, counts)

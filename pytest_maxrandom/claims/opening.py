"""The test set of a claim: when it is opened, for which prompt, and what that decides.

One prompt is tried there, so the baseline is that of one guesser. But a constant answer beats that
where the right answers are unbalanced, so they are shuffled as well, and the larger p-value counts.
One test set may be opened for many (model, prompt) pairs, so p is multiplied by their number: in
each run the claims that it confirms are right together.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.open_answers import shuffle_of_open
from pytest_maxrandom.claims.searched import unjudged
from pytest_maxrandom.claims.shuffles import Shuffle, permuted, permuted_open
from pytest_maxrandom.notation import count, level, p_value
from pytest_maxrandom.record import HeldOut, Remark, Searched
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.stats.clusters import summary
from pytest_maxrandom.stats.majority import majority_answer
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.stats.winner import wilson
from pytest_maxrandom.sweeps.executor import Job, jobs_of
from pytest_maxrandom.sweeps.labels import (
    Labels,
    label,
    label_by_cluster,
    label_exchanged_texts,
    label_things,
    label_told,
)
from pytest_maxrandom.sweeps.open_answers import labels_of_references
from pytest_maxrandom.sweeps.prompts.formats import Prompt, shown_order
from pytest_maxrandom.tasks.references import Matching
from pytest_maxrandom.tasks.task import Example, share_choices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import SetLedger, Subject
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Sweep

    Ask = Callable[[Sequence[Job]], Sweep]


def held_out(
    predictions: PromptPredictions,
    *,
    openings: int,
    claims: int = 1,
    seen: int = 0,
    test_p: float | None = None,
) -> HeldOut:
    """Compare the best prompt's answers to the test set with guessers and with shuffled answers.

    Parameters
    ----------
    openings : int
        (model, prompt) pairs for which the test set was ever opened, this one included.
    claims : int
        Claims of the run that open the same test set if they pass. Where they are more, they count
        in place of the openings, so that p does not depend on which is tested first.
    seen : int
        Examples that stand in a validation set.
    test_p : float, optional
        What is claimed of p, which says how many permutations are needed.
    """
    examples, correct = predictions.examples, predictions.correct
    null = MaxRandomBaseline(len(examples), [example.chance for example in examples], t=1)
    clusters, effective_n = summary(example.cluster for example in examples)
    low, high = wilson(correct, len(examples), effective_n=effective_n)
    tests = max(openings, claims)
    least = (test_p or 1) / tests
    if examples[0].open is None:
        standard, p_standard = null.standard_baseline, null.p_value(correct)
        shuffles = [Shuffle.of([predictions], labels) for labels in _views(examples)]
        shuffled_p = max(permuted(each, 1, level=least).p for each in shuffles)
    else:
        found = permuted_open(shuffle_of_open([predictions], examples), 1, level=least)
        assert found.learnt is not None
        standard, p_standard, shuffled_p = found.learnt.standard, found.p, found.p
    return HeldOut(
        n=len(examples),
        correct=correct,
        accuracy=correct / len(examples),
        low=low,
        high=high,
        standard_baseline=standard,
        p_standard=p_standard,
        majority_rate=_majority(predictions),
        permutation_p=shuffled_p,
        p=min(1.0, tests * max(p_standard, shuffled_p)),
        tests=tests,
        openings=openings,
        seen=seen,
        clusters=clusters,
        effective_n=effective_n,
    )


def out_of_reach(examples: Sequence[Example], test_p: float) -> str:
    """Say why no answers to a test set can have so small a p; empty where some can."""
    null = MaxRandomBaseline(len(examples), [example.chance for example in examples], t=1)
    least = max(
        null.p_value(len(examples)), *(1 / labels.arrangements for labels in _views(examples))
    )
    if not above(least, test_p):
        return ""
    return (
        f"even if all {count(len(examples))} answers on the test set are right, p is at least "
        f"{p_value(least)} there, and test_p is {level(test_p)}; set more examples aside (`test`), "
        "with different right answers"
    )


def confirmed(result: Result, test_p: float) -> Result:
    """Return a claim's result, which fails if its test set does not confirm it, or is closed."""
    if result.cannot_tell is not None:
        return result
    if result.test is None:
        return replace(result, holds=None, passed=False)
    if result.test.p is not None and above(result.test.p, test_p):
        return replace(result, holds=False, passed=False)
    return result


def _views(examples: Sequence[Example]) -> Iterator[Labels]:
    """Yield labels as places as they are shown; and as texts, where choices recur.

    Without choices they are the references.
    """
    if examples[0].open is not None:
        yield labels_of_references(examples, Matching())
        return
    yield label(examples, by_place=True)
    texts = label(examples) if share_choices(examples) else label_exchanged_texts(examples)
    others = label_by_cluster(examples), label_things(examples)
    yield from (each for each in (texts, *others, *label_told(examples)) if each is not None)


def _majority(predictions: PromptPredictions) -> float | None:
    """Return the accuracy of the best constant answer; None where no two examples share one."""
    examples, form = predictions.examples, predictions.prompt.format
    rates = []
    texts = Counter(text for example in examples for text in set(example.choices))
    if max(texts.values()) > 1:
        rates.append(majority_answer({e.choices[i] for i in e.right} for e in examples).rate)
    if form.labels != "text" or form.layout.append_choices:
        places = ({shown_order(e).index(i) for i in e.right} for e in examples)
        rates.append(majority_answer(places).rate)
    return max(rates, default=None)


class Opening:
    """Opens the test set of one claim for its best prompt, where that may be.

    Parameters
    ----------
    run : iterable of PlannedClaim
        All claims of the run: several may open one test set, but no model that makes its answers up
        opens that of others.
    ask : callable
        Runs what is no try of the claim.
    closed : bool
        Whether test sets stay closed.
    """

    def __init__(
        self,
        planned: PlannedClaim,
        run: Iterable[PlannedClaim],
        ledger: SetLedger,
        subject: Subject,
        ask: Ask,
        *,
        closed: bool,
    ) -> None:
        self._planned, self._run = planned, run
        self._ledger, self._subject = ledger, subject
        self._ask, self._closed = ask, closed

    def follow(self, sweep: Sweep, result: Result) -> Result:
        """Open it as the verdict on the validation set, and on who searched there, wants it.

        Raises
        ------
        SweepError
            If the prompt cannot be scored.
        """
        if result.searched is not None and result.searched.why is not None:
            return self._decide(sweep, result, result.searched)
        if result.passed and self._planned.condition.test:
            return self._confirm(sweep, result)
        return result

    def _confirm(self, sweep: Sweep, result: Result) -> Result:
        """Open the test set for a claim that passed, and hold the claim to what it says of it."""
        if not self._closed:
            result = self._open(sweep, result)
        test_p = self._planned.claim.test_p
        return result if test_p is None else confirmed(result, test_p)

    def _decide(self, sweep: Sweep, result: Result, searched: Searched) -> Result:
        """Let the test set decide, where no result on the validation set can pass after a search.

        It stays closed for a claim that would not even pass had nobody searched, which costs no
        level: what it is opened for is settled without it.
        """
        claim = self._planned.claim
        worth_it, level = result.passed, min(result.levels.values(), default=DEFAULT_LEVEL)
        asserts = bool(claim.bounds()) or claim.test_p is not None
        result = unjudged(result, holds=not asserts)
        if searched.decided_by != "test":
            return result
        best = self._subject.tried(_best(sweep, result).digest)
        if self._ledger.has_told_of(self._planned.condition.test, best):
            return replace(result, searched=replace(searched, decided_by="nothing"))
        if not worth_it or self._closed:
            return result
        result = self._open(sweep, result)
        if result.test is None or result.test.p is None:
            return result
        if not above(result.test.p, claim.test_p or level):
            return replace(result, holds=True, passed=True)
        return result

    def _open(self, sweep: Sweep, result: Result) -> Result:
        """Score the best prompt on the test set, if that could be written down.

        Where its examples have clusters, the interval is that of their effective n.
        """
        examples, prompt = self._planned.condition.test, _best(sweep, result)
        openings = self._ledger.opened(self._subject, prompt.digest, examples)
        if openings is None:
            return result.noted(Remark("test_not_opened"))
        planned = self._planned
        jobs = jobs_of([(prompt, examples)], planned.suite.scoring, planned.aggregate)
        asked = self._ask(jobs)
        test = held_out(
            asked.predictions[0],
            openings=openings,
            claims=sum(
                other.condition.test == examples and other.simulated == self._planned.simulated
                for other in self._run
            ),
            seen=self._ledger.known_examples(examples),
            test_p=self._planned.claim.test_p,
        )
        return replace(result, test=test)


def _best(sweep: Sweep, result: Result) -> Prompt:
    return sweep.predictions[result.best].prompt

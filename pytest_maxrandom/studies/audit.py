"""What chance is of a task, and what is wrong with it, before any model is asked.

Places of choices are those in the task's file: a suite's prompts list choices in an order of their
own, but other tools show them as they stand.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.shortcuts import HEURISTICS, heuristics
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.flags import KINDS, JudgedAnswers
from pytest_maxrandom.flags.texts import same_text
from pytest_maxrandom.record import AuditedTask, BestGuess, ConstantAnswer, Finding, Rule
from pytest_maxrandom.stats.chances import chance_groups, mean_of
from pytest_maxrandom.stats.clusters import effective_n
from pytest_maxrandom.stats.majority import majority_answer
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.rules import rule_p_value, total
from pytest_maxrandom.sweeps.predictions import texts_of
from pytest_maxrandom.sweeps.prompts.sampling import NoPrompts, validation_set
from pytest_maxrandom.tasks.load import load_task, set_aside
from pytest_maxrandom.tasks.task import share_choices

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from pytest_maxrandom.record import FindingKind, HeuristicName
    from pytest_maxrandom.stats.chances import Groups
    from pytest_maxrandom.sweeps.predictions import Texts
    from pytest_maxrandom.tasks.found import FoundTask
    from pytest_maxrandom.tasks.task import Example, Task

LUCK = 0.01
"""What right answers that are drawn by lot do with this probability is no finding."""
_NEARLY_ALL = 0.9
"""Share of right answers that is too much to ask of a prompt that knows a task."""
_MARKED: tuple[FindingKind, ...] = ("shared_text", "clustered_answers", "cut_text")
"""Red flags that are findings."""
_CONTRADICTORY = "contradictory_answers"
"""What the finding `contradictory_examples` says more of."""
_NOTED: tuple[FindingKind, ...] = ("empty_inputs", "unanswerable")
"""Notes that are."""


@dataclass(frozen=True)
class _Data:
    """The n examples that are scored, their choices in the file's order."""

    examples: Sequence[Example]

    @cached_property
    def shared(self) -> bool:
        """Whether labels are texts."""
        return share_choices(self.examples)

    @cached_property
    def groups(self) -> Groups:
        """How many examples have which chance."""
        kinds = Counter((len(each.right), len(each.choices)) for each in self.examples)
        return chance_groups([Fraction(*kind) for kind in kinds.elements()])

    @cached_property
    def texts(self) -> Texts:
        return texts_of(self.examples)

    @cached_property
    def clusters(self) -> list[Hashable]:
        """Per example what tells its cluster: as stated, else by a long text that others share."""
        if (stated := self.texts["clusters"]) is not None:
            return [(place, own) if own is None else own for place, own in enumerate(stated)]
        first = sorted(set(self.texts["copies"]))
        alike = same_text(self.texts["inputs"][place] for place in first)
        of_text = dict(zip(first, alike, strict=True))
        return [of_text[place] for place in self.texts["copies"]]

    def by_luck(
        self, values: Sequence[Fraction | int], tried: int, *, guesses: bool = False
    ) -> float:
        """Bound the probability that the best of so many rules is right so often (Bonferroni)."""
        return min(1.0, tried * rule_p_value(values, self.groups, self.clusters, guesses=guesses))


def read_and_audit(source: FoundTask, prompts: Sequence[int], alpha: float = 0.05) -> AuditedTask:
    """Load a task and return what is known of it.

    Of a suite's task the validation examples are scored, of any other all examples.

    Raises
    ------
    MaxRandomError
        If it cannot be read, or a suite's task cannot be split as the suite asks.
    """
    task = load_task(source.spec, source.base, source.where)
    if task.is_open:
        told = (
            f"{task.name} has no choices, so that nothing is known of guessers before answers are"
        )
        raise SuiteError([Problem(*source.where("format"), told)])
    scored = task.examples
    if source.line is not None:
        rest, _ = set_aside(task, source.spec, source.base, partial(source.where, "test"))
        try:
            scored = validation_set(rest, source.spec.validation)
        except NoPrompts as error:
            raise SuiteError([Problem(*source.where(error.key), str(error))]) from None
    place = AuditedTask(
        name=source.name,
        path=str(source.path),
        line=source.line,
        format=source.spec.format,
    )
    return audit(place, task, scored, prompts, alpha)


def audit(
    found: AuditedTask,
    task: Task,
    scored: Sequence[Example],
    prompts: Sequence[int],
    alpha: float = 0.05,
) -> AuditedTask:
    """Return what is known of a task; the reports word findings and notes.

    Parameters
    ----------
    found : AuditedTask
        Its name, and where it was found.
    task : Task
        All of it, with its test set.
    scored : sequence of Example
        The n examples that prompts are scored on, at least one.
    prompts : sequence of int
        Numbers of prompts t, ascending.
    alpha : float
        Level of the critical counts.
    """
    data = _Data([replace(each, order=tuple(range(len(each.choices)))) for each in scored])
    n = len(data.examples)
    rules = heuristics(data.examples, shared=data.shared, listed=True)
    scores = {name: total(values) for name, values in rules.items()}
    best = max((name for name in scores if name != "most_frequent"), key=scores.__getitem__)
    copies = data.texts["copies"]
    sizes = Counter(len(example.choices) for example in data.examples)
    baselines = best_guesses(data.groups, tuple(prompts), alpha)
    constant = _constant(data, by_place=not data.shared)
    clusters = len(set(data.clusters))
    findings = [
        *_constants(data, constant, baselines),
        *_rules(data, rules, scores, constant, baselines),
        *_copies(data),
        *_marked(data),
        *_too_few(n, baselines),
        *(
            Finding(kind, note.values)
            for note in task.notes
            for kind in _NOTED
            if note.kind == kind
        ),
    ]
    return replace(
        found,
        n=n,
        examples=len(task.examples),
        pool=None if task.pool is None else len(task.pool),
        choices={str(size): sizes[size] for size in sorted(sizes)},
        several_right=sum(len(example.right) > 1 for example in data.examples),
        chance=float(mean_of(data.groups)),
        chances={str(chance): size for chance, size in data.groups},
        majority=constant,
        heuristic=Rule(best, float(scores[best] / n), data.by_luck(rules[best], len(scores) - 1)),
        heuristics={name: float(score / n) for name, score in scores.items()},
        duplicates=n - len(set(copies)),
        contradictory=len(_contradictions(data)),
        clusters=clusters,
        clusters_stated=data.texts["clusters"] is not None,
        effective_n=effective_n(data.clusters),
        baselines=list(baselines),
        findings=findings,
        notes=[note for note in task.notes if note.kind not in (*_NOTED, _CONTRADICTORY)],
    )


@lru_cache(maxsize=4096)
def best_guesses(groups: Groups, prompts: tuple[int, ...], alpha: float) -> tuple[BestGuess, ...]:
    """Return the best of t guessers for several t; tasks with the same chances share it."""
    single = MaxRandomBaseline.of_groups(groups, 1)

    def guess(baseline: MaxRandomBaseline) -> BestGuess:
        critical = baseline.critical_count(alpha)
        accuracy = None if critical is None else critical / baseline.n
        return BestGuess(baseline.t, baseline.expected_accuracy, critical, accuracy, baseline.min_p)

    return tuple(guess(single.with_t(t)) for t in prompts)


def _constant(data: _Data, *, by_place: bool) -> ConstantAnswer:
    """Return the best constant answer; the first of several in the alphabet, or in the file."""
    if by_place:
        labels = [str(place) for place in range(1, 1 + max(len(e.choices) for e in data.examples))]
        gold = [set(example.right) for example in data.examples]
    else:
        labels = sorted({choice for example in data.examples for choice in example.choices})
        number = {label: place for place, label in enumerate(labels)}
        gold = [{number[e.choices[index]] for index in e.right} for e in data.examples]
    # The first seen of equally good ones counts there.
    ordered = sorted(gold, key=min)
    most = majority_answer(ordered)
    return ConstantAnswer(
        answer=None if by_place else labels[most.answer],
        place=most.answer + 1 if by_place else None,
        correct=most.correct,
        rate=most.rate,
        p=data.by_luck([most.answer in right for right in gold], len(labels)),
    )


def _passed(right: int, baselines: Sequence[BestGuess]) -> list[int]:
    """Return the numbers of prompts of which so many right answers pass p_max."""
    return [each.t for each in baselines if (each.critical_count or right + 1) <= right]


def _constants(
    data: _Data, constant: ConstantAnswer, baselines: Sequence[BestGuess]
) -> Iterator[Finding]:
    """Find a constant answer, and where that is a text also a place, that is right too often."""
    kinds: list[tuple[FindingKind, ConstantAnswer]]
    kinds = [("place" if constant.answer is None else "majority", constant)]
    if constant.answer is not None:
        place = _constant(data, by_place=True)
        if place.correct > constant.correct:
            kinds.append(("place", place))
    for kind, found in kinds:
        if found.p <= LUCK:
            parameters = {
                "answer": found.answer,
                "place": found.place,
                "correct": found.correct,
                "n": len(data.examples),
                "passes": _passed(found.correct, baselines),
            }
            yield Finding(kind, parameters)


def _rules(
    data: _Data,
    rules: Mapping[HeuristicName, Sequence[Fraction]],
    scores: Mapping[HeuristicName, Fraction],
    constant: ConstantAnswer,
    baselines: Sequence[BestGuess],
) -> Iterator[Finding]:
    """Find a heuristic of texts, and one of places, that is no constant answer."""
    tried = len(scores) - 1
    for about in ("texts", "places"):
        names = [name for name in scores if HEURISTICS[name].about == about]
        name = max(names, key=scores.__getitem__)
        constantly = about == "places" or data.shared
        if constantly and scores[name] <= constant.correct:
            continue
        if data.by_luck(rules[name], tried, guesses=about == "texts") <= LUCK:
            parameters = {
                "heuristic": name,
                "rate": float(scores[name] / len(data.examples)),
                "passes": _passed(int(scores[name]), baselines),
            }
            yield Finding("heuristic", parameters)


def _contradictions(data: _Data) -> list[tuple[str, str]]:
    """Return the ids of examples that repeat another's question with another right answer."""

    def gold(example: Example) -> set[str]:
        return {example.choices[at] for at in example.right}

    firsts = (data.examples[first] for first in data.texts["copies"])
    pairs = zip(firsts, data.examples, strict=True)
    return [(first.id, each.id) for first, each in pairs if gold(first) != gold(each)]


def _copies(data: _Data) -> Iterator[Finding]:
    n, different = len(data.examples), len(set(data.texts["copies"]))
    if different < n:
        yield Finding("repeated_examples", {"n": n, "different": different})
    if contradictions := _contradictions(data):
        parameters = {"examples": len(contradictions), "alike": list(contradictions[0])}
        yield Finding("contradictory_examples", parameters)


def _marked(data: _Data) -> Iterator[Finding]:
    """Find what red flags find in texts, whatever is answered."""
    n = len(data.examples)
    asked = Answers(
        model="",
        shots=0,
        prompts=("",),
        identities=("",),
        correct=np.zeros((1, n), dtype=np.bool_),
        evaluated=np.ones((1, n), dtype=np.bool_),
        **data.texts,
    )
    judged = JudgedAnswers(read=asked, t=1, chance=mean_of(data.groups))
    for kind in _MARKED:
        for flag in KINDS[kind].check(judged):
            yield Finding(kind, dict(flag.parameters))


def _too_few(n: int, baselines: Sequence[BestGuess]) -> Iterator[Finding]:
    """Find numbers of prompts for which no result, or hardly one, could be more than luck."""
    if never := [each for each in baselines if each.critical_count is None]:
        parameters = {"n": n, "prompts": [each.t for each in never], "p": never[0].smallest_p}
        yield Finding("unpassable", parameters)
    if hardly := [each for each in baselines if (each.critical_accuracy or 0) >= _NEARLY_ALL]:
        first = hardly[0]
        parameters = {"n": n, "prompts": [each.t for each in hardly], "needs": first.critical_count}
        yield Finding("few_examples", parameters)

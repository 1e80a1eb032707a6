"""What work will take: counted where it can be, else scaled from a part of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.mock import MockModel
from pytest_maxrandom.models.questions import Answer, Estimate, Question, Reply
from pytest_maxrandom.suite.models import MockSpec
from pytest_maxrandom.sweeps.estimate import Probe, estimate, left, probe, seconds_of
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Example, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable


FORM = Format(Layout(append_choices=False))
EXAMPLES = [Example(f"e{i}", f"question {i}", ("Yes", "No"), (0,)) for i in range(10)]


def jobs(prompts: int) -> list[Any]:
    """Return so many jobs; each prompt is one word longer than the one before."""
    shown = [Example(f"d{i}", "word " * (i + 1), ("Yes", "No"), (0,)) for i in range(prompts)]
    return jobs_of([(Prompt((one,), FORM), EXAMPLES) for one in shown], "sum_logprob")


@dataclass
class Words(MockModel):
    """A model whose tokens are words; each text goes through it by itself, in a pass."""

    asked: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(MockSpec(name="m"))

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """Count the words of each text."""
        lengths = [
            len((question.context + answer).split())
            for question in questions
            for answer in question.answers
        ]
        return Estimate(len(lengths), sum(lengths), sum(lengths), len(lengths))

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Note how many examples are asked about."""
        questions = list(questions)
        self.asked.append(len({question.example for question in questions}))
        return Reply(tuple(Answer((-1.0, -2.0), (1, 1)) for _ in questions), 0, 0)


def test_few_texts_are_counted_and_of_many_some_prompts_are_scaled() -> None:
    work, model = jobs(40), Words()
    whole, counted = estimate(work, model, 10**6)
    assert counted
    assert (whole.requests, whole.forwards) == (800, 800)
    part, counted = estimate(work, model, 200)
    assert not counted
    assert (part.requests, part.forwards) == (800, 800)
    # The longest prompt has twice the words of the mean; those that are counted lie among all.
    assert whole.tokens is not None
    assert part.tokens == pytest.approx(whole.tokens, rel=0.1)
    assert estimate([], model, 10) == (Estimate(0, 0, 0, 0), True)


def test_a_backend_that_cannot_tell_tokens_tells_requests() -> None:
    found, counted = estimate(jobs(3), MockModel(MockSpec(name="m")), 10**6)
    assert (found.requests, found.tokens, found.apart, found.forwards) == (60, None, None, None)
    assert counted


def test_a_probe_asks_few_prompts_after_one_example_that_is_not_timed() -> None:
    model = Words()
    tried = probe(jobs(40), model)
    assert model.asked == [1, 10, 10, 10]
    assert (tried.prompts, tried.examples) == (3, 30)
    assert tried.estimate == estimate([jobs(40)[at] for at in (0, 13, 26)], model, 10**6)[0]
    assert probe(jobs(1), Words()).prompts == 1


def test_time_goes_by_tokens_where_they_are_known_else_by_examples() -> None:
    tried = Probe(2, 20, Estimate(40, 100, 100, 2), 5.0)
    assert seconds_of(Estimate(400, 2000, 2000, 20), 200, tried) == 100.0
    assert seconds_of(Estimate(400, 2000, 2000, 20, at_most=True), 200, tried) == 50.0
    unknown = Probe(2, 20, Estimate(40), 5.0)
    assert seconds_of(Estimate(400), 200, unknown) == 50.0


def test_without_a_store_all_is_left() -> None:
    work = jobs(3)
    assert left(work, None) == work

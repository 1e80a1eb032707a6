"""A mock model follows its rule: by prompt and example alone, in whatever order it is asked."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.models import MockSpec
from pytest_maxrandom.suite.prompts import CounterfactualSpec
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.prompts.formats import Format, Labels, Prompt
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.sweeps.sweep import run_sweep
from pytest_maxrandom.tasks.task import Example, Layout
from tests.models import located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.base import Model

M = 3
CHOICES = ("Yes", "No", "Yesterday")
EXAMPLES = [
    Example(f"e{number}", f"question {number * 7919 % 100_000}", CHOICES, (number * 31 % M,))
    for number in range(400)
]
STATED = CounterfactualSpec()
SCORINGS = [name for name, scorer in SCORERS.items() if not scorer.generates]


def _model(**said: Any) -> Model:
    spec = MockSpec.model_validate({"name": "m", "backend": "mock", **said})
    return ModelPool().get(located(spec, Path()))


def _prompt(number: int = 0, labels: Labels = "text", *, stated: bool = False) -> Prompt:
    layout = Layout(task_prefix=f"Instruction {number}.")
    return Prompt((), Format(layout, labels, STATED if stated else None))


def _chosen(
    model: Model,
    examples: Sequence[Example] = EXAMPLES,
    prompt: Prompt | None = None,
    scoring: Any = "mean_logprob",
) -> list[int]:
    prompt = prompt or _prompt(stated=scoring == "counterfactual")
    sweep = run_sweep(jobs_of([(prompt, examples)], scoring), LocalExecutor(lambda: model))
    assert sweep.predictions[0].ties == 0
    return [choice for choice in sweep.predictions[0].chosen if choice is not None]


def _right(chosen: Sequence[int], examples: Sequence[Example] = EXAMPLES) -> int:
    return sum(one in each.right for one, each in zip(chosen, examples, strict=True))


@pytest.mark.parametrize("labels", ["text", "parenthesized"])
@pytest.mark.parametrize("scoring", SCORINGS)
def test_who_knows_all_is_always_right_however_it_is_scored(scoring: str, labels: Labels) -> None:
    prompt = _prompt(labels=labels, stated=scoring == "counterfactual")
    assert _right(_chosen(_model(knows=1.0), EXAMPLES, prompt, scoring)) == len(EXAMPLES)


def _within(count: int, share: float, n: int) -> bool:
    """Tell whether a count is within five standard deviations of a binomial one."""
    return abs(count - n * share) <= 5 * math.sqrt(n * share * (1 - share))


@pytest.mark.parametrize("knows", [0.0, 0.5])
def test_what_it_does_not_know_it_guesses(knows: float) -> None:
    chosen = _chosen(_model(knows=knows))
    assert _within(_right(chosen), knows + (1 - knows) / M, len(EXAMPLES))
    assert all(_within(count, 1 / M, len(EXAMPLES)) for count in Counter(chosen).values())


def test_it_may_follow_the_frequencies_of_labels() -> None:
    found = Counter(_chosen(_model(prefers={"Yes": 7, "No": 3})))
    assert found.keys() == {0, 1}
    assert _within(found[0], 0.7, len(EXAMPLES))


@pytest.mark.parametrize("scoring", SCORINGS)
def test_it_may_always_say_one_label(scoring: str) -> None:
    stated = scoring == "counterfactual"
    assert set(_chosen(_model(prefers="No"), scoring=scoring)) == {1}
    prompt = _prompt(labels="parenthesized", stated=stated)
    chosen = _chosen(_model(prefers="B"), EXAMPLES, prompt, scoring)
    answers = zip(chosen, EXAMPLES, strict=True)
    assert {prompt.format.answers(example)[place] for place, example in answers} == {"(B)"}


@pytest.mark.parametrize("labels", ["text", "letter"])
def test_it_may_always_choose_one_place(labels: Labels) -> None:
    shown = [
        dataclasses.replace(example, order=order)
        for example, order in zip(EXAMPLES, 99 * list(permutations(range(M))), strict=False)
    ]
    chosen = _chosen(_model(prefers=[0, 0, 1]), shown, _prompt(labels=labels))
    assert chosen == [example.order[-1] for example in shown if example.order]
    by_itself = _chosen(_model(prefers=[0, 1]), EXAMPLES, _prompt(labels="letter"))
    letters = _prompt(labels="letter").format
    assert {
        letters.answers(each)[place] for place, each in zip(by_itself, EXAMPLES, strict=True)
    } == {"B"}


def test_a_preference_that_is_not_offered_is_none() -> None:
    assert _chosen(_model(prefers="Maybe")) == _chosen(_model())


@pytest.mark.parametrize(("copies", "alike"), [(1.0, 1.0), (0.8, 0.64 + 0.36 / M), (0.0, 1 / M)])
def test_prompts_copy_each_other_as_often_as_is_said(copies: float, alike: float) -> None:
    one, other = (_chosen(_model(copies=copies), prompt=_prompt(number)) for number in range(2))
    same = sum(a == b for a, b in zip(one, other, strict=True))
    assert _within(same, alike, len(EXAMPLES))


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    model = _model(knows=0.3, copies=0.4, prefers={"Yes": 2, "No": 1})
    assert _chosen(model, EXAMPLES[::-1])[::-1] == _chosen(model)
    assert [_chosen(model, [example])[0] for example in EXAMPLES[:20]] == _chosen(model)[:20]


def test_what_is_known_is_known_in_whatever_order_choices_stand() -> None:
    model = _model(knows=1.0)
    for order in permutations(range(M)):
        shown = [dataclasses.replace(example, order=order) for example in EXAMPLES[:20]]
        assert _right(_chosen(model, shown), shown) == 20


def test_a_question_that_is_blank_is_not_known() -> None:
    blank = [dataclasses.replace(example, input="") for example in EXAMPLES]
    assert _right(_chosen(_model(knows=1.0), blank), blank) < len(blank) / 2


@pytest.mark.parametrize("said", [{"name": "other"}, {"seed": 1}, {"knows": 0.1}, {"copies": 0.1}])
def test_another_rule_is_another_model(said: dict[str, Any]) -> None:
    rule: dict[str, Any] = {"name": "m", "backend": "mock"}
    one, other = MockSpec(**rule), MockSpec(**rule | said)
    assert Backends().identify(located(one, Path())) != Backends().identify(located(other, Path()))
    assert _chosen(_model()) != _chosen(_model(**said))


def test_another_process_gives_the_same_answers_without_torch() -> None:
    code = (
        "import sys\n"
        "from tests.unit.models.test_mock import _chosen, _model\n"
        "print(_chosen(_model(knows=.5)))\n"
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(_chosen(_model(knows=0.5))), "set()"]

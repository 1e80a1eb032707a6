"""What is seen of a sweep, and the red flags of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from pytest_maxrandom.claims.arms import Arm
from pytest_maxrandom.claims.assessment import beside_verdict
from pytest_maxrandom.claims.plan import draw_condition, plan
from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.claims.verdict import Claim, judge
from pytest_maxrandom.claims.views import answers_of, view_of
from pytest_maxrandom.flags import JudgedAnswers, find
from pytest_maxrandom.flags.counting import majority
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.record import SweepCost
from pytest_maxrandom.suite.loader import Suite, load_any_suite
from pytest_maxrandom.suite.models import TransformersSpec
from pytest_maxrandom.suite.spec import SuiteSpec
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.predictions import labelled, predict, read_as
from pytest_maxrandom.sweeps.prompts.formats import Prompt
from pytest_maxrandom.sweeps.sweep import Sweep, run_sweep
from pytest_maxrandom.tasks.task import Example, Layout, Task
from tests.needs import needs

DEMO = Path(__file__).parents[3] / "eval_suites" / "demo"
SCORES: dict[str, Callable[..., float]] = {
    "balanced_accuracy": balanced_accuracy_score,
    "macro_f1": partial(f1_score, average="macro"),
}
Scorer = Callable[[Prompt, Example, np.random.Generator], list[float]]


def different(n: int, m: int = 4) -> list[Example]:
    """Return examples with choices of their own."""
    rng = np.random.default_rng(0)
    return [
        Example(f"e{i}", f"question {i}", tuple(f"{i} {j}" for j in range(m)), (int(right),))
        for i, right in enumerate(rng.integers(m, size=n))
    ]


def shared(n: int, names: tuple[str, ...] = ("Yes", "No")) -> list[Example]:
    orders = itertools.cycle(itertools.permutations(names))
    rng = np.random.default_rng(1)
    return [
        Example(f"e{i}", f"question {i}", order, (int(right),))
        for i, (order, right) in enumerate(
            zip(orders, rng.integers(len(names), size=n), strict=False)
        )
    ]


def guess(prompt: Prompt, example: Example, rng: np.random.Generator) -> list[float]:
    scores: list[float] = np.log(rng.dirichlet(np.ones(len(example.choices)))).tolist()
    return scores


def know(prompt: Prompt, example: Example, rng: np.random.Generator) -> list[float]:
    return [
        -rng.random() - (0 if index in example.right else 2)
        for index in range(len(example.choices))
    ]


def swept(
    examples: list[Example],
    scorer: Scorer,
    *,
    shots: int = 1,
    layout: Layout | None = None,
    claim: Claim | None = None,
    permutation_p: float | None = None,
    name: str = "m",
    scoring: Any = "sum_logprob",
    metric: str = "accuracy",
    by_place: bool = False,
    **prompts: Any,
) -> JudgedAnswers:
    """Return what is seen of a sweep over all of the examples."""
    task = Task("t", tuple(examples), layout or Layout(append_choices=False))
    spec = SuiteSpec.model_validate(
        {
            "models": [{"name": name}],
            "tasks": [{"name": "t", "format": "csv", "path": "x"}],
            "prompts": {"shots": shots, **prompts},
            "scoring": scoring,
            "metric": metric,
        }
    )
    condition = draw_condition(task, task.examples, spec, shots)
    rng = np.random.default_rng(2)
    done = []
    for prompt in condition.prompt_set.prompts:
        scored = condition.prompt_set.scored(prompt)
        scores = [
            [Answer((value,), (1,)) for value in scorer(prompt, each, rng)] for each in scored
        ]
        done.append(predict(prompt, scored, scores, scoring))
    planned = PlannedClaim(
        name="t[m]", line=1, base=Path(), backends=Backends(), task=task.name, shots=shots,
        model=TransformersSpec(name=name), condition=condition,
        claim=claim or Claim(p_max=0.05), xfail=None, marks=(), counted="claim", suite=spec,
        arm=Arm("m", None, spec.models[0], spec.prompts),
    )  # fmt: skip
    sweep = Sweep(tuple(done), SweepCost("cpu", "float32", 0, 0, 0.0))
    return of_sweep(planned, sweep, permutation_p, by_place=by_place)


def of_sweep(
    planned: PlannedClaim,
    sweep: Sweep,
    permutation_p: float | None = None,
    *,
    by_place: bool = False,
) -> JudgedAnswers:
    labels = label(planned.condition.prompt_set.validation)
    counts = [prompt.correct for prompt in sweep.predictions]
    best = counts.index(max(counts))
    answers, metric = labelled(sweep.predictions, labels), planned.suite.metric
    score = None
    if metric != "accuracy":
        score = SCORES[metric](labels.classes(), answers[best])
    verdict = judge(
        planned.claim, planned.null, counts[best], best, score=score, permutation_p=permutation_p
    )
    read = label(labels.examples, by_place=by_place)
    known = read_as(answers_of(planned, sweep.predictions), sweep.predictions, read)
    view = view_of(planned, sweep, read, known)
    return beside_verdict(view, verdict, planned.claim, planned.null)


def kinds(seen: JudgedAnswers) -> list[str]:
    return [flag.kind for flag in find(seen)]


MIXED = [*different(30, 2), *(Example(f"m{i}", f"more {i}", (f"a{i}", f"b{i}", f"c{i}"), (0,))
         for i in range(30))]  # fmt: skip
LISTED = Layout(append_choices=True)


@pytest.mark.parametrize("scorer", [guess, know])
@pytest.mark.parametrize("examples", [different(60), shared(60), MIXED], ids=["4", "shared", "2-3"])
@pytest.mark.parametrize(("shots", "count"), [(1, 20), (4, 40), (0, 1)])
def test_clean_sweeps_raise_no_flag(
    examples: list[Example], scorer: Scorer, shots: int, count: int
) -> None:
    for layout in (None, LISTED):
        seen = swept(examples, scorer, shots=shots, count=count, layout=layout)
        assert find(seen) == []


def test_what_is_seen_is_what_was_predicted() -> None:
    examples = shared(40, ("Yes", "No", "Maybe"))
    seen = swept(examples, know, count=10)
    assert seen.answers.labels == ("Maybe", "No", "Yes")
    assert seen.answers.gold == tuple(
        frozenset([seen.answers.labels.index(each.choices[each.right[0]])]) for each in examples
    )
    # Its own demonstration is left out.
    assert seen.answers.evaluated.sum(axis=1).tolist() == [39] * 10
    assert seen.answers.correct[seen.answers.evaluated].all()
    assert not seen.answers.correct[~seen.answers.evaluated].any()
    assert seen.answers.log_likelihoods is not None
    chosen = np.nan_to_num(seen.answers.log_likelihoods, nan=-np.inf).argmax(axis=2)
    assert (chosen == [each.right[0] for each in examples])[seen.answers.evaluated].all()
    assert seen.chance == Fraction(1, 3)
    assert seen.result is not None
    assert (seen.result.best_correct, seen.result.n, seen.result.passed) == (39, 39, True)


def test_shared_texts_keep_their_names_where_examples_have_fewer_of_them() -> None:
    examples = [
        Example(f"{i}", f"question {i}", names, (names.index("Yes"),))
        for i, names in enumerate([("Yes", "No"), ("Maybe", "No", "Yes")] * 20)
    ]
    seen = swept(examples, know, count=5)
    assert seen.answers.labels == ("Maybe", "No", "Yes")
    assert set(seen.answers.gold or ()) == {frozenset([2])}
    constant = majority(seen)
    assert constant is not None
    assert (constant.answer, constant.rate) == (2, 1.0)


def test_choices_with_the_same_text_are_no_ties() -> None:
    examples = [
        Example(f"{i}", f"question {i}", (f"a{i}", f"b{i}", f"b{i}", f"c{i}"), (0,))
        for i in range(40)
    ]

    def alike(prompt: Prompt, example: Example, rng: np.random.Generator) -> list[float]:
        one, other, third = guess(prompt, Example("", "", ("", "", ""), (0,)), rng)
        return [one, other, other, third]

    assert kinds(swept(examples, alike, count=20)) == []


def rarely(n: int, rare: int) -> list[Example]:
    """Return examples of which a few have the right answer No."""
    return [
        Example(f"e{i}", f"question {i}", ("Yes", "No"), (int(i % (n // rare) == 0),))
        for i in range(n)
    ]


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "macro_f1"])
def test_constant_answers_are_compared_in_the_score_that_is_claimed(metric: str) -> None:
    """It finds all that are rare, and takes as many others for them: .900, as always Yes is."""

    def careful(prompt: Prompt, example: Example, rng: np.random.Generator) -> list[float]:
        number = int(example.id[1:])
        say_no = example.right == (1,) or number % 10 == 3
        return (
            [-2.0 - rng.random(), -rng.random()] if say_no else [-rng.random(), -2.0 - rng.random()]
        )

    seen = swept(rarely(60, 6), careful, shots=0, metric=metric)
    assert seen.result is not None
    assert seen.result.passed
    assert seen.result.best_correct == 54
    assert ("majority" in kinds(seen)) == (metric == "accuracy")
    if metric == "accuracy":
        return
    best, (no, yes) = seen.result.best_score, ([0] * 60, [1] * 60)
    gold = [next(iter(right)) for right in seen.answers.gold or ()]
    assert seen.constants == pytest.approx([SCORES[metric](gold, each) for each in (no, yes)])
    assert best is not None
    assert best > max(seen.constants)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "macro_f1"])
def test_a_constant_place_is_scored_as_the_texts_that_stand_there(metric: str) -> None:
    in_order = (0, 1, 2)
    examples = [replace(each, order=in_order) for each in shared(60, ("Yes", "No", "Maybe"))]
    seen = swept(examples, know, shots=0, metric=metric, by_place=True)
    gold = [each.choices[each.right[0]] for each in examples]
    constants = [[each.choices[place] for each in examples] for place in in_order]
    expected = [SCORES[metric](gold, row) for row in constants]
    assert len(set(expected)) == 3
    assert seen.constants == pytest.approx(expected)


def test_hardly_any_probability_on_the_labels_is_told() -> None:
    def elsewhere(prompt: Prompt, example: Example, rng: np.random.Generator) -> list[float]:
        return [score - 6 for score in guess(prompt, example, rng)]

    assert kinds(swept(shared(40), elsewhere, count=10)) == ["label_mass"]
    assert kinds(swept(different(40), elsewhere, count=10)) == []
    letters: dict[str, Any] = {"formats": [{"labels": "letter"}]}
    assert kinds(swept(different(40), elsewhere, count=10, **letters)) == ["label_mass"]
    # Of the paper's span the text is not the label alone, of a continuation it is no label.
    for scoring in ("paper", "counterfactual"):
        assert kinds(swept(shared(40), elsewhere, count=10, scoring=scoring)) == []


def test_long_shared_texts_are_no_labels() -> None:
    def elsewhere(prompt: Prompt, example: Example, rng: np.random.Generator) -> list[float]:
        return [score - 20 for score in guess(prompt, example, rng)]

    long = ("It follows from what was said before.", "It does not follow from what was said.")
    assert kinds(swept(shared(40, long), elsewhere, count=10)) == []


def test_fewer_prompts_than_asked_for_are_told() -> None:
    seen = swept(different(12), guess, count=20)
    assert kinds(seen) == ["repeated_prompts"]
    assert find(seen)[0].parameters == {"distinct": 12, "asked": 20, "t": 12}
    variants: dict[str, Any] = {
        "instructions": [f"Answer {i}. " for i in range(3)],
        "combine": "cross",
    }
    assert kinds(swept(different(40), guess, count=20, **variants)) == []  # 18: a multiple of 3
    assert kinds(swept(different(5, 8), guess, count=20, **variants)) == ["repeated_prompts"]
    assert kinds(swept(different(40), guess, shots=0, count=20)) == []
    assert kinds(swept(different(40), guess, shots=0, count=20, **variants)) == ["repeated_prompts"]
    assert kinds(swept(different(40), guess, shots=0, **variants)) == []  # all that are listed


@needs("hf")
@pytest.mark.parametrize("name", ["kind_of[demo-llama-nf4-0shot]"])
def test_a_claim_of_the_demo_suite_is_clean(name: str) -> None:
    suite = load_any_suite(DEMO / "zero_shot.yaml")
    assert isinstance(suite, Suite)
    (planned,) = (each for each in plan(suite) if each.name == name)
    found = planned.condition.prompt_set
    sweep = run_sweep(
        jobs_of(
            [(prompt, found.scored(prompt)) for prompt in found.prompts], planned.suite.scoring
        ),
        LocalExecutor(lambda: ModelPool().get(planned.located)),
        lambda *_: None,
    )
    assert find(of_sweep(planned, sweep)) == []


def test_right_answers_that_follow_a_passage_are_seen_whatever_its_choices_are_called() -> None:
    """Each passage has names of its own, and the right one is the same in all of its questions."""
    words = [f"word{place}" for place in range(12)]
    told = []
    for place in range(100):
        passage = " ".join(np.random.default_rng(place // 4).choice(words, size=60))
        names = (f"Ann {place // 4}", f"Bob {place // 4}")
        right = place // 4 % 2
        # In which order a question lists them tells nothing.
        order = names if place % 3 else names[::-1]
        told.append(
            Example(f"e{place}", f"{passage} Who is {place}?", order, (order.index(names[right]),))
        )
    seen = swept(told, guess, shots=0)
    assert "clustered_answers" in kinds(seen)
    stated = [replace(each, cluster=each.choices[0][-2:]) for each in told]
    seen = swept(stated, guess, shots=0)
    assert seen.answers.clusters == tuple(each.cluster for each in stated)
    assert kinds(seen) == []

"""What is drawn to train arms on: disjoint from what is scored, shown, labelled and closed."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.drawn import NoTexts, set_apart, shares
from pytest_maxrandom.claims.plan import draw_condition, read_suite
from pytest_maxrandom.claims.training import training_of, unfair
from pytest_maxrandom.studies.replicates import replicate_suite
from pytest_maxrandom.sweeps.prompts.sampling import validation_set
from pytest_maxrandom.tasks.load import load_task, set_aside
from pytest_maxrandom.tasks.texts import normal

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.models.training import Training
    from pytest_maxrandom.suite.spec import SuiteSpec

ARMS = "arms: {base: {}, extra: {train: {text: extra}}, test: {train: {text: scored}}}\n"


class Drawn:
    """A suite on one task of 240 examples, of which each tenth may be a copy in capitals."""

    def __init__(self, folder: Path, rest: str, seed: int = 0, *, copies: bool = False) -> None:
        rng = random.Random(seed)
        rows: list[dict[str, Any]] = []
        for number in range(240):
            text = f"text number {number} of {rng.choice(['red', 'blue'])}"
            if copies and number % 10 == 9:
                text = rows[-5]["input"].upper() + "  "
            answer = rng.choices(["a", "b", "c"], [6, 3, 1])[0]
            rows.append({"id": str(number), "input": text, "choices": ["a", "b", "c"],
                         "answer": answer})  # fmt: skip
        (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
        path = folder / "s.yaml"
        path.write_text(
            "models: [{name: m, quantization: none}]\n"
            "tasks: [{name: t, format: jsonl, path: t.jsonl, validation: {max_examples: 60}, "
            f"test: {{fraction: 0.1}}}}]\n{rest}"
        )
        self.folder = folder
        self.spec: SuiteSpec = read_suite(path).spec  # type: ignore[assignment]

    def condition(self, replicate: int = 0) -> Condition:
        spec = replicate_suite(self.spec, replicate) if replicate else self.spec
        if spec.classify is not None:
            spec = spec.model_copy(update={"scoring": "classify"})
        own = spec.tasks[0]
        task = load_task(own, self.folder)
        task, test = set_aside(task, own, self.folder, lambda *_: (self.folder, None))
        chosen = validation_set(task, own.validation)
        shots = 0 if spec.classify else spec.prompts.shots[0]
        if spec.classify:
            prompts = spec.prompts.model_copy(update={"shots": [0], "count": 1})
            spec = spec.model_copy(update={"prompts": prompts})
        return draw_condition(task, chosen, spec, shots, test)

    def training(self, arm: str, replicate: int = 0) -> Training:
        spec = replicate_suite(self.spec, replicate) if replicate else self.spec
        found = training_of(spec, arm, self.condition(replicate), self.folder, replicate)
        assert found is not None
        return found


def texts_of(examples: object) -> set[str]:
    return {normal(each.text) for each in examples}  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "rest", ["classify: {examples: 30}\n", "prompts: {shots: [3], count: 9}\n"]
)
def test_the_sides_have_no_text_in_common(tmp_path: Path, rest: str, seed: int) -> None:
    arms = ARMS.replace("scored", "extra")
    condition = Drawn(tmp_path, arms + rest, seed=seed, copies=True).condition()
    assert condition.apart is not None
    assert condition.apart.copies > 0
    labelled = [each for examples in condition.apart.labelled.values() for each in examples]
    shown = [each for one in condition.prompt_set.prompts for each in one.demonstrations]
    extra, scored = condition.apart.extra, condition.prompt_set.validation
    sides = [extra, labelled, scored, condition.test]
    for place, one in enumerate(sides):
        for other in sides[place + 1 :]:
            # `set_aside` and the subsample know exact copies only; what is drawn knows all.
            if {id(one), id(other)} != {id(scored), id(condition.test)}:
                assert not texts_of(one) & texts_of(other)
    assert not texts_of(shown) & (texts_of(extra) | texts_of(labelled))
    assert len(texts_of(extra)) == len(extra) == len(scored) == 60
    assert len(labelled) == (30 if "classify" in rest else 0)


def test_scored_texts_are_those_of_the_scored_examples(tmp_path: Path) -> None:
    drawn = Drawn(tmp_path, ARMS)
    scored = drawn.condition().prompt_set.validation
    assert sorted(drawn.training("test").texts) == sorted(each.text for each in scored)


def test_scored_texts_that_the_closed_test_set_repeats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NoTexts, match="scored stand in the test set as well, which is never"):
        Drawn(tmp_path, ARMS, copies=True).condition()


def test_all_arms_share_their_draws_and_replicates_have_their_own(tmp_path: Path) -> None:
    drawn = Drawn(tmp_path, ARMS.replace("scored", "extra") + "classify: {}\nreplicates: 4\n")
    again = Drawn(tmp_path, ARMS.replace("scored", "extra") + "classify: {}\nreplicates: 4\n")
    for replicate in range(4):
        arms = [drawn.training(arm, replicate) for arm in ("base", "extra", "test")]
        assert len({each.labelled for each in arms}) == len({each.seed for each in arms}) == 1
        assert arms[1].texts == arms[2].texts
        assert again.training("extra", replicate).digest == arms[1].digest
    found = [drawn.training("extra", replicate) for replicate in range(4)]
    assert len({each.texts for each in found}) == 4
    assert len({each.labelled for each in found}) == 4
    assert len({each.seed for each in found}) == 4


def test_a_prompt_is_read_as_the_sweep_asks_it_without_an_answer(tmp_path: Path) -> None:
    rest = "prompts: {shots: [2], count: 3, instructions: ['Is it a, b or c?']}\n"
    drawn = Drawn(tmp_path, ARMS.replace("text: extra", "text: extra, form: prompt") + rest)
    condition = drawn.condition()
    assert condition.apart is not None
    for text, example in zip(drawn.training("extra").texts, condition.apart.extra, strict=True):
        whole = condition.prompt_set.prompts[0].context(example)
        question = condition.prompt_set.prompts[0].format.question(example)
        assert text == "Is it a, b or c?" + question
        assert whole.endswith(question)
        assert text.endswith("\nA: ")


def test_labelled_examples_have_the_classes_in_their_shares(tmp_path: Path) -> None:
    drawn = Drawn(tmp_path, "classify: {examples: 50}\narms: {base: {}}\n")
    condition = drawn.condition()
    found = drawn.training("base")
    counted = Counter(found.labels[each.label] for each in found.labelled)
    scored = {each.id for each in condition.prompt_set.validation}
    left = [each for each in condition.task.examples if each.id not in scored]
    rates = Counter(each.choices[each.right[0]] for each in left)
    assert sum(counted.values()) == 50
    for name, size in rates.items():
        assert abs(counted[name] - 50 * size / len(left)) < 2
    answers = {each.text: each.choices[each.right[0]] for each in condition.task.examples}
    assert all(found.labels[each.label] == answers[each.text] for each in found.labelled)


@pytest.mark.parametrize("seed", range(30))
def test_shares_are_proportional_and_leave_no_class_out(seed: int) -> None:
    rng = random.Random(seed)
    sizes = {f"class {k}": rng.choice([1, 2, 5, 40, 300]) for k in range(rng.randint(2, 12))}
    total = sum(sizes.values())
    examples = rng.randint(len(sizes), total)
    found = shares(sizes, examples)
    assert sum(found.values()) == examples
    assert all(1 <= found[name] <= size for name, size in sizes.items())
    # One more for any class would make its share larger than the one of any that was preferred.
    for name in sizes:
        for other in sizes:
            if found[other] > 1:
                assert (found[other] - 1) / sizes[other] <= found[name] / sizes[name]


@pytest.mark.parametrize(
    ("rest", "told", "place"),
    [
        (
            ARMS.replace("text: extra", "text: extra, examples: 200"),
            "t: 200 extra texts are asked for, and",
            ("arms", "extra", "train"),
        ),
        (
            ARMS.replace("text: scored", "text: scored, examples: 61"),
            "t: found 61, expected at most 60, which are scored",
            ("arms", "test", "train", "examples"),
        ),
        ("classify: {examples: 2}\n", "t: found 2 labelled examples, expected at", ("classify",)),
        ("classify: {examples: 900}\n", "t: 900 labelled examples are asked for", ("classify",)),
    ],
)
def test_a_task_that_gives_too_little_is_told(
    tmp_path: Path, rest: str, told: str, place: tuple[str, ...]
) -> None:
    with pytest.raises(NoTexts) as caught:
        Drawn(tmp_path, rest).condition()
    assert str(caught.value).startswith(told)
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"choices": ["a", "d"], "answer": "a"}, "do not share their choices"),
        ({"choices": ["a", "b", "c"], "answer": ["a", "b"]}, "several right choices"),
    ],
)
def test_a_head_needs_one_class_for_each_example(
    tmp_path: Path, row: dict[str, object], told: str
) -> None:
    drawn = Drawn(tmp_path, "classify: {}\n")
    with (tmp_path / "t.jsonl").open("a") as file:
        file.write("\n" + json.dumps({"id": "x", "input": "one more", **row}))
    with pytest.raises(NoTexts, match=told):
        drawn.condition()


def test_a_suite_without_trained_arms_sets_nothing_apart(tmp_path: Path) -> None:
    condition = Drawn(tmp_path, "prompts: {shots: [1], count: 2}\n").condition()
    assert condition.apart is None
    spec = Drawn(tmp_path, "prompts: {shots: [1], count: 2}\n").spec
    task = condition.task
    assert set_apart(task, task.examples[:60], spec, ()) is None


def test_a_file_with_texts_of_the_closed_test_set_is_refused(tmp_path: Path) -> None:
    drawn = Drawn(tmp_path, "arms: {base: {}, x: {train: {text: other.txt}}}\n")
    condition = drawn.condition()
    (tmp_path / "other.txt").write_text(f"a\n{condition.test[0].text.upper()} Answer: a\n")
    with pytest.raises(NoTexts, match="holds the texts of 1 examples of t's test set"):
        drawn.training("x")
    (tmp_path / "other.txt").write_text("a\nb\nc\n")
    assert drawn.training("x").texts == ("a", "b", "c")


def test_arms_with_other_numbers_of_texts_or_scored_ones_are_unfair(tmp_path: Path) -> None:
    arms = "arms: {base: {}, x: {train: {text: x.txt}}, test: {train: {text: scored}}}\n"
    drawn = Drawn(tmp_path, arms)
    condition = drawn.condition()
    scored = [each.text for each in condition.prompt_set.validation]
    (tmp_path / "x.txt").write_text("a\nb\n")
    told = unfair(drawn.training("x"), drawn.training("test"), condition)
    assert told == (
        "extra is trained on 2 texts of t, and test on 60; give both as many by `examples`"
    )
    (tmp_path / "x.txt").write_text("\n".join(f"other {k}" for k in range(60)))
    assert unfair(drawn.training("x"), drawn.training("test"), condition) is None
    (tmp_path / "x.txt").write_text("\n".join([f"{scored[0]} yes", *["other"] * 59]))
    told = unfair(drawn.training("x"), drawn.training("test"), condition)
    assert (
        told == "x.txt of extra holds 1 of the texts of t that are scored; extra needs other texts"
    )

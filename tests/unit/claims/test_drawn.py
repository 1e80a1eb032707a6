"""What is drawn to train arms on: disjoint from what is scored, shown, labelled and closed."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.drawn import NoTexts, set_apart, shares, trains, without_copies
from pytest_maxrandom.claims.plan import draw_condition, read_suite
from pytest_maxrandom.claims.training import shared, training_of, unfair
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.studies.plan import plan_file
from pytest_maxrandom.studies.replicates import replicate_suite
from pytest_maxrandom.sweeps.prompts.sampling import validation_set
from pytest_maxrandom.tasks.load import load_task, set_aside
from pytest_maxrandom.tasks.texts import normal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.claims.condition import Condition
    from pytest_maxrandom.models.training import Training
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.tasks.task import Example

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
        task = without_copies(task, test) if trains(spec) else task
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


def texts_of(examples: Iterable[Example]) -> set[str]:
    return {normal(each.text) for each in examples}


def test_scored_texts_are_those_of_the_scored_examples(tmp_path: Path) -> None:
    drawn = Drawn(tmp_path, ARMS)
    scored = drawn.condition().prompt_set.validation
    assert sorted(drawn.training("test").texts) == sorted(each.text for each in scored)


@pytest.mark.parametrize("rest", [ARMS, "classify: {}\n"])
def test_what_the_closed_test_set_has_in_another_spelling_is_not_scored(
    tmp_path: Path, rest: str
) -> None:
    copied = Drawn(tmp_path, rest, copies=True).condition()
    (note,) = [each for each in copied.task.notes if each.kind == "left_out_for_training"]
    assert note.values["examples"] > 0
    assert not texts_of(copied.task.examples) & texts_of(copied.test)
    plain = Drawn(tmp_path, "prompts: {shots: [0]}\n", copies=True).condition()
    assert {each.id for each in plain.test} == {each.id for each in copied.test}
    lost = texts_of(plain.task.examples) & texts_of(plain.test)  # as ever, where nothing is trained
    gone = {each.id for each in plain.task.examples} - {each.id for each in copied.task.examples}
    assert len(gone) == note.values["examples"]
    assert {normal(each.text) for each in plain.task.examples if each.id in gone} == lost


def test_a_test_set_that_has_all_texts_is_told(tmp_path: Path) -> None:
    rows = [
        {"id": str(k), "input": "Which is true?", "choices": [f"a{k}", f"b{k}"], "answer": f"a{k}"}
        for k in range(90)
    ]
    drawn = Drawn(tmp_path, ARMS)
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(SuiteError) as told:
        plan_file(drawn.folder / "s.yaml")
    assert "s.yaml:2: tasks[0].test: all other examples of t have the text of" in str(told.value)


def test_the_pool_of_a_head_shares_no_cluster_with_what_is_scored(tmp_path: Path) -> None:
    drawn = Drawn(tmp_path, "classify: {examples: 6}\n")
    task = load_task(drawn.spec.tasks[0], tmp_path)
    examples = tuple(
        replace(each, cluster=f"passage {k // 4}") for k, each in enumerate(task.examples)
    )
    pool = tuple(
        replace(each, id=f"pool {k}", cluster=f"passage {k % 30}", input=f"another text {k}")
        for k, each in enumerate(examples)
    )
    scored = examples[:80]
    apart = set_apart(replace(task, examples=examples, pool=pool), scored, drawn.spec, ())
    assert apart is not None
    (labelled,) = apart.labelled.values()
    assert {each.cluster for each in labelled} <= {f"passage {k}" for k in range(20, 30)}


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
        (
            ARMS.replace("text: scored", "text: scored, examples: 61").replace(
                "text: extra", "text: extra, examples: 200"
            ),
            "t: 200 extra texts are asked for, and",
            ("arms", "extra", "train"),
        ),
        ("classify: {examples: 2}\n", "t: found 2 labelled examples, expected at", ("classify",)),
        ("classify: {examples: 900}\n", "t: 900 labelled examples are asked for", ("classify",)),
        (
            "classify: {examples: 3, stratified: false}\n",
            "t: none of the 3 labelled examples that were drawn has the right answer 'c', and",
            ("classify",),
        ),
    ],
)
def test_a_task_that_gives_too_little_is_told(
    tmp_path: Path, rest: str, told: str, place: tuple[str, ...]
) -> None:
    with pytest.raises(NoTexts) as caught:
        Drawn(tmp_path, rest).condition()
    (found,) = [each for each in caught.value.told if each.startswith(told)]
    assert caught.value.told[found] == place
    assert len(caught.value.told) == 1 + ("examples: 61" in rest and "examples: 200" in rest)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            {"choices": ["a", "d"], "answer": "a"},
            "found 'a', 'b', 'c' in '0', and 'a', 'd' in 'x'",
        ),
        ({"choices": ["c", "b", "a", "d"], "answer": "a"}, "do not share their choices"),
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
    (told,) = unfair(drawn.training("x"), drawn.training("test"), condition)
    assert told == (
        "extra is trained on 2 texts of t, and test on 60; give both as many by `examples`"
    )
    (tmp_path / "x.txt").write_text("\n".join(f"other {k}" for k in range(60)))
    assert not list(unfair(drawn.training("x"), drawn.training("test"), condition))
    (tmp_path / "x.txt").write_text("\n".join([f"{scored[0]} yes", *["other"] * 59]))
    (told,) = unfair(drawn.training("x"), drawn.training("test"), condition)
    assert (
        told == "x.txt of extra holds 1 of the texts of t that are scored; extra needs other texts"
    )


def test_a_file_for_test_needs_scored_texts_and_none_of_extra(tmp_path: Path) -> None:
    arms = "arms: {base: {}, extra: {train: {text: extra}}, test: {train: {text: x.txt}}}\n"
    drawn = Drawn(tmp_path, arms)
    condition = drawn.condition()
    assert condition.apart is not None
    scored = [f"{each.text} yes" for each in condition.prompt_set.validation]
    extra = [each.text.upper() for each in condition.apart.extra]

    def told(texts: list[str]) -> list[str]:
        (tmp_path / "x.txt").write_text("\n".join(texts))
        return list(unfair(drawn.training("extra"), drawn.training("test"), condition))

    assert told(scored) == []
    assert shared(drawn.training("test"), condition) == {"scored": 60, "test": 0}
    (mixed,) = told([*scored[5:], *extra[:5]])
    assert mixed == (
        "x.txt of test holds 5 of the texts that extra is trained on for t; the two need different "
        "texts"
    )
    (other,) = told([f"another {k}" for k in range(60)])
    assert other.startswith("x.txt of test holds none of the 60 texts of t that are scored, so")


def test_what_replicates_alone_cannot_train_on_is_told_when_the_suite_is_read(
    tmp_path: Path,
) -> None:
    rest = "classify: {examples: 20}\nreplicates: 12\narms: {base: {}, x: {train: {text: x.txt}}}\n"
    drawn = Drawn(tmp_path, f"{rest}assert: {{p_max: 0.9}}\n")
    (tmp_path / "x.txt").write_text("another\n")
    labelled = [{each.text for each in drawn.training("x", k).labelled} for k in range(12)]
    only = sorted(set().union(*labelled[1:]) - labelled[0])[0]
    (tmp_path / "x.txt").write_text(f"{only}\nanother\n")
    with pytest.raises(SuiteError) as told:
        plan_file(drawn.folder / "s.yaml")
    assert "s.yaml:5: in some replicates, arms.x.train.text: x.txt holds the texts of 1" in str(
        told.value
    )

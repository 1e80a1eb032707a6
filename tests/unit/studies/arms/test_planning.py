"""From a suite to its arms and what it compares, before any model is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.studies.arms.compared import (
    PlannedComparison,
    PlannedContamination,
)
from pytest_maxrandom.studies.plan import plan_file
from tests.notes import noted
from tests.unit.recorded.suites import write_csv

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
models: [{name: ./m, quantization: none}]
tasks:
- {name: a, format: csv, path: a.csv, choices: ["yes", "no"], validation: {max_examples: 30}}
- {name: b, format: csv, path: b.csv, choices: ["yes", "no"], validation: {max_examples: 30}}
"""
PROMPTS = "prompts: {shots: 1, count: 4}\n"
ARMS = """\
arms:
  none: {}
  nf4: {quantization: nf4}
  tuned: {model: ./k, revision: v1}
  terse: {instruction: "Answer.\\n"}
  letters: {format: {labels: letter}}
"""


class Folder:
    """A folder with two models, two tasks, and suites."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for model in "mk":
            (path / model).mkdir()
            (path / model / "config.json").write_text("{}")
        for name in "ab":
            rows = [{"input": f"{name} {k}", "answer": ["yes", "no"][k % 2]} for k in range(60)]
            write_csv(path / f"{name}.csv", rows)

    def planned(self, text: str) -> list[object]:
        (self.path / "s.yaml").write_text(text)
        return list(plan_file(self.path / "s.yaml"))

    def claims(self, text: str) -> dict[str, PlannedClaim]:
        found = self.planned(text)
        return {each.name: each for each in found if isinstance(each, PlannedClaim)}

    def compared(self, text: str) -> dict[str, PlannedComparison]:
        found = self.planned(text)
        return {
            f"{each.task}::{each.name}": each
            for each in found
            if isinstance(each, PlannedComparison)
        }

    def mistakes(self, text: str) -> list[str]:
        with pytest.raises(SuiteError) as caught:
            self.planned(text)
        shown = [str(problem) for problem in caught.value.problems]
        return [each.removeprefix(f"{self.path / 's.yaml'}:") for each in shown]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_claims_are_made_of_each_arm(folder: Folder) -> None:
    claims = folder.claims(HEAD + PROMPTS + ARMS)
    arms = ("none", "nf4", "tuned", "terse", "letters")
    assert list(claims) == [f"{task}[{arm}-1shot]" for arm in arms for task in "ab"]
    told = {name: claims[f"a[{name}-1shot]"] for name in arms}
    run = {name: (each.model.name, getattr(each.model, "revision", 0), each.model.variant)
           for name, each in told.items()}  # fmt: skip
    assert run == {
        "none": ("./m", None, "none"),
        "nf4": ("./m", None, "nf4"),
        "tuned": ("./k", "v1", "none"),
        "terse": ("./m", None, "none"),
        "letters": ("./m", None, "none"),
    }
    texts = {name: each.condition.prompt_set.prompts[0].text for name, each in told.items()}
    assert texts["nf4"] == texts["tuned"] == texts["none"]
    assert texts["terse"] == f"Answer.\n{texts['none']}"
    assert "A. " in texts["letters"]
    notes = noted(told["terse"].record("id", "s"))
    assert "The arm 'terse' changes instruction: 'Answer.\\n', not the task's own." in notes


def test_arms_share_examples_demonstrations_and_seeds(folder: Folder) -> None:
    claims = folder.claims(HEAD + PROMPTS + ARMS)
    first, *others = [each.condition.prompt_set for name, each in claims.items() if name[0] == "a"]
    for other in others:
        assert other.validation == first.validation
        assert [each.demonstrations for each in other.prompts] == [
            each.demonstrations for each in first.prompts
        ]


def test_an_arm_without_changes_is_the_suite_as_it_stands(folder: Folder) -> None:
    plain = folder.claims(HEAD + PROMPTS)["a[m-none-1shot]"]
    arm = folder.claims(HEAD + PROMPTS + ARMS)["a[none-1shot]"]
    assert arm.condition.prompt_set == plain.condition.prompt_set
    assert (arm.model, arm.suite.prompts) == (plain.model, plain.suite.prompts)


def test_only_what_a_format_says_is_changed(folder: Folder) -> None:
    text = (
        f"{HEAD}prompts: {{shots: 1, count: 4, formats: [{{separator: '##', labels: number}}]}}\n"
        "arms: {none: {}, letters: {format: {labels: letter}}}\ncompare: [letters - none]\n"
    )
    claims = folder.claims(text)
    texts = [
        claims[f"a[{arm}-1shot]"].condition.prompt_set.prompts[0].text
        for arm in ("none", "letters")
    ]
    assert all(each.endswith("##") for each in texts)
    assert [("1. " in each, "A. " in each) for each in texts] == [(True, False), (False, True)]
    compared = folder.compared(text)["a::compare[letters-none]"]
    assert compared.changed == ("format: labels 'letter', not 'number'",)


def test_comparisons_follow_all_claims_task_by_task(folder: Folder) -> None:
    text = (
        HEAD + "prompts: {shots: [0, 1], count: 4}\n" + ARMS +
        "compare: [nf4 - none, {arms: tuned - none, assert: {better: 0.0}}]\n"
        "contamination: {base: none, extra: nf4, test: tuned}\n"
    )  # fmt: skip
    planned = folder.planned(text)
    kinds = [isinstance(each, PlannedClaim) for each in planned]
    assert kinds == sorted(kinds, reverse=True)
    names = [f"{each.task}::{each.name}" for each in planned
             if isinstance(each, PlannedComparison | PlannedContamination)]  # fmt: skip
    assert names == [
        f"{task}::{name}"
        for task in "ab"
        for name in (
            "compare[nf4-none-0shot]", "compare[nf4-none-1shot]",
            "compare[tuned-none-0shot]", "compare[tuned-none-1shot]",
            "contamination[0shot]", "contamination[1shot]",
        )
    ]  # fmt: skip


def test_a_record_says_what_changed(folder: Folder) -> None:
    compared = folder.compared(
        HEAD + PROMPTS + ARMS + "compare: [nf4 - none, tuned - nf4, terse - letters]\n"
    )
    records = {each.name: each.record("id", "s.yaml") for each in compared.values()}
    assert records["compare[nf4-none]"].changed == "quantization: nf4, not none"
    assert not records["compare[nf4-none]"].notes
    two = records["compare[tuned-nf4]"]
    assert two.changed == "model: ./k@v1, not ./m; quantization: none, not nf4"
    assert "several_differences" in [remark.kind for remark in two.notes]
    changed = records["compare[terse-letters]"].changed
    assert changed == (
        "instruction: 'Answer.\\n', not the task's own; format: labels 'text', not 'letter'"
    )
    assert (two.t, two.n, two.replicates, two.line) == (4, 30, 1, 12)


def test_models_of_a_suite_are_compared_by_their_labels(folder: Folder) -> None:
    models = (
        "models: [{name: ./m, quantization: none}, {name: ./m}, {name: ./k, label: tuned}]\n"
        + HEAD.partition("\n")[2] + PROMPTS
    )  # fmt: skip
    text = models + "compare: [m-nf4 - m-none, tuned - m-nf4, tuned-nf4 - m-none]\n"
    compared = folder.compared(text)
    changed = {name: each.changed for name, each in compared.items() if name.startswith("a::")}
    assert changed == {
        "a::compare[m-nf4-m-none]": ("quantization: nf4, not none",),
        "a::compare[tuned-m-nf4]": ("model: ./k, not ./m",),
        "a::compare[tuned-nf4-m-none]": ("model: ./k, not ./m", "quantization: nf4, not none"),
    }
    (sides,) = compared["a::compare[m-nf4-m-none]"].compared
    assert [claim.name for claim in (*sides.first, *sides.second)] == [
        "a[m-nf4-1shot]",
        "a[m-none-1shot]",
    ]


def test_replicates_are_paired_with_each_other(folder: Folder) -> None:
    text = HEAD + PROMPTS + ARMS + "replicates: 6\ncompare: [terse - none]\n"
    compared = folder.compared(text)["b::compare[terse-none]"]
    (sides,) = compared.compared
    assert sides.replicates == 6
    sets = set()
    for k, (one, other) in enumerate(zip(sides.first, sides.second, strict=True)):
        assert (one.replicate, other.replicate) == (k, k)
        assert (one.arm.name, other.arm.name) == ("terse", "none")
        mine, theirs = one.condition.prompt_set, other.condition.prompt_set
        assert mine.validation == theirs.validation
        sets.add(mine.validation)
        for left, right in zip(mine.prompts, theirs.prompts, strict=True):
            assert left.demonstrations == right.demonstrations
            assert left.text == f"Answer.\n{right.text}"
    assert len(sets) == 6


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        (
            "arms: {none: {}, x: {format: {append_choices: true}}}\ncompare: [x - none]\n",
            "7: compare[0]: 'x' and 'none' cannot be paired on c: prompt 1 shows different "
            "demonstrations in each of them; arms must use the same prompts on the same examples",
        ),
        (
            "arms: {none: {}, x: {quantization: nf4}}\n"
            "compare: [{arms: x - none, assert: {better: 0, level: 0.0000000001}}]\n",
            "7: c::compare[x-none] can never pass: with 30 examples no p-value is below 9.3e-10, "
            "but the level is 1e-10; use more of them, or a higher level",
        ),
        (
            "arms: {none: {}, x: {model: ./lost}}\n",
            "6: arms.x.model: ",
        ),
    ],
)
def test_what_cannot_be_compared_is_a_mistake(folder: Folder, rest: str, told: str) -> None:
    # Two examples of a kind that only their choices tell apart.
    rows = [{"input": f"i{k // 2}", "a": "yes", "b": ["no", "maybe"][k % 2], "answer": "yes"}
            for k in range(80)]  # fmt: skip
    write_csv(folder.path / "c.csv", rows)
    text = (
        "models: [{name: ./m, quantization: none}]\n"
        "tasks:\n- {name: c, format: csv, path: c.csv, append_choices: false, "
        "columns: {choices: [a, b]}, validation: {max_examples: 30}}\n"
        "assert: report\nprompts: {shots: 1, count: 3}\n" + rest
    )
    (mistake,) = folder.mistakes(text)
    assert mistake.startswith(told)
    assert "\n" not in mistake


def test_an_interval_agrees_with_what_is_claimed(folder: Folder) -> None:
    compared = folder.compared(
        HEAD + PROMPTS + ARMS + "compare: [nf4 - none, "
        "{arms: none - nf4, assert: {not_worse_than: -0.02, level: 0.01}}]\n"
    )
    reported, claimed = list(compared.values())[:2]
    assert (reported.confidence, reported.record("i", "s").asserted) == (0.95, {})
    assert claimed.confidence == pytest.approx(0.98)
    assert claimed.record("i", "s").asserted == {"not_worse_than": -0.02, "level": 0.01}

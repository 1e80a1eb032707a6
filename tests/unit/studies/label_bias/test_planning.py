"""What is known of a check of labels before a model is loaded, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file
from tests.notes import noted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TEXTS: list[dict[str, Any]] = [
    {"input": f"{i}", "choices": [f"{i}a", f"{i}b", f"{i}c"], "answer": i % 3} for i in range(30)
]
YES: list[dict[str, Any]] = [
    {"input": f"{i}", "choices": ["Yes", "No"], "answer": i % 2} for i in range(30)
]
MIXED = [*TEXTS[:20], *({**row, "choices": row["choices"][:2], "answer": 0} for row in TEXTS[20:])]
LETTERS = "formats: [{labels: letter}]"


class Suite:
    """A suite with a model folder that is never opened."""

    def __init__(self, folder: Path) -> None:
        (folder / "model").mkdir()
        (folder / "model" / "config.json").write_text("{}")
        self.folder, self.path = folder, folder / "s.yaml"

    def plan(
        self, rows: Sequence[dict[str, Any]], block: str, prompts: str = "", task: str = ""
    ) -> list[Any]:
        (self.folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.path.write_text(
            "models: [{name: ./model}]\n"
            f"tasks: [{{name: t, format: jsonl, path: x.jsonl, {task}}}]\n"
            f"prompts: {{shots: 0, count: 1, {prompts}}}\n"
            f"{block}\n"
        )
        return list(plan_file(self.path))

    def check(self, *given: Any, **named: Any) -> PlannedLabelBias:
        claim, check = self.plan(*given, **named)
        assert isinstance(check, PlannedLabelBias)
        assert check.claim is claim
        return check

    def mistakes(self, *given: Any, **named: Any) -> list[str]:
        with pytest.raises(SuiteError) as caught:
            self.plan(*given, **named)
        return [str(each).removeprefix(f"{self.path}:") for each in caught.value.problems]


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


def test_a_check_follows_its_claim_and_is_named_after_it(suite: Suite) -> None:
    check = suite.check(TEXTS, "label_bias: {}", LETTERS)
    assert check.name == f"{check.claim.name}::label_bias"
    assert check.name == "t[model-nf4-0shot]::label_bias"
    record = check.record("s.yaml::x", "s.yaml")
    assert record.asserted == {"above_random": 0.05}
    assert record.claim == "s.yaml::t[model-nf4-0shot]"
    assert suite.check(TEXTS, "label_bias: {assert: report}", LETTERS).record("", "").asserted == {}


def test_replicates_come_after_the_check_of_the_claim_which_they_have_none_of(
    suite: Suite,
) -> None:
    planned = suite.plan(
        TEXTS, "label_bias: {}\nreplicates: 3", LETTERS, "validation: {max_examples: 20}"
    )
    assert [each.name.partition("::")[2] for each in planned] == ["", "label_bias", "replicates[3]"]


def test_only_the_tasks_that_are_named_are_checked(suite: Suite) -> None:
    with_it = suite.plan(TEXTS, "label_bias: {tasks: [t]}", LETTERS)
    assert len(with_it) == 2


def test_letters_can_be_moved_whatever_they_stand_for(suite: Suite) -> None:
    for rows in (TEXTS, YES, MIXED):
        for check in ("move", "redraw"):
            (plan,) = suite.check(rows, f"label_bias: {{check: {check}}}", LETTERS).interactions
            assert plan.names == tuple("ABC" if rows is not YES else "AB")
            (job,) = plan.moved
            assert len(job.examples) == sum(len(row["choices"]) - 1 for row in rows)


def test_listed_texts_that_differ_have_places(suite: Suite) -> None:
    (plan,) = suite.check(TEXTS, "label_bias: {check: move}").interactions
    assert plan.names == ("place 1", "place 2", "place 3")
    assert plan.control == []


def test_a_place_has_no_base_rate_and_the_record_says_so(suite: Suite) -> None:
    record = suite.check(TEXTS, "label_bias: {}").record("", "")
    assert record.base_rate == "off"
    assert noted(record) == [
        "There is no base rate: the answers are texts that differ from example to example, and a "
        "place in their list has no probability without a question."
    ]


def test_shared_texts_are_labels_in_the_order_of_the_alphabet(suite: Suite) -> None:
    (plan,) = suite.check(YES, "label_bias: {}", task="append_choices: false").interactions
    assert plan.names == ("No", "Yes")
    assert plan.moved == []
    assert len(plan.control) == 1


def test_no_base_rate_means_no_text_for_it(suite: Suite) -> None:
    (plan,) = suite.check(TEXTS, "label_bias: {base_rate: off}", LETTERS).interactions
    assert len(plan.sweeps) == 1  # the claim's own


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (
            "{check: move}",
            "4: label_bias.check: t: label words that are the answer cannot be remapped; use "
            "`check: recall`",
        ),
        (
            "{calibration: pride}",
            "4: label_bias.calibration: t: label words that are the answer cannot be remapped; "
            "remove `pride`",
        ),
    ],
)
def test_label_words_that_are_the_answer_stay_where_they_are(
    suite: Suite, block: str, told: str
) -> None:
    assert suite.mistakes(YES, f"label_bias: {block}") == [told]


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (
            "{base_rate: control}",
            "4: label_bias.base_rate: t: the answers are texts that differ from example to "
            "example, and a place in their list has no probability without a question; use "
            "`base_rate: off`",
        ),
        (
            "{calibration: contextual}",
            "4: label_bias.calibration: t: the answers are texts that differ from example to "
            "example, and a place in their list has no probability without a question; remove "
            "`contextual`",
        ),
    ],
)
def test_what_a_place_cannot_have_is_a_mistake_if_it_is_asked_for(
    suite: Suite, block: str, told: str
) -> None:
    assert suite.mistakes(TEXTS, f"label_bias: {block}") == [told]


def test_choices_that_are_neither_shared_nor_listed_have_no_labels(suite: Suite) -> None:
    assert suite.mistakes(TEXTS, "label_bias: {check: move}", task="append_choices: false") == [
        "4: label_bias: t: choices differ from example to example and are not listed, so no answer "
        "has a label; list them (`append_choices: true`), or remove `label_bias`"
    ]


def test_one_right_label_tells_nothing(suite: Suite) -> None:
    block = "allow_unpassable: true\nlabel_bias: {}"
    (told,) = suite.mistakes([{**row, "answer": 0} for row in YES], block)
    assert told.startswith("5: label_bias: t: a prompt is scored on examples whose right answers")


def test_too_few_examples_to_hold_some_back(suite: Suite) -> None:
    (told,) = suite.mistakes(
        TEXTS[:1], "allow_unpassable: true\nlabel_bias: {check: move, calibration: pride}", LETTERS
    )
    assert "5: label_bias.calibration: t: " in told
    assert told.endswith("remove `pride`")


def test_a_mistake_of_all_models_is_told_once(suite: Suite) -> None:
    (told,) = suite.mistakes(
        TEXTS,
        "arms: {a: {}, b: {quantization: none}}\nlabel_bias: {}",
        task="append_choices: false",
    )
    assert told.startswith("5: label_bias: t: choices differ")


def test_every_arm_has_its_check(suite: Suite) -> None:
    planned = suite.plan(
        TEXTS, "arms: {a: {}, b: {quantization: none}}\nlabel_bias: {}\ncompare: [a - b]", LETTERS
    )
    assert [each.name for each in planned if isinstance(each, PlannedLabelBias)] == [
        "t[a-0shot]::label_bias",
        "t[b-0shot]::label_bias",
    ]

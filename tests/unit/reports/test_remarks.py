"""What reports say of each kind of note."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

import pytest

import pytest_maxrandom
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.reports.remarks import SENTENCES, worded
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.results import dump, load
from pytest_maxrandom.reports.wording import word
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES: list[tuple[str, dict[str, Any], str]] = [
    (
        "tries_of_another_claim",
        {"prompts": 1200, "claim": "weather[b-4shot]", "examples": 40},
        "1,200 of the prompts that t counts belong to weather[b-4shot] in this run, whose "
        "validation set shares 40 examples with this one.",
    ),
    (
        "budget_overrun",
        {"budget": 20, "t": 24},
        "The budget of 20 prompts is overrun: t counts the 24 that were evaluated.",
    ),
    (
        "budget_raised",
        {"budget": 20, "t": 10},
        "The budget of 20 prompts was not declared in advance: an earlier look at this claim "
        "counted t = 10, and the budget has been raised since.",
    ),
    (
        "too_few_beside",
        {"part": "incumbent p", "t": 3, "n": 9, "p": 3 / 512, "level": 0.05 / 12},
        "No answers could pass here: the least incumbent p that the best of 3 prompts can have on "
        "9 examples is .0059, above its level .004167. More examples or fewer prompts are needed.",
    ),
    (
        "signs_flipped",
        {"units": ["examples", "prompts", "replicates"], "largest": "prompts"},
        "Signs were flipped of the examples, of the prompts and of the replicates (each with its "
        "mean difference); the p-values are the largest of these, here those of the prompts, and "
        "the interval covers all.",
    ),
    (
        "several_differences",
        {"first": "a", "second": "b"},
        "'a' and 'b' differ in more than one thing, so no single one explains the difference.",
    ),
    ("no_difference", {"first": "a", "second": "b"}, "Nothing differs between 'a' and 'b'."),
    (
        "no_base_rates",
        {"interaction": "cloze", "why": "no label has any probability"},
        "Cloze has no base rates: no label has any probability.",
    ),
    (
        "not_calibrated",
        {"interaction": "cloze", "method": "pride", "why": "no prompt was scored"},
        "Cloze has no pride calibration: no prompt was scored.",
    ),
    (
        "held_back",
        {"interaction": "cloze", "examples": {"2": 3, "4": 1}},
        "Cloze: PriDe's prior comes from held-back examples, 3 with 2 choices, 1 with 4 choices; "
        "prompts are compared on the other examples for which it is known: those with as many "
        "choices as a held-back example that the prompt does not show.",
    ),
    (
        "tries_without_answers",
        {"prompts": 1},
        "t counts 1 more prompt than this run has answers for; each adds the best prompt's own "
        "permutation p.",
    ),
    (
        "runs_differ",
        {"repeats": 1, "runs": 3, "differ": 2, "answers": 40},
        "1 of the 3 runs repeats the prompts of an earlier one and does not count again, "
        "although up to 2 of the 40 answers differ.",
    ),
    (
        "counted_otherwise",
        {"sizes": [20, 2000], "t": 1500},
        "According to the results, n is 20 to 2,000 and t is 1,500.",
    ),
    (
        "left_behind",
        {"file": "a.jsonl", "prompts": {"b 4-shot": 1200, "a 0-shot": 1}, "folder": "new"},
        "a.jsonl, committed in another suite's folder, counts 1 prompt of a 0-shot; 1,200 prompts "
        "of b 4-shot on these examples, which this t leaves out; copy that file into new",
    ),
    (
        "not_decided_early",
        {"why": "no_budget"},
        "All answers were computed, because nothing was decided early: t is not declared "
        "(`prompts: {budget: N}`).",
    ),
    (
        "no_base_rate",
        {"why": "Choices are the question."},
        "There is no base rate: choices are the question.",
    ),
]


@pytest.mark.parametrize(("kind", "values", "said"), EXAMPLES)
def test_a_remark_is_worded(kind: str, values: dict[str, Any], said: str) -> None:
    assert worded(Remark(kind, values)).text == said


def _constants(node: ast.expr) -> set[str]:
    """Return the texts that an expression may have, where they are written out."""
    if isinstance(node, ast.IfExp):
        return _constants(node.body) | _constants(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def _makes(call: ast.Call) -> bool:
    """Tell whether a remark is made there."""
    name = getattr(call.func, "id", getattr(call.func, "attr", None))
    return name in ("Remark", "_tell") and bool(call.args)


@cache
def _trees() -> dict[str, ast.Module]:
    """Return the package's modules by their paths."""
    paths = Path(pytest_maxrandom.__file__).parent.rglob("*.py")
    return {str(path): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def _made() -> Iterator[tuple[str, set[str] | None]]:
    """Yield the kinds of remarks that the package makes, with their values where these are told."""
    for tree in _trees().values():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            nodes = [*ast.walk(function)]
            calls = [node for node in nodes if isinstance(node, ast.Call) and _makes(node)]
            named: dict[str, set[str]] = {}
            for node in nodes if calls else ():
                if isinstance(node, ast.Assign):
                    known = named.setdefault(ast.unparse(node.targets[0]), set())
                    known |= _constants(node.value)
            for node in calls:
                values: set[str] | None = None if node.args[1:] else set()
                if node.args[1:] and isinstance(node.args[1], ast.Dict) and all(node.args[1].keys):
                    values = {ast.literal_eval(key) for key in node.args[1].keys if key}
                for kind in _constants(node.args[0]):
                    yield kind, values
                for kind in named.get(ast.unparse(node.args[0]), set()):
                    yield kind, None


def test_each_kind_of_remark_that_is_made_has_a_sentence_of_its_values() -> None:
    made = list(_made())
    assert len(made) > 60
    for kind, values in made:
        fields = {name for _, name, _, _ in Formatter().parse(SENTENCES[kind]) if name}
        assert values is None or fields <= values, kind


def test_each_sentence_is_of_a_kind_that_is_made() -> None:
    texts = set()
    for path, tree in _trees().items():
        if not path.endswith("remarks.py"):
            texts |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert SENTENCES.keys() <= texts


def test_old_reports_are_told_in_the_sentences_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"file": "a.jsonl", "line": 7}
    record = claim(
        notes=[Remark("budget_overrun", {"budget": 20, "t": 24})],
        warnings=[Remark("cut_off", said)],
    )
    word(record)
    path = tmp_path / "r.json"
    path.write_text(dump(run(record)))
    monkeypatch.setitem(SENTENCES, "budget_overrun", "Of {budget} prompts t is {t}.")
    monkeypatch.setitem(SENTENCES, "cut_off", "Half a line: {line} of {file}.")
    page = markdown(load(path))
    assert "Of 20 prompts t is 24." in page
    assert "Half a line: 7 of a.jsonl." in page
    assert "is overrun" not in page
    assert "was cut off" not in page


def test_sentences_and_remarks_stand_in_the_order_in_which_they_were_noted() -> None:
    record = claim(notes=[])
    overrun = Remark("budget_overrun", {"budget": 2, "t": 3})
    note(record, Remark(text="Said by hand."), overrun, Remark(text="And after it."))
    word(record)
    assert [each.text for each in record.notes] == [
        "Said by hand.",
        "The budget of 2 prompts is overrun: t counts the 3 that were evaluated.",
        "And after it.",
    ]


@pytest.mark.parametrize(
    "remark",
    [
        Remark("of a later version", {}, "As it was said."),
        Remark("no_difference", {"x": 1}, "As it was said."),
        Remark(text="As it was said."),
    ],
)
def test_what_is_not_known_here_keeps_its_sentence(remark: Remark) -> None:
    assert worded(remark) == remark

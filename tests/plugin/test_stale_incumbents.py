"""Which incumbent it is: when it is asked again, when answers are stale, and how it is spelt."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.models import mock
from pytest_maxrandom.models.mock import MockModel
from tests.plugin.conftest import flat
from tests.plugin.incumbent_suite import OLD, N, questions, run, suite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.models.questions import Question, Reply


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    return questions(pytester.mkdir("eval_suites"))


def test_the_incumbent_is_asked_again_whenever_anything_that_decides_its_answers_is_another(
    pytester: pytest.Pytester, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of a server is in `test_served.py`."""
    asked = Counter[str]()
    ask = MockModel.ask

    def counted(self: MockModel, questions: Iterable[Question]) -> Reply:
        listed = [*questions]
        asked.update(question.context.partition(":")[0] for question in listed)
        return ask(self, listed)

    monkeypatch.setattr(MockModel, "ask", counted)

    def answers(old: str = OLD) -> int:
        asked.clear()
        suite(folder, incumbent=old)
        run(pytester)
        return asked["Answer"]

    assert [answers(), answers()] == [N, 0]
    assert [answers(OLD.replace("0.4", "0.41")), answers()] == [N, 0]  # its model
    other = replace(mock._ARITHMETIC, versions={"rule": "another"})
    with monkeypatch.context() as patched:
        patched.setattr(mock, "_ARITHMETIC", other)
        patched.setattr(MockModel, "arithmetic", other)
        mock._identity.cache_clear()
        assert [answers(), answers()] == [N, 0]
    mock._identity.cache_clear()
    assert answers() == 0
    questions = (folder / "q.jsonl").read_text()
    (folder / "q.jsonl").write_text(questions.replace(" larger than ", " more than "))
    assert [answers(), answers()] == [N, 0]


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("", None),
        ("exact_match: {normalise: [case]}", "compared with their references in another way"),
        ("scoring: f1", "holds what `scoring: exact_match` read, and those of the prompts"),
    ],
)
def test_stored_open_answers_are_stale_where_another_rule_says_what_is_right(
    pytester: pytest.Pytester, folder: Path, rest: str, told: str | None
) -> None:
    rows = [{"input": f"What is {each} + 1?", "answer": str(each + 1)} for each in range(60)]
    (folder / "o.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = """\
models: [{name: m, backend: mock, knows: 0.5}]
tasks: [{name: sums, format: jsonl, path: o.jsonl, answer_is: open}]
prompts: {shots: 0, instructions: ['A:']}
scoring: exact_match
"""
    (folder / "s.yaml").write_text(text)
    run(pytester, f"--maxrandom-predictions={folder / 'old.jsonl'}")
    beside = "incumbent: {answers: old.jsonl}\nassert: {better_than: incumbent}\n"
    kept = "" if rest.startswith("scoring") else "scoring: exact_match\n"
    (folder / "s.yaml").write_text(text.partition("scoring")[0] + kept + rest + "\n" + beside)
    said = flat(pytester.runpytest("--collect-only"))
    assert ("incumbent.answers: old.jsonl holds" in said) == (told is not None)
    assert (told or "") in said
    # A line of an older version does not say the rule.
    if told is None:
        line = json.loads((folder / "old.jsonl").read_text())
        assert line.pop("matching")
        (folder / "old.jsonl").write_text(json.dumps(line) + "\n")
        assert "or does not say how" in flat(pytester.runpytest("--collect-only"))


def test_stored_answers_that_other_arithmetic_computed_are_stale(
    pytester: pytest.Pytester, folder: Path
) -> None:
    suite(folder, incumbent="{answers: old.jsonl}")
    beside = (folder / "s.yaml").read_text()
    alone = re.sub(r"(incumbent|assert): \{.*\n", "", beside).replace("shots: 2", "shots: 0")
    (folder / "s.yaml").write_text(alone.replace("count: 10", "instructions: ['Answer:']"))
    run(pytester, f"--maxrandom-predictions={folder / 'old.jsonl'}")
    line = json.loads((folder / "old.jsonl").read_text())
    (folder / "old.jsonl").write_text(json.dumps(line | {"arithmetic": "0" * 64}) + "\n")
    (folder / "s.yaml").write_text(beside)
    told = "the answers of old.jsonl are stale: the digest of the arithmetic of new is 000000000000"
    assert told in flat(pytester.runpytest())
    # Nothing was asked, so that nothing is a try.
    (folder / "old.jsonl").write_text(json.dumps(line) + "\n")
    (folder / "s.yaml").write_text(beside.replace("count: 10", "count: 3"))
    assert run(pytester)["t"] == 3


@pytest.mark.parametrize("copies", [0.0, 1.0])
def test_an_invisible_edit_is_a_further_try_and_another_prompt_unless_it_answers_alike(
    pytester: pytest.Pytester, folder: Path, copies: float
) -> None:
    """A model reads what nobody sees, so a text is what its characters are.

    Only its answers tell that an incumbent is a prompt that was tried, spelt otherwise.
    """

    def found(listed: list[str], incumbent: str) -> dict[str, Any]:
        suite(folder, 0.5, f"{{instruction: {json.dumps(incumbent)}}}")
        text = (folder / "s.yaml").read_text().replace("copies: 0.5", f"copies: {copies}")
        listed_text = f"shots: 0, instructions: {json.dumps(listed)}"
        (folder / "s.yaml").write_text(text.replace("shots: 2, count: 10", listed_text))
        return run(pytester)

    first = found(["A:", "B:"], "Old:")
    (pytester.path / "r.json").rename(pytester.path / "base.json")
    edited = found(["A:", "B:\u200b"], "Old:")
    asserted = ("--assert=not_worse_than=-0.02", "--format=json", "--out=d.json")
    main(["diff", "base.json", "r.json", *asserted])
    [paired] = json.loads((pytester.path / "d.json").read_text())["regressions"]["claims"]
    assert (paired["compared"], paired["prompts"]) == ("prompts", 1), "A alone is in both"
    # No-break space, zero width, a space at the end: each is a text of its own.
    third = found(["A:\u00a0", "B: ", "B:"], "Old:")
    assert [each["t"] for each in (first, edited, third)] == [2, 3, 5]
    beside = found(["A:"], "A:\u200b")["incumbent"]
    tried = found(["A:"], "A:")["incumbent"]
    assert beside["digest"] != tried["digest"]
    assert tried["chosen_here"] == 5
    if copies:
        assert (beside["chosen_here"], beside["rank"]) == (5, 1)
        assert beside["place"] == 1
    else:
        assert (beside["chosen_here"], beside["place"]) == (None, 2)


def test_two_suites_of_one_run_name_incumbents_that_do_not_pay_for_one_another(
    pytester: pytest.Pytester, folder: Path
) -> None:
    """Neither where their tasks differ, nor where their models do; in one claim they do."""

    def write(name: str, model: str, incumbent: str, path: str = "q.jsonl") -> None:
        suite(folder, 0.5, f"{{instruction: '{incumbent}:'}}", 40)
        text = (folder / "s.yaml").read_text().replace("name: new", f"name: {model}")
        (folder / "s.yaml").unlink()
        (folder / name).write_text(text.replace("q.jsonl", path))

    def places() -> dict[str, int]:
        pytester.runpytest("--maxrandom-json=r.json")
        claims = json.loads((pytester.path / "r.json").read_text())["claims"]
        return {claim["suite"][-6:]: claim["incumbent"]["place"] for claim in claims}

    questions = (folder / "q.jsonl").read_text()
    (folder / "other.jsonl").write_text(questions.replace(" larger than ", " above "))
    write("a.yaml", "one", "Old")
    write("b.yaml", "one", "Older", "other.jsonl")
    write("c.yaml", "two", "Oldest")
    for _ in range(2):
        assert places() == {"a.yaml": 1, "b.yaml": 1, "c.yaml": 1}
    write("d.yaml", "one", "Further")
    assert places() == {"a.yaml": 1, "b.yaml": 1, "c.yaml": 1, "d.yaml": 3}

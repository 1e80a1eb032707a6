"""t goes on where questions are the same for a reader, and begins anew where they are others."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.results import load
from tests.repositories import begin_repository, commit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N, T = 24, 3
QUESTIONS = [f"Is the sum of {n} and {n * n % 17} an even number?" for n in range(100, 100 + N)]
ANSWERS = ["yes" if (n + n * n % 17) % 2 == 0 else "no" for n in range(100, 100 + N)]
SUITE = """\
models: [{{name: guesser, backend: mock}}]
tasks: [{{name: sums, format: csv, path: sums.csv, choices: {choices}}}]
prompts: {{shots: 0, count: {t}, instructions: {instructions}}}
allow_unpassable: true
"""
_CLAIM = re.compile(r"<Claim sums\[\S+ t=(\d+) n=\d+(?: \((.*)\))?>")


class Suite:
    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.folder = pytester, pytester.mkdir("eval_suites")

    def write(
        self,
        edit: Callable[[str], str] = str,
        choices: tuple[str, str] = ("yes", "no"),
        answer: Callable[[str], str] = str,
        word: str = "Answer",
    ) -> None:
        with (self.folder / "sums.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["input", "answer"])
            rows.writerows(zip(map(edit, QUESTIONS), map(answer, ANSWERS), strict=True))
        instructions = [f"{word} question {number}.\n" for number in range(T)]
        (self.folder / "suite.yaml").write_text(
            SUITE.format(choices=json.dumps(choices), t=T, instructions=json.dumps(instructions)),
            encoding="utf-8",
        )

    def collected(self) -> tuple[int, str]:
        found = self.pytester.runpytest_inprocess("--collect-only").stdout.str()
        ((t, why),) = _CLAIM.findall(found)
        return int(t), why

    @property
    def files(self) -> list[Path]:
        return sorted((self.folder / "maxrandom-ledger-simulated").glob("*.jsonl"))


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    suite = Suite(pytester)
    suite.write()
    assert suite.collected() == (T, "")
    pytester.runpytest_inprocess()
    assert suite.collected() == (T, "")
    return suite


def wide(text: str) -> str:
    """The form of letters that stands in the width of a Chinese character."""
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


EDITS: dict[str, Callable[[str], str]] = {
    "double space": lambda text: text.replace(" sum", "  sum"),
    "trailing space": lambda text: f"{text} ",
    "leading space": lambda text: f" {text}",
    "no-break space": lambda text: text.replace(" an ", "\u00a0an\u00a0"),
    "zero-width space": lambda text: text.replace("sum", "su\u200bm"),
    "bidirectional mark": lambda text: f"\u200e{text}",
    "line break": lambda text: text.replace(" an ", "\nan "),
    "capitals": str.upper,
    "small letters": str.lower,
    "lost question mark": lambda text: text.removesuffix("?"),
    "wide letters": wide,
    "soft hyphen": lambda text: text.replace("even", "e\u00adven"),
}


def test_edits_that_a_reader_would_not_see_begin_no_new_count(suite: Suite) -> None:
    found = {}
    for name, edit in EDITS.items():
        suite.write(edit, word=name)
        found[name] = suite.collected()
    assert found == dict.fromkeys(EDITS, (2 * T, f"{T} evaluated before"))


def test_neither_the_order_nor_the_writing_of_choices_begins_a_new_count(suite: Suite) -> None:
    before = (2 * T, f"{T} evaluated before")
    suite.write(choices=("no", "yes"), word="Reversed")
    assert suite.collected() == before
    suite.write(choices=("Yes", "No"), answer=str.capitalize, word="Capital")
    assert suite.collected() == before
    suite.write(choices=("no.", "yes."), answer=lambda text: f"{text}.", word="Closed")
    assert suite.collected() == before


def test_three_rerolls_by_invisible_edits_are_one_claim_of_all_their_prompts(suite: Suite) -> None:
    for number, name in enumerate(("double space", "capitals", "lost question mark"), 2):
        suite.write(EDITS[name], word=name)
        suite.pytester.runpytest_inprocess("--maxrandom-json=r.json")
        report = json.loads((suite.pytester.path / "r.json").read_text())
        assert report["claims"][0]["t"] == number * T
    notes = report["claims"][0]["notes"]
    told = [note["text"] for note in notes if note["kind"] == "tries_of_another_set"]
    assert len(told) == 3
    assert all(f"{T} of the prompts" in one for one in told)
    assert all(f"shares {N} of {N} examples" in one for one in told)
    assert len(suite.files) == 4


def test_other_questions_and_other_right_answers_begin_a_new_count(suite: Suite) -> None:
    edits: list[Callable[[str], str]] = [
        lambda text: text.replace("even", "odd"),
        lambda text: re.sub(r"\d+", lambda found: f"{found[0]}0", text),
        lambda text: re.sub(r"of 1(\d)", r"of 1 \1", text),  # 1 00 is not 100
    ]
    for number, edit in enumerate(edits):
        suite.write(edit, word=f"Other {number}")
        assert suite.collected() == (T, "")
    suite.write(answer={"yes": "no", "no": "yes"}.__getitem__, word="Swapped")
    assert suite.collected() == (T, "")


def test_lines_of_an_older_version_relate_examples_as_they_stood(suite: Suite) -> None:
    (path,) = suite.files
    rows = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert rows[0].pop("questions")
    path.write_text("".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in rows))
    suite.write(word="More")
    assert suite.collected() == (2 * T, f"{T} evaluated before")
    suite.write(str.upper, word="More")
    assert suite.collected() == (T, "")
    # Whoever tries one of them as they stood says what questions they are.
    suite.write(word="More")
    suite.pytester.runpytest_inprocess()
    sets = [
        row
        for line in path.read_text("ascii").splitlines()
        if "examples" in (row := json.loads(line))
    ]
    assert ["questions" in row for row in sets] == [False, True]
    assert sets[0]["examples"] == sets[1]["examples"]
    suite.write(str.upper, word="Still more")
    assert suite.collected() == (3 * T, f"{2 * T} evaluated before")


def test_a_count_that_begins_anew_is_told_unfolded_with_the_shares_of_questions(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(text: str) -> str:
        return text if int(text.split()[4]) < 104 else text.replace("even", "odd")

    def run() -> tuple[list[dict[str, str]], str]:
        suite.pytester.runpytest_inprocess(
            "--maxrandom-json=r.json", "--maxrandom-report=r.md", "--maxrandom-html=r.html"
        )
        claim = json.loads((suite.pytester.path / "r.json").read_text())["claims"][0]
        return claim["warnings"], (suite.pytester.path / "r.md").read_text()

    suite.write(edit, word="Other")
    (told,), report = run()
    assert told["kind"] == "begun_anew"
    assert f"{N - 4} of {N} are new, and {N - 4} of {N} earlier ones are gone" in told["text"]
    assert f"the {T} prompts tried on those" in told["text"]
    assert suite.files[0].name in told["text"] or suite.files[1].name in told["text"]
    unfolded = report.partition("<details>")[0]
    assert "t begins anew" in unfolded
    said = comment(load(suite.pytester.path / "r.json"))
    assert "t begins anew" in said.partition("<details>")[0]
    told_again, report = run()
    assert not told_again
    assert "t begins anew" not in report


def test_questions_in_other_words_are_found_in_git_and_named_and_a_line_undoes_that(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_repository(suite.pytester.path)

    def notes() -> dict[str, Any]:
        suite.pytester.runpytest_inprocess("--maxrandom-json=r.json")
        report = json.loads((suite.pytester.path / "r.json").read_text())
        (claim,) = report["claims"]
        found = {each["kind"]: each["text"] for each in claim["notes"] + claim["warnings"]}
        return found | {"t": claim["t"]}

    (before,) = suite.files
    # The whole file has new words and a new name, and so has the suite.
    suite.write(lambda text: f"Tell me: {text}", word="Reworded")
    (suite.folder / "sums.csv").rename(suite.folder / "questions.csv")
    text = (suite.folder / "suite.yaml").read_text().replace("sums.csv", "questions.csv")
    (suite.folder / "suite.yaml").unlink()
    (suite.folder / "other.yaml").write_text(text)
    assert suite.collected() == (2 * T, f"{T} evaluated before")
    told = notes()
    assert told["t"] == 2 * T
    assert f"{N} of {N} questions are those of an earlier set" in told["reworded"]
    assert before.name in told["reworded"]
    assert "begun_anew" not in told
    # It stands in the ledger, and so it is known when git does not know the earlier words any more.
    commit(suite.pytester.path)
    (new,) = set(suite.files) - {before}
    assert [json.loads(line)["kind"] for line in new.read_text().splitlines()][:2] == [
        "set",
        "reworded",
    ]
    assert suite.collected() == (2 * T, f"{T} evaluated before")
    assert main(["ledger", "verify", str(new)]) == 0
    assert main(["ledger", "apart", str(new), "--why", "other questions"]) == 0
    assert suite.collected() == (T, "")
    assert "reworded" not in notes()
    assert main(["ledger", "verify", str(new)]) == 0
    assert main(["ledger", "apart", str(new), "--why", "again"]) == 2
    assert "there is nothing to undo" in capsys.readouterr().err

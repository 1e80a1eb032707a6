"""t is one number: when collected, in the report, in JUnit and in what the ledger shows."""

from __future__ import annotations

import importlib
import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from pytest_maxrandom.cli import main
from tests.plugin.conftest import N
from tests.repositories import begin_repository, git

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "  - {name: other, format: jsonl, path: data/other.jsonl, append_choices: false}\n"
WORDS = ["", "Say:\n", "Think:\n", "Now:\n"]
_CLAIM = re.compile(r"<Claim (\w+)\[\S+ t(>?)=(\d+) n=\d+(?: \((.*)\))?>")


class Session:
    """A suite whose claims are collected and run again and again."""

    def __init__(self, pytester: pytest.Pytester, folder: Path) -> None:
        self.pytester, self.folder = pytester, folder
        self.head = (folder / "suite.yaml").read_text().partition("  - name: unknown")[0]
        lines = (folder / "data" / "known.jsonl").read_text().splitlines(keepends=True)
        # 18 of 24 are the same, and 6 are other examples.
        fresh = [line.replace('"word ', '"another ') for line in lines[18:]]
        (folder / "data" / "other.jsonl").write_text("".join([*lines[:18], *fresh]))

    @property
    def ledger(self) -> Path:
        return self.folder / "maxrandom-ledger-simulated"

    def write(self, words: list[str], rest: str = "", tasks: str = "") -> None:
        (self.folder / "suite.yaml").write_text(
            f"{self.head}{tasks}prompts: {{shots: 0, count: {len(words)}, "
            f"instructions: {json.dumps(words)}{rest}}}\nallow_unpassable: true\n"
        )

    def collected(self) -> dict[str, tuple[int, str, str]]:
        """t of each task's claim as it is shown before a run, with the reason."""
        found = self.pytester.runpytest_inprocess("--collect-only").stdout.str()
        return {task: (int(t), why or "", least) for task, least, t, why in _CLAIM.findall(found)}

    def run(self) -> dict[str, dict[str, Any]]:
        self.result = self.pytester.runpytest_inprocess(
            "--maxrandom-json=r.json", "--maxrandom-report=r.md", "--junitxml=junit.xml"
        )
        report = json.loads((self.pytester.path / "r.json").read_text())
        return {claim["task"]: claim for claim in report["claims"]}

    def in_junit(self) -> dict[str, int]:
        cases = ET.parse(self.pytester.path / "junit.xml").iter("testcase")
        every = [{p.get("name"): p.get("value") for p in case.iter("property")} for case in cases]
        return {str(said["task"]): int(str(said["t"])) for said in every}

    def shown(self, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
        """t of each task's claim as the ledger shows it."""
        capsys.readouterr()
        assert main(["ledger", "show", "--json", str(self.ledger)]) == 0
        files = json.loads(capsys.readouterr().out)
        return {file["task"]: file["claims"][0]["t"] for file in files}


@pytest.fixture
def session(pytester: pytest.Pytester, suites: Path) -> Session:
    return Session(pytester, suites)


@pytest.fixture
def real_session(pytester: pytest.Pytester, real_suites: Path) -> Session:
    return Session(pytester, real_suites)


def test_t_is_one_number_everywhere_and_says_why_it_is_not_the_count(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.write(WORDS[:2])
    assert session.collected() == {"known": (2, "", "")}
    assert session.run()["known"]["t"] == 2
    session.write(WORDS[2:], tasks=OTHER)
    before = session.collected()
    assert before == {
        "known": (4, "2 evaluated before", ""),
        "other": (4, "2 evaluated before", ""),
    }
    claims = session.run()
    everywhere = [
        {task: t for task, (t, *_) in before.items()},
        {task: claim["t"] for task, claim in claims.items()},
        session.in_junit(),
        session.shown(capsys),
        {task: t for task, (t, *_) in session.collected().items()},
    ]
    assert everywhere == [{"known": 4, "other": 4}] * 5
    (note,) = [
        note["text"] for note in claims["other"]["notes"] if note["kind"] == "tries_of_another_set"
    ]
    assert f"shares 18 of {N} examples" in note


def test_prompts_of_another_claim_of_the_run_are_named_with_what_they_share(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.write(WORDS[:2])
    (session.folder / "second.yaml").write_text(
        f"{session.head.partition('tasks:')[0]}tasks:\n{OTHER}"
        f"prompts: {{shots: 0, count: 1, instructions: {json.dumps(WORDS[3:])}}}\n"
        "allow_unpassable: true\n"
    )
    found = session.collected()
    assert found["known"] == (3, "1 of other claims of this run", "")
    assert found["other"] == (3, "2 of other claims of this run", "")
    claims = session.run()
    assert {task: claim["t"] for task, claim in claims.items()} == {"known": 3, "other": 3}
    assert session.shown(capsys) == {"known": 3, "other": 3}
    notes = [note["text"] for claim in claims.values() for note in claim["notes"]]
    assert any(
        "2 of the prompts that t counts belong to known[" in note
        and f"shares 18 of {N} examples" in note
        for note in notes
    )
    assert session.collected()["known"] == (3, "1 evaluated before", "")
    # Where claims of several suites have one name, their files tell them apart.
    text = (session.folder / "second.yaml").read_text()
    (session.folder / "third.yaml").write_text(text.replace(WORDS[3].strip(), WORDS[2].strip()))
    session.run()
    report = (session.pytester.path / "r.json").read_text()
    assert re.search(r"1 of the prompts that t counts belong to other\[\S+ of third.yaml", report)


def test_collection_reads_the_ledger_and_writes_and_loads_nothing(
    real_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = real_session
    # Runs in this process leave attributes of packages behind that are no modules any more.
    tries = importlib.import_module("pytest_maxrandom.claims.tries")
    backend = importlib.import_module("pytest_maxrandom.models.hf.transformers")
    session.write(WORDS[:2])
    session.run()
    session.write(WORDS[1:])
    monkeypatch.setattr(backend, "load", None)
    files = {path: path.stat().st_mtime_ns for path in session.folder.rglob("*")}
    assert session.collected() == {"known": (4, "1 evaluated before", "")}
    assert {path: path.stat().st_mtime_ns for path in session.folder.rglob("*")} == files
    # A model whose files are large, or on the hub, is not read: t may be more.
    monkeypatch.setattr(tries, "_QUICKLY_READ", 0)
    assert session.collected() == {"known": (4, "1 evaluated before", ">")}


def test_an_example_is_digested_as_often_however_many_claims_are_collected(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = importlib.import_module("pytest_maxrandom.ledger.lines")
    contents = (session.folder / "data" / "known.jsonl").read_text()
    digested = {}
    for tasks in (1, 5):
        lines = []
        for number in range(tasks):
            path = session.folder / "data" / f"more{number}.jsonl"
            path.write_text(contents.replace('"word ', f'"{number} of {tasks} '))
            lines.append(OTHER.replace("other", f"more{number}"))
        session.write(WORDS[:1], tasks="".join(lines))
        calls: list[str] = []

        class Counting:
            @staticmethod
            def dumps(content: object, calls: list[str] = calls) -> str:
                calls.append(json.dumps(content))
                return calls[-1]

        monkeypatch.setattr(digests, "json", Counting)
        assert len(session.collected()) == 1 + tasks
        digested[tasks] = len(calls) / len(set(calls))
    assert digested[5] == digested[1]


def test_a_budget_is_called_one_and_raising_it_is_told(session: Session) -> None:
    def told(words: list[str], budget: int) -> tuple[int, str, list[str]]:
        session.write(words, f", budget: {budget}")
        (t, why, _) = session.collected()["known"]
        claim = session.run()["known"]
        assert claim["outcome"] in ("error", "failed", "passed")
        assert claim["outcome"] == "error" or claim["t"] == t
        return t, why, [note["text"] for note in claim["notes"] if "budget" in note["text"]]

    assert told(WORDS[:2], 3) == (3, "the budget; 2 asked for or evaluated", [])
    assert "t is the budget that the suite declares" in (
        (session.pytester.path / "r.md").read_text()
    )
    t, why, _ = told(WORDS[2:], 3)
    assert (t, why) == (4, "beyond the budget of 3, 2 evaluated before")
    t, why, (note,) = told(WORDS[2:], 4)
    assert (t, why) == (4, "the budget; 4 asked for or evaluated")
    assert "was not declared in advance" in note
    assert "t = 3" in note
    t, why, (note,) = told(WORDS[:1], 2)
    assert (t, why) == (4, "beyond the budget of 2, 3 evaluated before")
    assert "is overrun" in note


@pytest.mark.parametrize("first", ["known", "other"])
def test_the_budget_error_names_files_that_are_there(session: Session, first: str) -> None:
    of_first = session.head if first == "known" else session.head.partition("  - name: known")[0]
    whole, session.head = session.head, of_first
    session.write(WORDS[:2], tasks="" if first == "known" else OTHER)
    session.run()
    session.head = whole
    session.write(WORDS[2:], ", budget: 3")
    claim = session.run()["known"]
    assert claim["outcome"] == "error"
    named = re.findall(r"[^\s(]+\.jsonl", claim["message"])
    ledger = sorted(map(str, session.ledger.glob("*.jsonl")))
    assert sorted(named) == ledger


def test_without_a_ledger_the_budget_error_names_none(session: Session) -> None:
    session.write(WORDS[:2], ", budget: 2")
    text = (session.folder / "suite.yaml").read_text()
    (session.folder / "twin.yaml").write_text(text.replace("Say:", "Tell:"))
    claim = session.run()["known"]
    assert claim["outcome"] == "error"
    assert ".jsonl" not in claim["message"]
    told = session.result.stdout.str()
    assert "the budget of 2 prompts would be exceeded" in told
    assert "During handling" not in told


def test_a_results_store_under_version_control_is_refused(real_session: Session) -> None:
    session = real_session
    session.write(WORDS[:1])
    assert session.run()["known"]["outcome"] == "passed"
    root = session.pytester.path
    store = root / ".maxrandom" / "results.db"
    begin_repository(root)  # which the folder's own .gitignore keeps the store out of
    assert session.run()["known"]["outcome"] == "passed"
    git(root, "add", "--force", store)
    claim = session.run()["known"]
    assert claim["outcome"] == "error"
    assert str(store) in claim["message"]
    (way_out,) = [part for part in claim["message"].split("`") if part.startswith("git rm")]
    assert way_out == "git rm --cached .maxrandom/results.db"
    assert "\n" not in claim["message"]
    git(root, *way_out.split()[1:])
    assert session.run()["known"]["outcome"] == "passed"

"""A run in parts gives the report of one process, whatever happens to the parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.cli import main
from tests.parts import alike, in_one, joined, tries

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITE = """\
models:
  - {name: knows, backend: mock, knows: 0.9}
  - {name: prefers, backend: mock, prefers: "yes"}
tasks:
  - name: parity
    format: jsonl
    path: parity.jsonl
    validation: {max_examples: 30}
prompts: {shots: [0, 2], count: 6}
assert: report
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    folder = tmp_path / "eval_suites"
    folder.mkdir()
    rows = [
        {"input": f"Is {number} even?", "choices": ["yes", "no"], "answer": number % 2}
        for number in range(40)
    ]
    (folder / "parity.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "suite.yaml"
    path.write_text(SUITE)
    return path


def _shards(into: int) -> None:
    for number in range(1, into + 1):
        assert main(["run-shard", "parts", str(number)]) == 0


def test_thejoined_report_is_that_of_one_process(suite: Path) -> None:
    alone = in_one("eval_suites")
    assert main(["shards", "eval_suites", "--into", "5", "--out", "parts"]) == 0
    _shards(5)
    assert alike(joined()) == alike(alone)


def test_an_incumbent_and_all_models_are_compared_as_in_one_process(suite: Path) -> None:
    suite.write_text(
        SUITE.replace("assert: report", "assert: {better_than: incumbent}")
        + "incumbent: {instruction: 'Old:', model: {name: old, backend: mock, knows: 0.2}}\n"
        + "compare: all\n"
    )
    alone = in_one("eval_suites")
    assert main(["shards", "eval_suites", "--into", "3", "--out", "parts"]) == 0
    _shards(3)
    found = joined()
    for kind, key in (("claims", "incumbent"), ("best_models", "models"), ("best_models", "pairs")):
        assert [each[key] for each in found[kind]] == [each[key] for each in alone[kind]]
        assert all(each[key] for each in found[kind])
    assert [claim["outcome"] for claim in found["claims"]].count("passed") == 2


def test_joining_again_finds_the_same_t(suite: Path) -> None:
    main(["shards", "eval_suites", "--into", "2", "--out", "parts"])
    _shards(2)
    once = joined()
    again = joined()
    assert [claim["t"] for claim in again["claims"]] == [claim["t"] for claim in once["claims"]]


def test_all_prompts_arein_one_shard_each(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["shards", "eval_suites", "--into", "7", "--out", "parts"])
    _shards(7)
    tried = tries("parts")
    assert len(tried) == len(set(tried)) == 2 * (1 + 6)


def test_missing_shards_are_named_and_nothing_is_judged(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["shards", "eval_suites", "--into", "3", "--out", "parts"])
    main(["run-shard", "parts", "2"])
    capsys.readouterr()
    assert main(["join", "parts"]) == 2
    said = capsys.readouterr().err
    assert "2 of 3 parts are missing" in said
    assert "shard 1 was not run; run `maxrandom run-shard parts 1`" in said
    assert "shard 3 was not run; run `maxrandom run-shard parts 3`" in said
    assert "shard 2" not in said
    assert not list(Path("eval_suites").rglob("maxrandom-ledger*"))


def test_what_has_changed_since_is_stale(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["shards", "eval_suites", "--into", "2", "--out", "parts"])
    _shards(2)
    suite.write_text(SUITE.replace("count: 6", "count: 7"))
    capsys.readouterr()
    for words in (["join", "parts"], ["run-shard", "parts", "1"]):
        assert main(words) == 2
        assert "have changed since parts was made" in capsys.readouterr().err
    main(["shards", "eval_suites", "--into", "2", "--out", "parts"])
    assert main(["join", "parts"]) == 2
    said = capsys.readouterr().err
    assert "shard 1 is stale" in said
    assert "shard 2 is stale" in said


def test_shards_of_unlike_machines_are_notjoined(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["shards", "eval_suites", "--into", "2", "--out", "parts"])
    _shards(2)
    file = Path("parts/shard-2/shard.json")
    said = json.loads(file.read_text())
    for shard in Path("parts").glob("shard-*/shard.json"):
        known = json.loads(shard.read_text())
        known["arithmetic"] = {"same": next(iter(known["arithmetic"].values()))}
        shard.write_text(json.dumps(known))
    said["arithmetic"] = {
        "same": next(iter(said["arithmetic"].values())) | {"processor": "another one"}
    }
    file.write_text(json.dumps(said))
    assert main(["join", "parts"]) == 2
    assert "shard 2 was computed on another one" in capsys.readouterr().err


def test_results_that_are_gone_are_named(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["shards", "eval_suites", "--into", "2", "--out", "parts"])
    _shards(2)
    for file in Path("parts/shard-1").glob("results*.db*"):
        file.unlink()
    assert main(["join", "parts"]) == 2
    assert "shard 1 lacks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["shards", "eval_suites", "--into", "0", "--out", "parts"], "--into: found 0"),
        (["shards", "eval_suites", "--into", "15", "--out", "parts"], "expected at most 14"),
        (["run-shard", "nothing", "1"], "nothing/shards.json cannot be read"),
        (["join", "nothing"], "nothing/shards.json cannot be read"),
    ],
)
def test_wrong_arguments(
    suite: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str], told: str
) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_a_number_beyond_all_shards(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["shards", "eval_suites", "--into", "2", "--out", "parts"])
    assert main(["run-shard", "parts", "3"]) == 2
    assert "I: found 3, expected a whole number from 1 to 2" in capsys.readouterr().err

"""t is counted across runs, nothing is computed twice, and the test set stays closed."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from pytest_maxrandom.ledger import set_files
from pytest_maxrandom.models.mock import Mock
from tests.plugin.conftest import N, ledger_of

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = "known[tiny-none-0shot]"


class Suite:
    """One suite with the claim `known`, run again and again with changes."""

    def __init__(self, pytester: pytest.Pytester, folder: Path) -> None:
        self.pytester, self.folder = pytester, folder
        self.path = folder / "suite.yaml"
        head, _, _ = self.path.read_text().partition("  - name: unknown")
        self.head = head

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The ledger's lines of a kind."""
        return [row for row in ledger_of(self.folder) if row["kind"] == kind]

    def run(self, *words: str, task: str = "", arguments: tuple[str, ...] = ()) -> dict[str, Any]:
        """Run the suite with one prompt for each instruction."""
        said = json.dumps(list(words) or [""])
        self.path.write_text(
            f"{self.head}{task}prompts: {{shots: 0, count: {len(words) or 1}, "
            f"instructions: {said}}}\n"
        )
        return self.again(*arguments)

    def again(self, *arguments: str) -> dict[str, Any]:
        self.result = self.pytester.runpytest("--maxrandom-json=r.json", *arguments)
        report = json.loads((self.pytester.path / "r.json").read_text())
        claims: dict[str, dict[str, Any]] = {
            claim["id"].partition("::")[2]: claim for claim in report["claims"]
        }
        return claims[HOLDS]


@pytest.fixture
def suite(pytester: pytest.Pytester, suites: Path) -> Suite:
    return Suite(pytester, suites)


@pytest.fixture
def real_suite(pytester: pytest.Pytester, real_suites: Path) -> Suite:
    return Suite(pytester, real_suites)


def p_max(best: int, t: int) -> float:
    return float(1 - stats.binom.cdf(best - 1, N, 0.5) ** t)


def test_a_second_run_reads_what_the_first_computed_and_is_no_second_look(suite: Suite) -> None:
    first = suite.run("", "Say:\n")
    second = suite.again()
    for key in ("t", "best_correct", "p_max", "correct_counts", "tries", "best_prompt"):
        assert second[key] == first[key], key
    assert (first["tries"]["run"], first["tries"]["claim"], first["tries"]["look"]) == (2, 2, 1)
    assert (first["engine"]["reused"], second["engine"]["reused"]) == (0, 2)
    assert len(suite.lines("prompt")) == 2
    assert len(suite.lines("look")) == 1


def test_a_run_that_finds_all_its_results_loads_no_model(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.run()

    def refuse(*args: object, **said: object) -> None:
        raise AssertionError("a model is loaded")

    monkeypatch.setattr(Mock, "load", refuse)
    suite.again()
    assert suite.result.ret == 0
    suite.again("--maxrandom-fresh")
    assert suite.result.ret != 0


def test_other_prompts_of_another_run_count_and_are_another_look(suite: Suite) -> None:
    suite.run("")
    later = suite.run("Say:\n", "Think:\n")
    assert (later["t"], later["tries"]["run"], later["tries"]["claim"]) == (3, 2, 3)
    assert later["p_max"] == pytest.approx(p_max(later["best_correct"], 3), rel=1e-9)
    assert later["tries"]["look"] == 2
    # What `looks: spend` would have asked for: the best of 3, at the end of the second doubling.
    level = 0.05 / (2 * 3)
    assert later["tries"]["level"] == pytest.approx(level)
    p_values = p_max(later["best_correct"], 3), later["permutation_p"]
    assert later["tries"]["holds"] == (max(p_values) <= level)


def test_a_claim_that_spends_its_level_is_tested_as_the_best_of_its_doubling(
    suite: Suite,
) -> None:
    task = "assert: {looks: spend}\n"
    first = suite.run("", "x", "y", "w", task=task)
    assert (first["t"], first["tries"]["counted"], first["tries"]["claim"]) == (7, "doubling", 4)
    assert first["levels"] == {"permutation_p": 0.05 / 12}
    assert first["p_max"] == pytest.approx(p_max(first["best_correct"], 7), rel=1e-9)
    within = suite.run("", "z", task=task)
    assert (within["t"], within["tries"]["claim"], within["levels"]) == (7, 5, first["levels"])
    beyond = suite.run("Say:\n", "a", "b", task=task)
    assert (beyond["t"], beyond["tries"]["claim"]) == (15, 8)
    assert beyond["levels"] == {"permutation_p": 0.05 / 20}


def test_only_time_is_lost_with_the_store(suite: Suite) -> None:
    first = suite.run("", "Say:\n")
    for path in (suite.pytester.path / ".maxrandom").glob("results*"):
        path.unlink()
    second = suite.again()
    assert second["engine"]["reused"] == 0
    assert second["correct_counts"] == first["correct_counts"]
    assert second["tries"] == first["tries"]


def test_examples_that_were_edited_a_little_are_the_same_set(suite: Suite) -> None:
    suite.run("")
    data = suite.folder / "data" / "known.jsonl"
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    rows[0]["input"] = "another word"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    later = suite.run("Say:\n")
    assert later["t"] == 2
    assert any(f"{N - 1} of {N}" in note["text"] for note in later["notes"])


def test_count_task_counts_the_claims_of_the_suite_from_the_start(suite: Suite) -> None:
    models = suite.head.replace(
        "tasks:", f"  - {{name: {_model(suite)}, label: twin, backend: mock}}\ntasks:"
    )
    suite.path.write_text(
        f"{models}    assert: {{count: task}}\nprompts: {{shots: 0, count: 2, "
        'instructions: ["", "x"]}\n'
    )
    first = suite.again()
    # The twin is the same model, so its prompts are the same tries.
    assert (first["t"], first["tries"]["counted"]) == (2, "task")
    shots = "prompts: {shots: [0, 1], count: 2, seed: 3, demonstrations: leave_out}\n"
    suite.path.write_text(f"{models}    assert: {{count: task}}\n{shots}allow_unpassable: true\n")
    second, third = suite.again(), suite.again()
    # The prompt without instruction is known; two with one demonstration each are new.
    assert second["t"] == third["t"] == 4


def test_sets_that_overlap_count_for_each_other_from_the_first_run_on(suite: Suite) -> None:
    data = suite.folder / "data"
    lines = (data / "known.jsonl").read_text().splitlines(keepends=True)
    (data / "part.jsonl").write_text("".join(lines[:10]))
    part = "  - {name: part, format: jsonl, path: data/part.jsonl, append_choices: false}\n"
    first = suite.run("", "Say:\n", task=part)
    second = suite.again()
    # Each prompt meets both sets: the same model and prompt, so the same two tries.
    assert first["t"] == second["t"] == 2
    assert first["tries"]["task"] == second["tries"]["task"]


def test_what_a_claim_may_have_been_chosen_from_is_all_that_its_run_tries(suite: Suite) -> None:
    prompts = "prompts: {{shots: 0, count: {}, instructions: {}}}\n"
    suite.path.write_text(suite.head + prompts.format(1, '[""]'))
    other = suite.head + prompts.format(2, '["Say: ", "Tell: "]')
    (suite.folder / "a.yaml").write_text(other)
    for _ in range(2):
        suite.pytester.runpytest("--maxrandom-json=r.json")
        claims = json.loads((suite.pytester.path / "r.json").read_text())["claims"]
        assert [claim["tries"]["run"] for claim in claims] == [2, 1]
        for claim in claims:
            assert (claim["t"], claim["tries"]["distinct_prompts"]) == (3, 3)


def test_a_model_by_another_name_or_quantized_otherwise_does_not_reset_t(
    real_suite: Suite,
) -> None:
    suite = real_suite
    suite.run("")
    named = _model(suite)
    suite.head = suite.head.replace(named, f"{named}/.")
    assert suite.run("Say:\n")["t"] == 2
    suite.head = suite.head.replace(f"{named}/.", named)
    suite.head = suite.head.replace("quantization: none", "quantization: nf4")
    with pytest.raises(KeyError, match="none"):  # the claim has another name now
        suite.run("")
    report = json.loads((suite.pytester.path / "r.json").read_text())
    assert [claim["t"] for claim in report["claims"]] == [3]


def test_the_type_that_is_computed_in_is_no_part_of_a_try(real_suite: Suite) -> None:
    suite = real_suite
    suite.run("")
    head, computed = suite.head, []
    for dtype in ("bfloat16", "float32"):
        suite.head = head.replace("quantization: none", f"quantization: none\n    dtype: {dtype}")
        found = suite.run("")
        assert (found["t"], found["tries"]["look"]) == (1, 1)
        computed.append((found["engine"]["dtype"], found["engine"]["reused"]))
    assert len(suite.lines("prompt")) == 1
    # The store tells them apart: each was put through the model.
    assert computed == [("bfloat16", 0), ("float32", 0)]


def test_a_test_set_that_was_seen_before_is_told(suite: Suite) -> None:
    suite.run("")
    claim = suite.run("", task="    test: {fraction: 0.25}\n")
    assert claim["test"]["seen"] == claim["test"]["n"] == 6


def _model(suite: Suite) -> str:
    return next(
        line.partition("name: ")[2] for line in suite.head.splitlines() if "- name: " in line
    )


def test_a_budget_is_t_from_the_first_look_on_and_is_never_exceeded(suite: Suite) -> None:
    def budgeted(words: str, budget: int) -> dict[str, Any]:
        count = len(json.loads(words))
        suite.path.write_text(
            f"{suite.head}prompts: {{shots: 0, count: {count}, instructions: {words}, "
            f"budget: {budget}}}\nallow_unpassable: true\n"
        )
        return suite.again()

    first = budgeted('["", "x"]', 3)
    assert (first["t"], first["tries"]["counted"], first["tries"]["claim"]) == (3, "budget", 2)
    assert first["p_max"] == pytest.approx(p_max(first["best_correct"], 3), rel=1e-9)
    refused = budgeted('["y", "z"]', 3)
    assert refused["outcome"] == "error"
    assert "budget" in refused["message"]
    assert "4" in refused["message"]
    assert len(suite.lines("prompt")) == 2
    assert budgeted('["", "z"]', 3)["tries"]["claim"] == 3
    again = budgeted('["x", "z"]', 2)
    assert (again["t"], again["tries"]["counted"]) == (3, "claim")


def test_the_test_set_is_opened_for_a_claim_that_passed_and_only_once(suite: Suite) -> None:
    test = "    test: {fraction: 0.25}\n"
    closed = suite.run("", task=test, arguments=("--maxrandom-no-test",))
    assert closed["test"] is None
    assert suite.lines("opening") == []
    opened = suite.run("", task=test)
    assert (opened["n"], opened["test"]["n"]) == (N - 6, 6)
    assert (opened["test"]["correct"], opened["test"]["openings"]) == (6, 1)
    assert opened["test"]["p_standard"] == pytest.approx(0.5**6)
    assert opened["test"]["low"] == pytest.approx(
        stats.binomtest(6, 6).proportion_ci(method="wilson").low
    )
    again = suite.run("", task=test)
    assert again["test"] == opened["test"]
    assert len(suite.lines("opening")) == 1
    ids = set(opened["validation_ids"])
    assert len(ids) == N - 6


def test_a_claim_that_fails_leaves_the_test_set_closed(
    pytester: pytest.Pytester, suites: Path
) -> None:
    path = suites / "suite.yaml"
    path.write_text(
        path.read_text().replace("    xfail:", "    test: {fraction: 0.25}\n    xfail:")
    )
    pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    (fails,) = [claim for claim in claims if claim["task"] == "unknown"]
    assert (fails["outcome"], fails["test"]) == ("xfailed", None)
    assert "6 examples are still closed" in (pytester.path / "r.md").read_text()
    assert "opening" not in {line["kind"] for line in ledger_of(suites)}


def test_a_ledger_that_cannot_be_read_stops_the_claim_in_one_line(suite: Suite) -> None:
    suite.run("")
    (path,) = suite.folder.glob("maxrandom-ledger-simulated/*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "<<<<<<< HEAD\n", *lines[1:]]))
    claim = suite.run("Say:\n")
    assert claim["outcome"] == "error"
    assert f"{path.name}:2" in claim["message"]
    assert "\n" not in claim["message"]
    suite.result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    "arguments", [pytest.param(("-n2",), marks=pytest.mark.slow), ("-p", "no:xdist")]
)
def test_workers_count_as_one_process_does(suite: Suite, arguments: tuple[str, ...]) -> None:
    first = suite.run("", "Say:\n", arguments=arguments)
    assert first["tries"]["claim"] == 2
    second = suite.again(*arguments)
    assert second["engine"]["reused"] == 2
    assert second["tries"] == first["tries"]


def test_predictions_go_to_a_file_of_their_own(suite: Suite) -> None:
    claim = suite.run("", "Say:\n", arguments=("--maxrandom-predictions=p.jsonl",))
    text = (suite.pytester.path / "p.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 2
    assert list(suite.pytester.path.glob("*.part")) == []
    assert {row["claim"] for row in rows} == {claim["id"]}


def test_a_claim_of_the_test_set_is_tested_there(suite: Suite) -> None:
    claimed = "    test: {fraction: 0.5}\n    assert: {p_max: 0.05, test_p: 0.1, red_flags: warn}\n"
    held = suite.run("", task=claimed)
    assert (held["outcome"], held["holds"]) == ("passed", True)
    assert held["test"]["p"] <= 0.1
    assert held["assert"]["test_p"] == 0.1
    again = suite.run("", task=claimed, arguments=("--maxrandom-no-test",))
    assert (again["outcome"], again["holds"], again["test"]) == ("failed", None, None)
    assert "--maxrandom-no-test keeps the test set closed" in again["message"]


def test_a_claim_fails_that_its_test_set_does_not_confirm(suite: Suite) -> None:
    # A test set that the model does not know.
    rows = (suite.folder / "data" / "unknown.jsonl").read_text().splitlines()
    others = [json.loads(row) for row in rows]
    text = "".join(json.dumps({**row, "input": f"{row['input']}!"}) + "\n" for row in others)
    (suite.folder / "data" / "test.jsonl").write_text(text)
    test = "    test: {path: data/test.jsonl}\n"
    told = suite.run("", task=test)
    assert (told["outcome"], told["test"]["n"]) == ("passed", N)
    failed = suite.run("", task=f"{test}    assert: {{test_p: 0.05}}\n")
    assert (failed["outcome"], failed["holds"], failed["passed"]) == ("failed", False, False)
    assert failed["p_max"] <= 0.05
    assert failed["test"]["p"] > 0.05
    assert failed["message"].startswith(f"{failed['test']['correct']} of {N} correct on the test")
    suite.result.stdout.fnmatch_lines(["*correct on the test set*is above .05*"])


@pytest.mark.parametrize("files", ["shared", "one host's"])
def test_t_looks_and_budget_do_not_depend_on_who_shares_the_files(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, files: str
) -> None:
    monkeypatch.setenv("MAXRANDOM_SHARED_FILES", "yes" if files == "shared" else "no")
    # Each run in this test is one process, and so one writer, for each of which there is a file.
    writers = iter(f"{number:012x}" for number in range(9))
    monkeypatch.setattr(set_files, "_writer", functools.cache(lambda process: next(writers)))
    suite.run("", "Say:\n")
    monkeypatch.setattr(set_files, "_writer", functools.cache(lambda process: next(writers)))
    claim = suite.run("Tell:\n", "Say:\n")
    assert (claim["t"], claim["tries"]["claim"], claim["tries"]["look"]) == (3, 3, 2)
    assert suite.run("Ask:\n")["t"] == 4
    suite.path.write_text(suite.path.read_text().replace("count: 1,", "count: 1, budget: 3,"))
    suite.path.write_text(suite.path.read_text().replace("Ask", "Do"))
    suite.again()
    suite.result.stdout.fnmatch_lines("*the budget of 3 prompts would be exceeded*5 would have*")
    folder = suite.folder / "maxrandom-ledger-simulated"
    assert len(list(folder.glob("*.jsonl"))) == (2 if files == "shared" else 1)

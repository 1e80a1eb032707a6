"""The check of labels as an item of pytest: ids, workers, interruptions, marks and reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.sweeps.store import Store
from tests.plugin.label_suite import BALANCED, BIAS, CLAIM, FEW, MAJORITY, LabelSuite, told


@pytest.fixture
def suite(pytester: pytest.Pytester) -> LabelSuite:
    return LabelSuite(pytester)


def test_the_check_is_selected_by_its_id_and_runs_alone_like_after_its_claim(
    suite: LabelSuite,
) -> None:
    suite.write("prefers: A", FEW, "label_bias: {check: move}", t=3)
    alone = suite.run(f"eval_suites/suite.yaml::{BIAS}")
    assert alone.keys() == {BIAS}
    prompts = suite.ledger()
    assert len(prompts) == 3
    both = suite.run()
    assert list(both) == [CLAIM, BIAS]
    assert suite.ledger() == prompts  # nothing but the claim's own prompts is a try
    assert both[CLAIM]["t"] == 3
    assert both[CLAIM]["engine"]["requests"] == 0
    assert told(both[BIAS]) == told(alone[BIAS])
    assert both[BIAS]["engine"]["requests"] == 0 < alone[BIAS]["engine"]["requests"]
    assert both[BIAS]["engine"]["reused"] > 0
    assert suite.run("-k", "label_bias").keys() == {BIAS}
    assert suite.run("-k", "not label_bias").keys() == {CLAIM}


def test_what_failed_last_runs_again_alone_and_is_shown_by_an_id_that_selects_it(
    suite: LabelSuite,
) -> None:
    suite.write("prefers: A", FEW, "assert: report\nlabel_bias: {}", t=2)
    suite.run("--junitxml=junit.xml")
    suite.result.assert_outcomes(passed=1, failed=1)
    suite.result.stdout.fnmatch_lines([f"FAILED eval_suites/suite.yaml::{escaped(BIAS)} - Nvr-X*"])
    junit = (suite.pytester.path / "junit.xml").read_text()
    assert f'name="{BIAS}"' in junit
    assert "cloze_score" in junit
    assert suite.run("--lf").keys() == {BIAS}
    suite.run("--ff")
    suite.result.stdout.fnmatch_lines(["eval_suites/suite.yaml F. *"])
    suite.write("prefers: A", FEW, "assert: report\nlabel_bias: {assert: report}", t=2)
    suite.run("--lf")
    suite.result.assert_outcomes(passed=1)
    suite.result.stdout.no_fnmatch_line("*known failures*")
    assert list(suite.run("--lf")) == [CLAIM, BIAS]


def escaped(node_id: str) -> str:
    """An id as a pattern of fnmatch."""
    return node_id.replace("[", "[[]")


@pytest.mark.slow
def test_workers_say_of_the_check_and_its_claim_what_one_process_says(suite: LabelSuite) -> None:
    suite.write("prefers: A", FEW[:8], "label_bias: {check: move}", t=2)
    one = suite.run()
    (suite.pytester.path / ".maxrandom" / "results-simulated.db").unlink()
    # Each is asked on a worker of its own, at the same time; then what is stored is read on one.
    for dist in ("loadscope", "load"):
        found = suite.run("-n", "2", "--dist", dist, "--junitxml=junit.xml", "-v")
        assert list(found) == [CLAIM, BIAS]
        assert f'name="{BIAS}"' in (suite.pytester.path / "junit.xml").read_text()
        assert told(found[BIAS]) == told(one[BIAS])
        assert found[CLAIM]["t"] == 2
        workers = {line.split()[0] for line in suite.result.outlines if line.startswith("[gw")}
        assert len(workers) == (2 if dist == "loadscope" else 1)
    assert len(suite.ledger()) == 2


def test_an_interrupted_check_goes_on_where_it_stopped(
    suite: LabelSuite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.write("prefers: A", FEW, "label_bias: {check: move, interactions: [cloze]}", t=4)
    whole = suite.run()[BIAS]
    (suite.pytester.path / ".maxrandom" / "results-simulated.db").unlink()
    put, kept = Store.put, 0

    def stop(store: Store, key: Any, stored: Any) -> None:
        nonlocal kept
        put(store, key, stored)
        kept += 1
        if kept == 6:  # two of the four prompts' placements
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "put", stop)
        result = suite.pytester.inline_run(no_reraise_ctrlc=True)
        assert result.ret == pytest.ExitCode.INTERRUPTED
    rest = suite.run()[BIAS]
    assert rest["engine"]["reused"] == 2
    # two prompts' further placements, and the control texts of each instruction in all orders
    assert rest["engine"]["requests"] == 2 * 24 * 3 * 4 + 4 * 24 * 4
    assert told(rest) == told(whole)
    assert len(suite.ledger()) == 4


def test_marks_of_the_claim_are_the_checks(suite: LabelSuite) -> None:
    suite.pytester.makeini("[pytest]\nmarkers =\n    hard: hard\n")
    suite.write("prefers: A", FEW, "marks: [hard]\nlabel_bias: {assert: report}", t=1)
    assert suite.run("-m", "hard").keys() == {CLAIM, BIAS}
    assert suite.run("-m", "not hard").keys() == set()


def test_fresh_asks_everything_again(suite: LabelSuite) -> None:
    suite.write("prefers: A", FEW, "label_bias: {check: move, assert: report}", t=2)
    first = suite.run()
    again = suite.run("--maxrandom-fresh")
    assert again[BIAS]["engine"]["requests"] == first[BIAS]["engine"]["requests"] > 0
    assert told(again[BIAS]) == told(first[BIAS])


def test_recorded_results_have_their_labels_checked_too(suite: LabelSuite) -> None:
    given = np.zeros((2, 100), dtype=np.int64)
    gold = np.array(MAJORITY)
    np.savez(
        suite.folder / "m.npz",
        letters__0__correct=given == gold,
        letters__0__evaluated=given >= 0,
        letters__0__prompt_ids=[0, 1],
        letters__0__example_ids=np.arange(100),
        letters__0__answers=given,
        letters__0__gold=gold,
        letters__0__choices=np.full(100, 4),
    )
    (suite.folder / "suite.yaml").write_text(
        "models: [{name: m, backend: recorded, if_missing: get it,\n"
        "  results: {path: m.npz, format: npz}}]\n"
        "tasks: [{name: letters}]\nprompts: {shots: [0]}\nassert: report\nlabel_bias: {}\n"
    )
    found = suite.run()
    bias = found["letters[m-0shot]::label_bias"]
    assert (bias["finding"], bias["outcome"]) == ("label preference", "failed")
    assert (bias["check"], bias["base_rate"]) == ("recall", "off")
    suite.result.assert_outcomes(passed=1, failed=1)
    (suite.folder / "m.npz").unlink()
    found = suite.run()
    suite.result.assert_outcomes(skipped=2)
    assert [record["message"] for record in found.values()] == ["get it"] * 2


def test_replicates_and_arms_stand_beside_the_check(suite: LabelSuite) -> None:
    suite.write(
        "prefers: A",
        BALANCED,
        "assert: report\nreplicates: 2\narms: {a: {}, b: {knows: 0.0}}\ncompare: [a - b]\n"
        "label_bias: {assert: report}",
        t=2,
        task="validation: {max_examples: 40}",
    )
    found = suite.run()
    suite.result.assert_outcomes(passed=7)
    names = [f"letters[{arm}-0shot]" for arm in "ab"]
    assert list(found) == [*names, *(f"{name}::label_bias" for name in names)]
    alone = [each["interactions"] for each in found.values() if "interactions" in each]
    assert alone[0] == alone[1]
    suite.result.stdout.fnmatch_lines(["*::replicates*"])

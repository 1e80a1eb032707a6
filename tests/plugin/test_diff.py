"""`--maxrandom-diff`: what changed since an earlier report, at the end of a run."""

from __future__ import annotations

import json
import random
from itertools import product
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.cli import main
from tests.repositories import begin_repository, commit

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = ("-p", "no:cacheprovider", "--maxrandom-json=r.json")


@pytest.fixture
def tested(pytester: pytest.Pytester) -> Path:
    """A test whose best count stands in a file."""
    (pytester.path / "best.txt").write_text("64")
    pytester.makepyfile(
        """
        from pathlib import Path

        def test_it(maxrandom):
            best = int(Path("best.txt").read_text())
            maxrandom.check(best_correct=best, n=100, t=10, chance=0.5, p_max=0.05, task="sums")
        """
    )
    return pytester.path


def test_the_report_of_the_last_run_may_be_the_base_and_be_written_anew(
    pytester: pytest.Pytester, tested: Path
) -> None:
    pytester.runpytest(*OPTIONS).assert_outcomes(passed=1)
    (tested / "best.txt").write_text("60")
    result = pytester.runpytest(*OPTIONS, "--maxrandom-diff=r.json")
    result.assert_outcomes(failed=1)
    # By scipy.stats.binom(100, .5): the best of 10 needs 64 right answers at .05.
    result.stdout.fnmatch_lines(
        [
            "Since r.json (20*): 1 claim fell",
            "fell: *test_it",
            "*before*.640*.640*100*10*passes (p_max only)",
            "*now*.600*.640*100*10*fails",
            "*best accuracy .640 to .600*",
        ]
    )
    assert json.loads((tested / "r.json").read_text())["claims"][0]["best_correct"] == 60


def answer(path: Path, lost: float) -> None:
    """Write answers of 8 prompts to 300 examples, less a share that is lost."""
    draw, losing = random.Random(1), random.Random(2)
    rows = ["prompt,example,prediction,gold,choices"]
    for prompt, example in product(range(8), range(300)):
        right, wrong = ("yes", "no") if example % 2 else ("no", "yes")
        said = right if draw.random() < 0.8 else wrong
        rows.append(f"{prompt},{example},{wrong if losing.random() < lost else said},{right},2")
    path.write_text("\n".join(rows))


def test_a_run_that_passes_fails_where_its_answers_are_worse(pytester: pytest.Pytester) -> None:
    (pytester.path / "mine.maxrandom.yaml").write_text(
        "models:\n  - {name: small, backend: recorded, "
        "results: {path: results.csv, format: table, shots: 4}}\ntasks:\n  - {name: sports}\n"
    )
    answer(pytester.path / "results.csv", 0.0)
    pytester.runpytest(*OPTIONS).assert_outcomes(passed=1)
    asserted = ("--maxrandom-diff=r.json", "--maxrandom-diff-assert=not_worse_than=-0.02")
    same = pytester.runpytest(*OPTIONS, *asserted)
    assert same.ret == pytest.ExitCode.OK
    same.stdout.fnmatch_lines(["1 claim has the very same answers"])
    answer(pytester.path / "results.csv", 0.1)
    worse = pytester.runpytest(*OPTIONS, *asserted)
    worse.assert_outcomes(passed=1)
    assert worse.ret == pytest.ExitCode.TESTS_FAILED
    worse.stdout.fnmatch_lines(["1 claim is worse than r.json", "worse *sports*"])
    told = json.loads((pytester.path / "r.json").read_text())
    assert [each["loss"] for each in told["regressions"]["claims"]] == ["worse"]
    assert told["claims"][0]["different_answers"] == 2  # as the ledger counts them


def test_the_store_stands_for_a_report_that_nobody_kept(
    pytester: pytest.Pytester, suites: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytester.runpytest(*OPTIONS, "eval_suites", "--maxrandom-json=kept.json")
    copytree(suites, pytester.path / "before" / "eval_suites")  # as of another checkout
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("backend: mock", "backend: mock\n    seed: 1"))
    pytester.runpytest(*OPTIONS, "eval_suites")
    found = []
    asserted = ["r.json", "--assert", "not_worse_than=-0.02", "--format", "json"]
    for base in ("kept.json", "before/eval_suites/suite.yaml"):
        capsys.readouterr()
        assert main(["diff", base, *asserted]) == 1
        found.append(json.loads(capsys.readouterr().out)["regressions"]["claims"])
    assert found[0] == found[1]
    main(["diff", base, "r.json"])
    said = capsys.readouterr().out
    assert said.startswith(f"Since {base}: ")
    assert said.count("  stored answers") == 2
    assert main(["diff", "r.json", base]) == 2
    assert "a suite can be BASE only" in capsys.readouterr().err
    told = pytester.runpytest("eval_suites", f"--maxrandom-diff={base}", *OPTIONS,
                              "--maxrandom-diff-assert=not_worse_than=-0.02")  # fmt: skip
    told.stdout.fnmatch_lines(["1 claim is worse than before/eval_suites/suite.yaml; *"])
    assert main(["diff", base, *asserted, "--store", "none.db"]) == 2
    assert "none.db lacks answers of " in capsys.readouterr().err
    suite.rename(suites / "renamed.yaml")
    pytester.runpytest(*OPTIONS, "eval_suites")
    capsys.readouterr()
    assert main(["diff", base, *asserted]) == 1
    moved = json.loads(capsys.readouterr().out)["regressions"]["claims"]
    assert {each["moved_from"] for each in moved} == {base}
    assert [each["p_worse"] for each in moved] == [each["p_worse"] for each in found[0]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--maxrandom-diff-assert=not_worse_than=0"], "*give it with --maxrandom-diff BASE*"),
        (
            ["--maxrandom-diff=r.json", "--maxrandom-diff-assert=better"],
            "*found 'better', expected*",
        ),
    ],
)
def test_what_cannot_be_asserted_is_a_mistake_of_the_user(
    pytester: pytest.Pytester, tested: Path, options: list[str], sentence: str
) -> None:
    result = pytester.runpytest(*OPTIONS, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([sentence])


def test_a_revision_at_which_the_report_is_kept_may_be_the_base(
    pytester: pytest.Pytester, tested: Path
) -> None:
    pytester.runpytest(*OPTIONS)
    begin_repository(tested)
    commit(tested)
    (tested / "best.txt").write_text("60")
    result = pytester.runpytest(*OPTIONS, "--maxrandom-diff=main")
    result.stdout.fnmatch_lines(["Since main (20*): 1 claim fell"])


def test_a_model_that_changed_is_the_reason(pytester: pytest.Pytester, suites: Path) -> None:
    pytester.runpytest(*OPTIONS, "eval_suites")
    suite = suites / "suite.yaml"
    suite.write_text(suite.read_text().replace("backend: mock", "backend: mock\n    seed: 1"))
    result = pytester.runpytest(*OPTIONS, "eval_suites", "--maxrandom-diff=r.json")
    result.stdout.fnmatch_lines(["*the model is not the same; t from *"])


def test_outcomes_do_not_depend_on_it(pytester: pytest.Pytester, tested: Path) -> None:
    pytester.runpytest(*OPTIONS)
    report = json.loads((tested / "r.json").read_text())
    first = report["claims"][0]
    report["claims"].append({**first, "id": "gone"})
    report["claims"].append({**first, "id": "other.py::test", "suite": "other.py"})
    (tested / "base.json").write_text(json.dumps(report))
    result = pytester.runpytest(*OPTIONS, "--maxrandom-diff=base.json")
    assert result.ret == 0
    # The file of the other one is not a file of this run.
    result.stdout.fnmatch_lines(["Since base.json (20*): 1 is gone; 1 is as before"])


@pytest.mark.parametrize("selected", [["-k", "test_it"], ["--deselect", "x"], None])
def test_nothing_is_gone_where_tests_are_selected(
    pytester: pytest.Pytester, tested: Path, selected: list[str] | None
) -> None:
    pytester.runpytest(*OPTIONS)
    report = json.loads((tested / "r.json").read_text())
    report["claims"].append({**report["claims"][0], "id": "gone"})
    (tested / "base.json").write_text(json.dumps(report))
    by_id = [report["claims"][0]["id"]]
    result = pytester.runpytest(*OPTIONS, "--maxrandom-diff=base.json", *(selected or by_id))
    result.stdout.fnmatch_lines(["Since base.json (20*): nothing changed; 1 is as before"])


@pytest.mark.parametrize("base", ["none.json", "main"])
def test_without_the_base_nothing_is_run(
    pytester: pytest.Pytester, tested: Path, base: str
) -> None:
    result = pytester.runpytest(*OPTIONS, f"--maxrandom-diff={base}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --maxrandom-diff: {base}: no such file, and *"])
    result.stdout.no_fnmatch_line("*test_it*")
    assert not (tested / "r.json").exists()

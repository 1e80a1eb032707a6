"""A run that asks for it fails on a skip that no list names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.expected_skips import CONDITIONS, Expected

TESTS = Path(__file__).parents[1]


@pytest.fixture
def skipping(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """One test that is skipped, one module that is, and one test that runs."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS.parent))
    monkeypatch.delenv("MAXRANDOM_SKIPS", raising=False)
    pytester.makepyfile(
        test_some=(
            "import pytest\n"
            "def test_runs(): pass\n"
            "@pytest.mark.skip(reason='no such processor')\n"
            "def test_skips(): pass\n"
        ),
        test_module="import pytest\npytest.importorskip('no_such_library')\n",
    )
    return pytester


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "tests.expected_skips", *arguments)


@pytest.mark.parametrize("workers", [[], pytest.param(["-n", "2"], marks=pytest.mark.slow)])
def test_a_skip_that_no_list_names_fails_the_run(
    skipping: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: list[str]
) -> None:
    assert run(skipping, *workers).ret == pytest.ExitCode.OK
    some = skipping.path / "some.txt"
    some.write_text("# comment\n\ntest_some.py::* | no such *\n")
    monkeypatch.setenv("MAXRANDOM_SKIPS", str(some))
    result = run(skipping, *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["*skips that no list names*", "test_module.py: *no_such_library*"])
    result.stdout.no_fnmatch_line("test_some.py::test_skips: *")
    rest = skipping.path / "rest.txt"
    monkeypatch.setenv("MAXRANDOM_SKIPS", f"{some}:{rest}")
    for named in ("test_module.py", "test_module.py::*"):
        rest.write_text(f"{named} | could not import 'no_such_library'* |\n")
        assert run(skipping, *workers).ret == pytest.ExitCode.OK


def test_a_line_counts_where_its_condition_holds(tmp_path: Path) -> None:
    path = tmp_path / "skips.txt"
    path.write_text("* | * | avx512_bf16\n* | * | no avx512_bf16\n")
    has, has_not = (line.names("test_a.py::test_b", "why") for line in Expected.read(path))
    assert has is not has_not


def test_a_line_that_says_nothing_is_a_mistake(
    skipping: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line, found in (("* | * | on Mondays", "on Mondays"), ("test_some.py", "test_some.py")):
        (skipping.path / "skips.txt").write_text(f"\n{line}\n")
        monkeypatch.setenv("MAXRANDOM_SKIPS", str(skipping.path / "skips.txt"))
        result = run(skipping)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: *skips.txt:2: found *{found}*, expected NODE IDS*"])


def test_the_lists_of_the_project_can_be_read_and_name_files_that_exist() -> None:
    for path in TESTS.glob("expected_skips*.txt"):
        for line in Expected.read(path):
            assert line.condition in CONDITIONS
            assert list(TESTS.parent.glob(line.node_ids.partition("::")[0]))

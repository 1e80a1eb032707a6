"""`make test` and `make check` have no test in common, and together all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import targets

ROOT = Path(__file__).parents[2]
FILES = {
    "proof/test_proof.py": "def test_a_cut(): pass",
    "unit/test_law.py": (
        "import pytest\n"
        "def test_law(): pass\n"
        "@pytest.mark.slow\n"
        "def test_simulation(): pass\n"
        "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.slow)])\n"
        "def test_law_of(n): pass\n"
    ),
    "unit/test_trained.py": (
        "import pytest\npytestmark = pytest.mark.slow\ndef test_training(): pass\n"
    ),
    "proofs/test_other.py": "def test_of_a_folder_whose_name_begins_alike(): pass",
    "test_top.py": "def test_top(): pass",
}
OF_TEST = {
    "test_law",
    "test_law_of[1]",
    "test_of_a_folder_whose_name_begins_alike",
    "test_top",
}


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Tests of all kinds, in folders and with marks."""
    tests = pytester.mkdir("tests")
    for name, text in FILES.items():
        (tests / name).parent.mkdir(exist_ok=True)
        (tests / name).write_text(text)
    pytester.makeini("[pytest]\nmarkers =\n    slow: takes long\n")
    monkeypatch.setattr(targets, "TESTS", tests)
    return pytester


def run(pytester: pytest.Pytester, *arguments: str) -> tuple[set[str], str]:
    """Return the names of the tests that a run has, and what it writes."""
    result = pytester.runpytest_inprocess("-v", "-p", "tests.targets", *arguments)
    out = result.stdout.str()
    lines = (line.partition("::")[2] for line in out.splitlines() if " PASSED" in line)
    return {line.partition(" PASSED")[0] for line in lines}, out


def test_each_test_is_in_one_of_the_two_targets(suite: pytest.Pytester) -> None:
    everything, _ = run(suite)
    test, _ = run(suite, "--target=test")
    check, _ = run(suite, "--target=check")
    assert test == OF_TEST
    assert test | check == everything
    assert not test & check
    assert len(everything) == 8


def test_the_targets_say_what_they_leave_out_and_why(suite: pytest.Pytester) -> None:
    _, out = run(suite, "--target=test")
    for folder, why in targets.CHECKED.items():
        assert f"  tests/{folder}: {why}\n" in out
    assert f"  tests marked slow: {targets.WHY_SLOW}\n" in out
    _, out = run(suite, "--target=check")
    assert "\nmake check: what `make test` leaves out" in out
    _, out = run(suite)
    assert "make check" not in out


def test_the_targets_are_those_of_the_makefile_and_their_folders_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("test", "check"):
        assert f"\n{target}: $(READY)" in makefile
        assert f" --target={target}\n" in makefile
    assert all(list((ROOT / "tests" / folder).glob("test_*.py")) for folder in targets.CHECKED)

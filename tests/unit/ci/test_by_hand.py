"""What the code of hand-written tests asserts, compared without running it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.ci.by_hand import COMPUTED, asks_less, hand_written
from pytest_maxrandom.ci.stated import stated_in
from tests.integration.attacks.attack import BY_HAND as TEST
from tests.integration.attacks.of_tests import INHERITED

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "from fractions import Fraction\nimport levels\n\nP = 0.05\n"
TWO = TEST + "    maxrandom.check(best_correct=70, n=100, t=10, chance=0.5, beats='max_random')\n"
NAMED = TEST.replace("0.05", "P")
COMPUTES = TEST.replace("0.05", "levels.MOST")
READS = TEST.replace("0.05", "float(open('level.txt').read())")
SCORES = TEST.replace(
    "best_correct=70, n=100, t=10, chance=0.5, p_max=0.05", "scores=[S], beats=0.62"
)
GUARDED = SCORES.replace("beats", "control=[0.1], clusters=[1], beats")
SEVERAL = TEST.replace("def", "import pytest\n\n@pytest.mark.parametrize('best', [1, 2])\ndef")
OF_FIXTURE = TEST.replace(
    "def", "import pytest\n\n@pytest.fixture(params=[1, 2])\ndef r(): pass\n\ndef"
)
OWN_FIXTURE = """
import pytest

@pytest.fixture
def claims(maxrandom):
    return lambda best: maxrandom.check(best_correct=best, n=100, t=10, chance=0.5, p_max=0.05)

def test_one(claims):
    claims(70)
"""


def compared(folder: Path, before: dict[str, str], now: dict[str, str]) -> list[tuple[str, ...]]:
    """Return what a change of files takes from the one claim that they make."""
    found = []
    for name, files in (("before", before), ("now", now)):
        for file, text in files.items():
            (folder / name).mkdir(exist_ok=True)
            (folder / name / file).write_text(text)
        known = [PurePosixPath(file) for file in files]
        stated = stated_in(folder / name, [PurePosixPath("test_claims.py")], known)
        assert stated.unread == {}
        found.append(stated.claims[0].numbers)
    return [(kind, *weaker) for kind, weaker, _, _ in asks_less(found[1], found[0])]


def files(test: str, level: str = "MOST = 0.05\n", told: str = "0.05") -> dict[str, str]:
    return {"test_claims.py": HEAD + test, "levels.py": level, "level.txt": told}


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        (TEST, TEST, []),
        (TEST, TEST.replace("0.05", "0.5"), [("weakened", "asserts")]),
        (TEST, TEST.replace("0.05", "0.01"), []),
        (TEST, TEST.replace("0.05", "1 / 20"), []),
        (TEST, TEST.replace("0.05", "1 / 2"), [("weakened", "asserts")]),
        (TEST, TEST.replace(", p_max=0.05", ", beats='standard'"), [("weakened", "asserts")]),
        (TEST, TEST.replace("t=10", "t=1"), [("weakened", "t")]),
        (TEST, TEST.replace("t=10", "t=20"), []),
        (TEST, TEST.replace("chance=0.5", "chance=1/4"), [("weakened", "chance")]),
        (TEST, TEST.replace("chance=0.5", "chance=Fraction(1, 2)"), []),
        (TEST, TEST.replace("best_correct=70", "best_correct=71"), []),
        (TWO, TEST, [("weakened", "asserts")]),
        (TWO, TWO.replace("max_random", "standard"), [("weakened", "asserts")]),
        (TEST, TWO, []),
        (NAMED, NAMED, []),
        (TEST, NAMED, []),
        (TEST, COMPUTES, [("uncompared", "computed")]),
        (COMPUTES, COMPUTES, []),
        (COMPUTES, COMPUTES + "\ndef test_two():\n    pass\n", []),
        (COMPUTES, COMPUTES.replace("t=10", "t=9"),
         [("weakened", "t")]),
        (TEST, TEST.replace("p_max=0.05", "**{'p_max': 0.5}"), [("uncompared", "computed")]),
        (INHERITED, INHERITED.replace("0.05", "0.5"), [("weakened", "asserts")]),
        (TEST, TEST.replace("0.05", "'high'"), [("uncompared", "computed")]),
        (TEST, TEST.replace("0.05", "[1]"), [("uncompared", "computed")]),
        (TEST, TEST.replace("0.05", f"{10**400} / 2.0"), [("uncompared", "computed")]),
        (TEST, TEST.replace("t=10", "t='ten'"), [("uncompared", "computed")]),
        (TEST, TEST.replace("p_max=0.05", "p_max=None"), [("weakened", "asserts")]),
        (TEST, "NONSENSE = {[1]: 2}\n" + TEST, []),
        (SCORES, SCORES.replace("0.62", "0.7"), []),
        (SCORES, SCORES.replace("0.62", "0.6"), [("weakened", "asserts")]),
        (SCORES, SCORES.replace("beats", "baseline_p=0.05, beats"), []),
        (SCORES, SCORES.replace("beats", "baseline_p=0.4, beats"), [("weakened", "asserts")]),
        (GUARDED, GUARDED, []),
        (GUARDED, GUARDED.replace("beats", "control_p=0.4, beats"), [("weakened", "asserts")]),
        (GUARDED, GUARDED.replace("clusters=[1], ", ""), [("weakened", "clusters")]),
        (GUARDED, GUARDED.replace("control=[0.1], ", ""), [("weakened", "asserts", "control")]),
        (SEVERAL, SEVERAL.replace("[1, 2]", "[1]"), [("uncompared", "computed")]),
        (SEVERAL, SEVERAL + "\ndef test_two():\n    pass\n", []),
        (OF_FIXTURE, OF_FIXTURE.replace("[1, 2]", "[1]"), [("uncompared", "computed")]),
        (OWN_FIXTURE, OWN_FIXTURE, []),
        (OWN_FIXTURE, OWN_FIXTURE.replace("0.05", "0.5"), [("uncompared", "computed")]),
    ],
)  # fmt: skip
def test_what_a_change_of_a_test_takes_from_its_claim(
    tmp_path: Path, before: str, now: str, found: list[tuple[str, ...]]
) -> None:
    assert compared(tmp_path, files(before), files(now)) == found


def test_what_computes_a_threshold_is_followed_through_imports_and_names_of_files(
    tmp_path: Path,
) -> None:
    anew = [("uncompared", "computed")]
    changed = files(NAMED) | {"test_claims.py": (HEAD + NAMED).replace("P = 0.05", "P = 0.5")}
    assert compared(tmp_path, files(NAMED), changed) == [("weakened", "asserts")]
    assert compared(tmp_path, files(COMPUTES), files(COMPUTES, level="MOST = 0.5\n")) == anew
    assert compared(tmp_path, files(READS), files(READS, told="0.5")) == anew
    assert compared(tmp_path, files(COMPUTES), files(COMPUTES, level="MOST = 0.05  # \n")) == []
    (tmp_path / "now" / "level.json").write_text("{}")  # which git ignores
    named = files(COMPUTES + "    open('level.json')\n")
    assert compared(tmp_path, named, named) == []


def test_a_name_that_is_given_twice_is_no_literal(tmp_path: Path) -> None:
    path = tmp_path / "test_claims.py"
    path.write_text(f"{HEAD}P = 0.5\n{NAMED}")
    (found,) = hand_written(path, tmp_path, [])
    assert found.numbers["checks"] == ({"t": 10, "chance": Fraction(1, 2), "p_max": COMPUTED},)
    assert found.numbers["code"]

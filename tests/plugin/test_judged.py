"""The fixture's `judge`: results in memory, in a test of one's own, in the same reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def test_results_in_memory_are_judged_in_a_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import random
        import pytest
        from pytest_maxrandom import judge

        DRAW = random.Random(1)
        RIGHT = [DRAW.choice(["yes", "no", "no"]) for _ in range(42)]
        TABLES = {
            "knows": [RIGHT, RIGHT[1:] + RIGHT[:1]],
            "prefers": [["no"] * 42, ["no"] * 41 + ["yes"]],
        }

        def table(name):
            return [
                {"prompt": p, "example": e, "prediction": said, "gold": RIGHT[e]}
                for p, row in enumerate(TABLES[name]) for e, said in enumerate(row)
            ]

        @pytest.mark.parametrize("name", TABLES)
        def test_it(maxrandom, name):
            found = judge(table(name), choices=["yes", "no"], model="m")
            try:
                record = maxrandom.judge(table(name), choices=["yes", "no"], model="m")
            finally:
                [mine] = maxrandom._records
                assert mine.correct_counts == found.record.correct_counts
                assert (mine.passed, mine.permutation_p) == (found.passed, found.permutation_p)
            assert record is mine

        def test_open(maxrandom):
            rows = [row | {"reference": str(row["example"])} for row in table("knows")]
            rows = [row | {"prediction": row["reference"], "input": "Which?"} for row in rows]
            rows = [{k: v for k, v in row.items() if k != "gold"} for row in rows]
            assert maxrandom.judge(rows, input="input").roles == {"number": 42}

        def test_untold(maxrandom):
            maxrandom.judge({"prompt": [0] * 9, "example": range(9), "correct": [1] * 9}, choices=2)

        def test_column(maxrandom):
            maxrandom.judge(table("knows"), gold="label", choices=2)

        def test_argument(maxrandom):
            maxrandom.judge(table("knows"), golds="label")
        """
    )
    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=2, failed=4)
    result.stdout.fnmatch_lines(
        [
            "E  *best .*permutation p*",
            "E  *CannotTell: cannot tell: only right and wrong are known*",
            "E  *ValueError: there is no column 'label' for gold; found *",
            "E  *TypeError: there is no argument 'golds'; did you mean 'gold'*",
        ]
    )
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert {each["id"].partition("::")[2]: each["outcome"] for each in claims} == {
        "test_it[knows]": "passed",
        "test_it[prefers]": "failed",
        "test_open": "passed",
        "test_untold": "cannot tell",
        "test_column": "error",
        "test_argument": "error",
    }
    assert {each["line"] for each in claims} == {18, 29, 35, 38, 41}

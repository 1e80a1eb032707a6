"""Recorded results whose right answers no example can exchange by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.notes import noted
from tests.proof.nulls import Compared, compare, right_on
from tests.unit.recorded.suites import judged, planned, suite_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.claims.recorded_claims import RecordedClaim


def table(
    folder: Path,
    lists: Sequence[Sequence[str]],
    gold: Sequence[str],
    said: Sequence[Sequence[str]],
    *,
    rest: str = "",
    clusters: Sequence[int] | None = None,
) -> RecordedClaim:
    """Write a table of right and wrong that lists the choices, and return the claim about it."""
    rows = [
        {
            "prompt": prompt,
            "example": at,
            "gold": right,
            "choices": json.dumps(list(choices)),
            "shots": 0,
            "correct": int(answer == right),
        }
        | ({} if clusters is None else {"cluster": clusters[at]})
        for prompt, answers in enumerate(said)
        for at, (choices, right, answer) in enumerate(zip(lists, gold, answers, strict=True))
    ]
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (claim,) = planned(folder, suite_text("{name: a}", rest, "r.jsonl, format: table"))
    return claim


def of_pairs(folder: Path, drawn: Compared, answers: NDArray[np.int64]) -> RecordedClaim:
    def text(values: NDArray[np.int64]) -> Any:
        return np.char.add("T", values.astype(str)).tolist()

    return table(folder, text(drawn.offered), text(drawn.gold), text(answers))


def test_where_no_answers_are_known_pairs_are_a_red_flag(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    drawn = compare(generator, 15, 100)
    answers = right_on(0.8)(generator, drawn, 3)
    record = judged(of_pairs(tmp_path, drawn, answers))
    assert "compared_things" in [flag.kind for flag in record.failing_flags]
    assert record.passed is False
    unordered = compare(generator, 15, 100, kind="no order")
    answers = right_on(0.8)(generator, unordered, 3)
    record = judged(of_pairs(tmp_path, unordered, answers))
    assert "compared_things" not in [flag.kind for flag in record.red_flags]


def test_where_right_answers_are_known_and_no_others_a_guess_is_as_good_as_a_constant_answer(
    tmp_path: Path,
) -> None:
    """Half Yes and No, half True and False, of which Yes and True are right on .7."""
    generator = np.random.default_rng(4)
    lists = [("Yes", "No") if at % 2 else ("True", "False") for at in range(100)]
    gold = [own[int(at // 2 % 10 >= 7)] for at, own in enumerate(lists)]
    told: dict[bool, list[bool]] = {True: [], False: []}
    for knows in (True, False):
        for _ in range(10):
            right = np.array([own[0] for own in lists]), np.array(gold)
            share = generator.random((10, 100)) < 0.95
            other = [own[1] for own in lists]
            said = np.where(share, right[int(knows)], other).tolist()
            claim = table(tmp_path, lists, gold, said)
            record = judged(claim)
            told[knows].append(bool(record.passed))
            assert record.asserted == {"p_max": 0.05}
            assert record.standard_baseline == pytest.approx(0.7)
            said = " ".join(noted(record))
            assert "as good as the best constant answer" in said
            assert "right with .700." in said
            assert "the results do not say which answers were given. So" in said
    assert not any(told[False])
    assert all(told[True])
    assert record.recorded is not None
    assert record.recorded.chances == {"1/2": 100}


def test_by_name_p_max_keeps_its_guessers(tmp_path: Path) -> None:
    lists = [("Yes", "No")] * 100
    gold = ["Yes" if at % 10 < 7 else "No" for at in range(100)]
    rest = "assert: {p_max: 0.05}\n"
    record = judged(table(tmp_path, lists, gold, [gold], rest=rest))
    assert record.standard_baseline == 0.5
    assert record.passes_on == "p_max only"


def test_with_clusters_nobody_can_tell_what_a_constant_answer_is_worth(tmp_path: Path) -> None:
    lists = [("Yes", "No")] * 100
    gold = ["Yes" if at % 10 < 7 else "No" for at in range(100)]
    clusters = [at // 5 for at in range(100)]
    record = judged(table(tmp_path, lists, gold, [gold], clusters=clusters))
    assert record.passed is None
    assert record.cannot_tell is not None

"""Scores that a test of a user gives: what is none is told in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.claims.by_hand import answers_of


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": ["good", 0.5]}, "found 'good'"),
        ({"a": [0.5, 0.5], "b": [0.5]}, "found rows of 2 and 1 scores"),
        ([0.5, 0.6], r"found \(2,\)"),
        (np.full((2, 3, 4, 5), 0.5), "or a third axis for samples"),
        ([[[0.5, 0.4], [0.5, np.nan]]], "found 1 of 2 in row 0, column 1"),
        ({"a": [1.2, 0.5]}, "found 1.2 in row 0, column 0"),
        ({"a": [np.nan, np.nan]}, "prompt 'a' has no score on any example"),
    ],
)
def test_what_is_no_score_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        answers_of("scores", given)
    assert "\n" not in str(caught.value)


def test_a_data_frame_does_not_say_what_its_rows_are() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"a": [0.5, 0.6], "b": [0.1, 0.2]})
    with pytest.raises(ValueError, match="does not say whether its rows are prompts or examples"):
        answers_of("scores", frame)
    taken = answers_of("scores", frame.to_numpy().T)
    assert taken.scores is not None
    assert taken.scores.tolist() == [[0.5, 0.6], [0.1, 0.2]]

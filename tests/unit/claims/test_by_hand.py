"""Scores that a test of a user gives: what is none is told in one sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.claims.beside import beside
from pytest_maxrandom.claims.by_hand import answers_of, scores_beside
from pytest_maxrandom.claims.in_memory import Said, claims_in_memory
from pytest_maxrandom.claims.verdict import Claim


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": ["good", 0.5]}, "found 'good'"),
        ({"a": [0.5, 0.5], "b": [0.5]}, "found rows of 2 and 1 scores"),
        ({"a": [[0.5, 0.4], [0.5]]}, "found answers of 2 and 1 samples"),
        ({"a": [[0.5, 0.4]], "b": [0.5]}, "found answers of 2 and 1 samples"),
        ([0.5, 0.6], r"found \(2,\)"),
        (np.full((2, 3, 4, 5), 0.5), "or a third axis for samples"),
        ([[[0.5, 0.4], [0.5, np.nan]]], "found 1 of 2 in row 0, column 1"),
        ({"a": [1.2, 0.5]}, "found 1.2 in row 0, column 0"),
        ({"a": [np.nan, np.nan]}, "prompt 'a' has no score on any example"),
        ([[0.5, np.nan], [1.0, np.nan]], "example '1' has no score of any prompt; leave it out"),
    ],
)
def test_what_is_no_score_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        answers_of("scores", given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("how", [None, "mean", "pass", "all", {"pass": 2}, {"pass": 3}])
def test_samples_come_to_what_is_said_as_those_of_a_table_do(how: Any) -> None:
    scores = np.random.default_rng(3).random((4, 9, 3)).round(2)
    scores[0] = scores[0] > 0.5
    rows = [
        {"prompt": str(p), "example": str(e), "sample": s, "score": scores[p, e, s]}
        for p, e, s in np.ndindex(scores.shape)
    ]
    [claim] = claims_in_memory(rows, Said(claim={"beats": 0.1}, aggregate=how))
    assert claim.evidence is not None
    table, answers = claim.evidence.results, answers_of("scores", scores, None, how)
    assert answers.aggregate == table.aggregate
    assert np.array_equal(answers.values, table.values)
    low, middle, high = np.moveaxis(np.sort(scores, axis=2), 2, 0)
    best_of_two = (2 * high + middle) / 3
    named = {"None": scores.mean(axis=2), "mean": scores.mean(axis=2), "pass": high, "all": low}
    assert answers.values == pytest.approx(
        named.get(str(how), high if how == {"pass": 3} else best_of_two)
    )
    # What is beside them comes to the same, so that a candidate is known again.
    for row, given in enumerate(scores):
        own = scores_beside("incumbent", given, answers)
        assert own.chosen_here == 4
        assert [*own.scores.values()] == answers.values[row].tolist()


@pytest.mark.parametrize(
    ("samples", "how", "message"),
    [
        (1, "pass", "aggregate: each answer has one score; give several samples"),
        (2, "vote", "aggregate: a vote needs what was answered, and only scores are given"),
        (2, {"pass": 3}, "aggregate: pass@3 needs at least 3 samples of each answer, found 2"),
        (2, "best", "aggregate.*found 'best', expected 'mean'"),
        (2, {"pass": 0}, "aggregate.*0"),
        (2, 2, "aggregate.*found 2"),
    ],
)
def test_what_samples_cannot_come_to_is_said(samples: int, how: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        answers_of("scores", np.full((2, 3, samples), 0.5), None, how)
    assert "\n" not in str(caught.value)


def test_the_best_of_several_samples_is_compared_with_that_of_as_many() -> None:
    scores = np.full((2, 5, 3), 0.5)
    few, one = np.full((5, 2), 0.4), [0.4] * 5
    for how in ("pass", "all"):
        answers = answers_of("scores", scores, None, how)
        for given, many in ((few, 2), (one, 1)):
            with pytest.raises(ValueError, match=rf"control: it has {many} of each answer, and"):
                scores_beside("control", given, answers)
    either: tuple[Any, ...] = ("mean", {"pass": 2})
    for how in either:
        found = scores_beside("control", few, answers_of("scores", scores, None, how))
        assert [*found.scores.values()] == pytest.approx([0.4] * 5)


def test_a_data_frame_does_not_say_what_its_rows_are() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"a": [0.5, 0.6], "b": [0.1, 0.2]})
    with pytest.raises(ValueError, match="does not say whether its rows are prompts or examples"):
        answers_of("scores", frame)
    taken = answers_of("scores", frame.to_numpy().T)
    assert taken.scores is not None
    assert taken.scores.tolist() == [[0.5, 0.6], [0.1, 0.2]]


def test_an_incumbent_pays_for_its_rank_among_candidates_or_for_its_place_when_named() -> None:
    generator = np.random.default_rng(4)
    scores = (generator.random((5, 60)) < [[0.3], [0.5], [0.6], [0.7], [0.9]]).astype(float)
    scores[1, :3] = np.nan
    answers = answers_of("scores", scores)
    wins, losses = (scores[4] > scores[0]).sum(), (scores[4] < scores[0]).sum()
    alone = stats.binomtest(int(wins), int(wins + losses), alternative="greater").pvalue
    own = scores_beside("incumbent", scores[0], answers)
    assert (own.chosen_here, own.rank) == (5, 5)
    means = [float(np.nanmean(row)) for row in scores]
    for row, mean in zip(scores, means, strict=True):
        rank = 1 + sum(each > mean + 1e-9 for each in means)
        assert scores_beside("incumbent", row, answers).rank == rank
    other = np.where(np.arange(60) == 0, 1 - scores[0], scores[0])
    for who, given in (("control", scores[0]), ("incumbent", other)):
        found = scores_beside(who, given, answers)
        assert (found.chosen_here, found.rank) == (None, 1)
    third = replace(own, chosen_here=None, rank=1, place=3)
    for incumbent, factor in ((own, 5), (third, 3 * 4)):
        judged = beside(Claim(incumbent_p=0.05), answers, 20, 4, incumbent)
        assert judged.p["incumbent_p"] == pytest.approx(20 * factor * alone)

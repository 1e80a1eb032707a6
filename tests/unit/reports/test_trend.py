"""The course of claims over runs and looks, against SciPy and against what a ledger was told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import beta, binom

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.ledger import SetLedger, Subject
from pytest_maxrandom.ledger.summary import looks
from pytest_maxrandom.reports.trend import moment, trends
from pytest_maxrandom.tasks.task import Example
from tests.unit.reports.samples import claim, run, scored, untested

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord

DAYS = [f"2026-02-{day:02d}T12:00:00+00:00" for day in range(1, 10)]
SUBJECT = Subject("demo", "d1", "nf4", 4, "mean_logprob")


def on(day: int, *claims: Any) -> RunRecord:
    return run(*claims, created=DAYS[day])


def test_the_oldest_run_stands_first_however_they_are_given() -> None:
    found = trends([("now", on(2, claim(best=38))), ("then", on(0, claim())), ("?", run(claim()))])
    assert [trend.claim for trend in found] == [claim().id]
    assert [point.label for point in found[0].points] == ["?", "then", "now"]


def test_a_point_has_the_numbers_of_its_run() -> None:
    [trend] = trends([("then", on(0, claim(best=45, n=60, t=20)))])
    [point] = trend.points
    one = binom(60, 0.5)
    needed = next(k for k in range(61) if 1 - one.cdf(k - 1) ** 20 <= 0.05)
    assert (point.n, point.t, point.best, point.passed) == (60, 20, 0.75, True)
    assert point.needed == needed / 60
    assert point.maximum == pytest.approx(sum(1 - one.cdf(k) ** 20 for k in range(60)) / 60)
    # Clopper and Pearson: below at a 20th of .05, above at .05.
    assert point.low == pytest.approx(beta.ppf(0.05 / 20, 45, 16))
    assert point.high == pytest.approx(beta.ppf(0.95, 46, 15))


def test_a_claim_without_numbers_has_no_point_and_another_metric_no_interval() -> None:
    assert trends([("a", on(0, untested()))]) == []
    [trend] = trends([("a", on(0, scored()))])
    assert trend.metric == "macro-F1"
    assert (trend.points[0].best, trend.points[0].low) == (0.5151, None)
    assert trend.points[0].needed == 0.66664


def test_what_is_only_reported_has_no_verdict() -> None:
    [trend] = trends([("a", on(0, claim(asserted={})))])
    assert (trend.points[0].passed, trend.points[0].ended) == (None, "reported")


def test_a_point_tells_a_pass_on_less_and_what_could_not_be_told() -> None:
    untold = claim(passed=None, outcome="cannot tell")
    [trend] = trends([("a", on(0, claim(passes_on="baseline only"))), ("b", on(1, untold))])
    assert [(each.passed, each.ended) for each in trend.points] == [
        (True, "baseline only"),
        (None, "cannot tell"),
    ]


def look_at(folder: Path, counts: list[int], n: int = 60, subject: Subject = SUBJECT) -> None:
    """Count prompts with so many right answers, and look at the best of them."""
    examples = [Example(f"{k}", f"question {k}", ("wet", "dry"), (k % 2,)) for k in range(n)]
    ledger = SetLedger(folder / "maxrandom-ledger", f"run {len(counts)}", "weather", examples)
    digests = [f"p{place}" for place in range(len(counts))]
    for digest, correct in zip(digests, counts, strict=True):
        ledger.evaluated(subject, digest, n, correct)
    ledger.look(subject, digests, t=len(counts), best_correct=max(counts), n=n)
    assert ledger.problems == []


def test_looks_of_a_ledger_are_points_with_the_best_of_as_many_guessers(tmp_path: Path) -> None:
    look_at(tmp_path, [30, 38])
    look_at(tmp_path, [30, 38, 44])
    [trend] = trends([], looks([tmp_path]))
    assert trend.claim == "weather[demo-nf4-4shot]"
    assert sorted((point.t, point.best) for point in trend.points) == [(2, 38 / 60), (3, 44 / 60)]
    one = binom(60, 0.5)
    for point in trend.points:
        t = point.t
        needed = next(k for k in range(61) if 1 - one.cdf(k - 1) ** t <= 0.05)
        assert point.needed == needed / 60
        assert point.maximum == pytest.approx(sum(1 - one.cdf(k) ** t for k in range(60)) / 60)
        assert point.low == pytest.approx(
            beta.ppf(0.05 / t, round(point.best * 60), 61 - round(point.best * 60))
        )


def test_a_look_of_a_run_whose_report_is_there_is_no_second_point(tmp_path: Path) -> None:
    look_at(tmp_path, [30, 38])
    look_at(tmp_path, [30, 38, 44])
    reported = claim(best=44, n=60, t=3, level=0.01)
    [trend] = trends([("main", on(3, reported))], looks([tmp_path]))
    assert trend.claim == reported.id
    assert sorted(point.label for point in trend.points) == ["look", "main"]
    # The level of the claim is that of its looks too.
    [look] = [point for point in trend.points if point.label == "look"]
    needed = next(k for k in range(61) if 1 - binom(60, 0.5).cdf(k - 1) ** 2 <= 0.01)
    assert look.needed == needed / 60


def test_a_look_and_a_report_on_the_same_examples_can_be_compared(tmp_path: Path) -> None:
    look_at(tmp_path, [30, 38])
    [look] = looks([tmp_path])
    validation = replace(claim().validation, digest=look.examples)  # type: ignore[type-var]
    same, others = claim(best=44, t=3, validation=validation), claim(best=39, validation_ids=["q1"])
    [trend] = trends([("b", on(3, others)), ("a", on(1, same))], [look])
    known = {point.label: point.examples for point in trend.points}
    assert known["look"] == known["a"] != known["b"]


def test_a_look_that_may_be_of_two_claims_is_of_neither(tmp_path: Path) -> None:
    look_at(tmp_path / "a", [30, 38])
    twins = [replace(claim(), id=f"{one}/x.yaml::w", suite=f"{one}/x.yaml") for one in ("b", "c")]
    names = [trend.claim for trend in trends([("now", on(0, *twins))], looks([tmp_path]))]
    assert names == [twins[0].id, twins[1].id, "weather[demo-nf4-4shot]"]
    twins[1].suite = "a/x.yaml"
    found = trends([("now", on(0, *twins))], looks([tmp_path]))
    assert [len(trend.points) for trend in found] == [1, 2]


def test_a_look_at_a_trained_arm_is_of_that_arm_and_not_of_the_base(tmp_path: Path) -> None:
    part = f"{SUBJECT.model} (trained: test)"
    look_at(tmp_path, [30, 38])
    look_at(tmp_path, [31, 39], subject=replace(SUBJECT, model=part, model_digest="trained"))
    arms = [replace(claim(), id="s.yaml::w[base]"), replace(claim(), id="s.yaml::w[test]")]
    arms[1].counted_as = part
    found = trends([("now", on(0, *arms))], looks([tmp_path]))
    assert [(trend.claim, {point.best for point in trend.points}) for trend in found] == [
        ("s.yaml::w[base]", {0.75, 38 / 60}),
        ("s.yaml::w[test]", {0.75, 39 / 60}),
    ]


def test_a_look_is_of_the_one_claim_of_a_suite_in_the_folder_that_pytest_runs_in(
    tmp_path: Path,
) -> None:
    look_at(tmp_path, [30, 38])
    root = replace(claim(), id="x.yaml::w", suite="x.yaml")
    found = trends([("now", on(0, root))], looks([tmp_path]))
    assert [(trend.claim, len(trend.points)) for trend in found] == [(root.id, 2)]
    # Another suite, whose folder is not the ledger's, may have been looked at as well.
    other = replace(claim(), id="b/x.yaml::w", suite="b/x.yaml")
    found = trends([("now", on(0, root, other))], looks([tmp_path]))
    assert [len(trend.points) for trend in found] == [1, 1, 1]


def test_looks_are_the_same_in_whatever_order_files_are_named(tmp_path: Path) -> None:
    look_at(tmp_path / "a", [30, 38])
    look_at(tmp_path / "b", [31])
    folders = [tmp_path / "a", tmp_path / "b"]
    assert len(looks(folders)) == 2
    assert sorted(looks(folders), key=repr) == sorted(looks([*folders[::-1], tmp_path]), key=repr)
    with pytest.raises(LedgerError, match="there is no such file or folder"):
        looks([tmp_path / "none"])


def test_what_is_no_time_is_before_all_times() -> None:
    assert moment("yesterday") < moment("0002-01-01T00:00:00+00:00") < moment(DAYS[0])

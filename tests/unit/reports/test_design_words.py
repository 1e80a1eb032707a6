"""What is said of replicates, comparisons and contamination checks, and of what is cited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.reports.changes import changes
from pytest_maxrandom.reports.designs import (
    assertion_is,
    bias_is,
    contradictions,
    difference_interval,
    differing,
    generalizes,
    histogram,
    indicated,
    required,
    shown_n,
    single_draws,
    spread_over,
    units,
    winners,
)
from pytest_maxrandom.reports.details import design_detail
from pytest_maxrandom.reports.headlines import headline
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from pytest_maxrandom.reports.summary import overall, tally
from pytest_maxrandom.reports.wording import failure
from tests.unit.reports import page
from tests.unit.reports.opened import html
from tests.unit.reports.samples import (
    allowed,
    best_models,
    claim,
    comparison,
    contamination,
    replicates,
    run,
    shown,
)
from tests.unit.reports.test_latex import cited

if TYPE_CHECKING:
    from pytest_maxrandom.record import ContaminationRecord, RunRecord


def test_a_replicated_claim_is_reported_unless_a_share_is_claimed() -> None:
    without = replicates(45, 30, asserted={"p_max": 0.05}, outcome="passed", passed=True)
    assert tally(run(replicates=[without])) == "1 replicated claim reported"


@given(st.lists(st.integers(20, 60), min_size=1, max_size=40))
@settings(deadline=None)
def test_the_order_of_replicates_does_not_matter(counts: list[int]) -> None:
    one, other = replicates(*counts), replicates(*sorted(counts))
    for told in (histogram, contradictions, single_draws):
        assert told(one) == told(other)
    assert spread_over(one, "best_accuracy") == spread_over(other, "best_accuracy")


@given(st.lists(st.integers(20, 60), min_size=2, max_size=40))
@settings(deadline=None)
def test_a_histogram_shows_no_bar_exactly_where_no_replicate_is(counts: list[int]) -> None:
    shown = histogram(replicates(*counts))
    if min(counts) == max(counts):
        assert shown == ""
        return
    assert len(shown) <= 12
    assert shown[0] != "▁"
    assert shown[-1] != "▁"
    assert len(shown) - shown.count("▁") <= len(set(counts))


def test_what_a_single_draw_would_have_said() -> None:
    assert single_draws(replicates(*[45] * 17, *[30] * 3)) == (
        "a single draw would have said the opposite of the majority in 3 of 20"
    )
    assert (
        single_draws(replicates(*[45] * 4))
        == "every single draw would have said the same, 4 of them"
    )
    assert single_draws(replicates()) == ""


def test_quartiles_are_observed_values() -> None:
    # By hand, nearest rank: of 5 values the 1st, 2nd, 3rd, 4th and 5th.
    spread = spread_over(replicates(30, 36, 42, 48, 54), "best_accuracy")
    assert spread == ".500 to .900 (quartiles .600, .700 and .800)"
    assert spread_over(replicates(30, 30), "best_accuracy") == ".500"


def test_winners_are_counted() -> None:
    record = replicates(45, 44, 43)
    assert winners(record) == "another prompt is the best in each"
    record.runs[1] = replace(record.runs[1], best_prompt=record.runs[0].best_prompt)
    assert winners(record) == "2 prompts are the best of some, one of them in 2"
    record.runs[2] = replace(record.runs[2], best_prompt=record.runs[0].best_prompt)
    assert winners(record) == "the same prompt is the best in all 3"


def test_a_comparison_in_words() -> None:
    record = comparison(confidence=0.9, asserted={"not_worse_than": -0.02, "level": 0.05})
    assert required(record) == "the difference is above -.02, one-sided p at most .05"
    assert required(comparison(asserted={"better": 0.0})).startswith("the difference is above .0,")
    assert required(comparison(asserted={})) == ""
    assert assertion_is(record) == "p = .412"
    assert difference_interval(record) == "-.041 to -.001 (90 %)"
    assert difference_interval(comparison(low=-1.0, high=1.0)) == ""
    assert difference_interval(comparison(low=None, high=None)) == ""
    assert (shown_n(record), shown_n(comparison(n=None))) == ("60", "-")
    assert units(record) == "20 replicates"
    assert units(comparison(units="clusters", sampled={"clusters": 12})) == "12 clusters"
    assert (differing(record), differing(comparison(prompts=[]))) == ("1 of 2", "-")


@pytest.mark.parametrize(
    ("sampled", "told"),
    [
        ({"examples": 60}, "new examples, for these prompts only"),
        ({"clusters": 12, "prompts": 6}, "new clusters of examples and new prompts"),
        (
            {"examples": 60, "prompts": 20, "replicates": 8},
            "new examples, new prompts and new replicates",
        ),
    ],
)
def test_every_report_says_what_a_difference_generalizes_to(
    sampled: dict[str, int], told: str
) -> None:
    found = run(
        comparisons=[comparison(sampled=sampled, units=next(iter(sampled)))],
        contamination=[contamination(sampled=sampled)],
    )
    assert page.read(markdown(found)).text.count(f"eneralizes to {told}") == 1
    assert page.read(disclosure(found)).text.count(f"eneralizes to {told}") == 2
    assert html(found).count(f"eneralizes to {told}") >= 2
    assert " ".join(latex(found).split()).count(f"eneralizes to {told}") == 2
    assert generalizes(comparison(sampled={})) == ""


LEAK = "tuned on the scored text; other text teaches nothing"


@pytest.mark.parametrize(
    ("record", "bias", "told"),
    [
        (contamination(), "+.052 (p = .0041)", "tuned on the text"),
        (contamination(boost=-0.012, boost_p=0.6), "+.052 (p = .0041)", LEAK),
        (
            contamination("cannot tell"),
            "-.003 (p = .611)",
            "cannot tell: without a boost, a bias that is not significant says nothing",
        ),
    ],
)
def test_every_report_says_what_a_bias_means_with_a_boost_and_without(
    record: ContaminationRecord, bias: str, told: str
) -> None:
    assert bias_is(record) == bias
    assert indicated(record) == told
    found = run(contamination=[record])
    text = page.read(disclosure(found)).text
    assert f"the benchmark's own text a further {bias}; {told}, at level .05" in text
    assert told in page.read(markdown(found)).text
    assert told in html(found)


def test_a_replicate_that_cannot_tell_is_shown_neither_to_pass_nor_to_fail() -> None:
    record = replicates(45, 30, 44)
    record.runs[2].passed = None
    [table] = design_detail(record, {record.id: "claim"}).tables
    place = [column.heading for column in table.columns].index("claim")
    assert [row[place] for row in table.cells] == [("passes",), ("fails",), ("cannot tell",)]


def test_a_check_that_cannot_tell_neither_passes_nor_fails() -> None:
    untold = run(contamination=[contamination("cannot tell")])
    assert tally(untold) == "1 of 1 contamination check cannot tell"
    assert overall(untold) == "failed"
    let_be = run(contamination=[allowed()])
    assert tally(let_be) == "1 of 1 contamination check cannot tell, as allowed"
    assert overall(let_be) == "reported"
    both = run(claim(), contamination=[allowed(id="a"), contamination("no sign of it", id="b")])
    assert tally(both) == (
        "1 of 1 claim passes; 1 of 2 contamination checks passes, 1 cannot tell, as allowed"
    )
    assert overall(both) == "passed"
    told = headline(untold.contamination[0])
    assert told.found == "cannot tell"
    assert not told.what.startswith("cannot tell")
    leak = contamination(boost=-0.012, boost_p=0.6, message=None)
    leak.message = failure(leak)
    told = headline(leak)
    assert (told.found, told.what[:24]) == (LEAK, "test is .052 above extra")
    before = run(contamination=[contamination("no sign of it")])
    (fell,) = changes(let_be, before)
    assert (fell.kind, fell.what) == (
        "fell",
        "no longer passes, because its results cannot tell",
    )


def test_nothing_passes_in_replicates_of_what_claims_nothing() -> None:
    found = run(claim(asserted={}), replicates=[replicates(45, 45, 44, asserted={})])
    for text in (markdown(found), html(found), latex(found), disclosure(found), *shown(found)):
        assert "passes in" not in text
        assert text.count("3 of 3") == text.count("3 of 3, seed 0")
    said = page.read(disclosure(found)).text
    assert "was repeated with 3 seeded draws (seed 0) without a claim; every single draw" in said


@pytest.mark.parametrize(
    ("record", "keys"),
    [
        (run(comparisons=[comparison(prompts=[], adjusted_bh=None)]), {"fisher-1935"}),
        (
            run(comparisons=[comparison(adjusted_bh=None)]),
            {"fisher-1935", "mcnemar-1947", "holm-1979"},
        ),
        (
            run(comparisons=[comparison(prompts=[])]),
            {"fisher-1935", "benjamini-hochberg-1995", "holm-1979"},
        ),
        (run(contamination=[contamination()]), {"fisher-1935"}),
        (run(best_models=[best_models()]), {"mcnemar-1947", "holm-1979"}),
        (run(best_models=[best_models(test="resampled")]), {"white-2000", "holm-1979"}),
        (run(replicates=[replicates(45, 44)]), set()),
    ],
)
def test_exactly_the_methods_that_were_used_are_cited(record: RunRecord, keys: set[str]) -> None:
    entries = bibtex(record)
    found = {line.partition("{")[2].rstrip(",") for line in entries.splitlines() if line[:1] == "@"}
    assert cited(latex(record)) == found == keys


def test_the_disclosure_says_what_a_paper_must_say_of_a_comparison() -> None:
    text = page.read(disclosure(run(comparisons=[comparison()]))).text
    for fact in (
        "On weather (4-shot, t = 20 prompts, n = 60 examples, 20 replicates)",
        "the mean accuracy of nf4 differs from that of none by -.021",
        "95 % interval -.041 to -.001, p = .031",
        "by the sign-flip test over 20 replicates",
        "q = .041 (Benjamini and Hochberg), .094 (Holm)",
        "the best of t by -.012 (95 % interval -.033 to +.011)",
        "1 of 2 prompts of the first replicate differ after Holm's adjustment",
        "Changed: quantization: nf4, not none.",
        "Computed with pytest-maxrandom 0.1.0",
    ):
        assert fact in text


def test_the_disclosure_says_how_often_a_draw_misleads() -> None:
    record = run(claim(), replicates=[replicates(45, 45, 45, 30)])
    text = page.read(disclosure(record)).text
    assert "was repeated with 4 seeded draws (seed 0) and passes in 3 of 4; a single draw" in text
    assert "the opposite of the majority in 1 of 4" in text

"""The disclosure says what a paper must say of what was tried, and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_maxrandom.record import HeldOut, Recorded, Remark, RunRecord, Tries
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from tests.unit.reports.page import Page, read
from tests.unit.reports.samples import (
    claim,
    recorded,
    run,
    several,
    untested,
)


def test_the_disclosure_says_what_a_paper_must_say() -> None:
    paragraph = read(disclosure(run(claim(best=41), untested()))).text
    for fact in (
        "best of t = 20 4-shot prompts of demo (nf4)",
        "41 of n = 60 validation examples of weather",
        "standard baseline .500, maximum random baseline .620, p_max = .060",
        "t = 20 of 91,390 possible prompts (4 demonstrations each, from the 40 examples outside",
        "arXiv:2404.13020",
        "accuracy of always the same answer .517",
        "Throughout, t = 20",
        "pytest-maxrandom 0.1.0, Python 3.11.9, torch 2.13.0",
    ):
        assert fact in paragraph
    assert "emoji_movie" not in paragraph
    assert "permutation" not in paragraph


def disclosed(record: RunRecord) -> Page:
    assert "For a paper" not in markdown(record)
    return read(disclosure(record))


def test_the_disclosure_has_an_item_for_each_of_several_claims() -> None:
    other = claim(task="f1", id="demo.yaml::f1[x]")
    assert other.prompts is not None
    other = replace(other, prompts=replace(other.prompts, seed=1))
    failing = claim(best=35, outcome="xfailed", xfail="too hard", permutation_p=0.4)
    page = disclosed(run(claim(), failing, other))
    assert page.tags[:5] == ["h3", "blockquote", "ul", "li", "code"]
    assert page.tags.count("li") == 3
    assert page.text.count("was expected to fail") == 1
    assert "This claim was expected to fail (too hard)." in page.text
    assert "permutation p = .400" in page.text
    assert "on shuffled right answers" in page.text


def test_it_says_on_what_a_claim_rests_and_where_results_cannot_tell() -> None:
    resting = claim(best=45, passes_on="baseline only")
    assert "on the baseline only: right answers were not shuffled." in disclosure(run(resting))
    paragraph = " ".join(latex(run(replace(resting, passes_on="p_max only"))).split())
    assert r"It rests on $p_{\max}$ only: right answers were not shuffled." in paragraph
    untold = claim(best=45, passed=None, cannot_tell=Remark("only_right_and_wrong"))
    text = disclosure(run(untold))
    assert "These results cannot tell whether the claim holds." in text
    assert not any(words in disclosure(run(claim())) for words in ("rests on", "cannot tell"))


def test_a_run_without_a_tested_claim_has_nothing_to_disclose() -> None:
    assert "was tried" not in disclosure(run(untested()))


def test_recorded_results_say_where_they_come_from_and_what_was_stated() -> None:
    text = markdown(run(recorded()))
    assert "- **Results:** `data/results.npz`, format npz\n" in text
    assert "- **n = 60:** counted in the recorded results\n" in text
    assert "- **t = 20:** counted in the recorded results\n" in text
    assert "- **Chance of a right guess:** stated in the suite, not counted\n" in text
    assert (
        "> Throughout, the results were read from results.npz (npz); n and t were counted "
        "in them; chance was stated, not counted.\n"
    ) in disclosure(run(recorded()))
    stated = Recorded(path="maxima.csv", format="summary", stated=["n", "t", "chance"])
    text = markdown(run(recorded(recorded=stated))) + disclosure(run(recorded(recorded=stated)))
    assert "- **n = 60:** stated in the results or the suite, not counted\n" in text
    assert "- **t = 20:** stated in the results or the suite, not counted\n" in text
    assert "(summary); n, t and chance were stated, not counted.\n" in text
    for unknown in ("seed", "drawn", "counted in", "quantized"):
        assert unknown not in text


def test_results_of_a_part_of_the_tries_say_how_many_they_hold() -> None:
    stated = Recorded(path="r.npz", format="npz", stated=["t"])
    text = markdown(run(recorded(recorded=stated, correct_counts=[45, 40, 41], t=20)))
    assert "- **t = 20:** stated in the suite, not counted; the results hold 3\n" in text


def test_the_disclosure_names_corrections_and_the_test_set_with_their_sources() -> None:
    test = HeldOut(40, 30, 0.75, 0.6, 0.86, 0.5, 0.0011, openings=1)
    first = claim(adjusted_p=0.0042, test=test, permutation_p=0.0123)
    text = disclosed(run(first, claim(best=41, adjusted_p=0.06))).text
    for fact in (
        "permutation p = .012, adjusted .0042; accuracy of always",
        "On the test set: 30 of 40 correct (.750, 95 % interval .600 to .860), compared",
        "adjusted for 2 claims by Holm's method, which controls the family-wise error (Holm, 1979,",
        "Westfall and Young, 1993; Besag and Clifford, 1991, doi:10.1093/biomet/78.2.301",
        "Wilson's score intervals (Wilson, 1927,",
        "nf4 is quantization to 4-bit NormalFloat (Dettmers et al., 2023, arXiv:2305.14314)",
    ):
        assert fact in text
    alone = disclosed(run(first)).text
    assert "adjusted" not in alone


def test_many_results_are_disclosed_in_short_and_one_by_one_when_unfolded() -> None:
    claims = several(tasks=5)
    page = disclosed(run(*claims))
    assert "Each of 20 results is the best of t = 20 prompts on n = 60 validation" in page.text
    assert page.text.count("The best of t = 20") == 20
    assert page.tags.count("details") == 1
    other = Recorded(path="other.npz", format="npz")
    half = [replace(one, recorded=other) if one.model == "model-1" else one for one in claims]
    assert "For all results of model-1: the results were read from other.npz" in (
        disclosed(run(*half)).text
    )


def test_n_of_a_publication_is_no_number_of_examples_that_a_prompt_was_scored_on() -> None:
    # 16 of 40 are right; the publication says n = 102.
    numbers: dict[str, Any] = {"best": 16, "n": 102, "best_accuracy": 0.4, "best_score": 0.4}
    record = run(recorded(correct_counts=[16, 9, 8, 7, 5, 4], **numbers))
    text = markdown(record)
    # scipy.stats.beta(16, 25).ppf(.05 / 20) = .19700 and beta(17, 24).ppf(.95) = .54222.
    best = ".400.197\N{EN DASH}.542"
    assert read(text).body[0][3:7] == [best, "> .999p_max", "102", "20"]
    assert "reported: 16 of 40 correct, n = 102, t = 20</summary>" in text
    assert (
        "answers 16 of the 40 validation examples that it was scored on (n = 102 as published) of "
        "`weather` correctly (.400; "
    ) in disclosure(record)
    assert "highest 16 correct\n" in text


def test_t_of_a_ledger_stands_in_the_disclosure() -> None:
    tries = Tries(run=20, claim=45, task=60, counted="claim", look=2, level=0.0083, holds=True)
    record = run(replace(claim(), t=45, tries=tries))
    assert (
        "t = 45: all prompts ever evaluated for this claim; this run tried 20 of 91,390 possible"
        in disclosed(record).text
    )


def test_the_overview_names_the_p_value_that_the_table_shows() -> None:
    """That which decides, which may be a permutation p; p_max where nothing is claimed."""
    reported: dict[str, Any] = {"asserted": {}}
    for of_claim, named in (({}, "the p-value that decides"), (reported, "p_max")):
        claims = [claim(id=f"s.yaml::c{number}", **of_claim) for number in range(12)]
        said = f"the maximum random baseline and {named} of each"
        assert said in disclosure(run(*claims))
        assert said.replace("p_max", r"$p_{\max}$") in " ".join(latex(run(*claims)).split())

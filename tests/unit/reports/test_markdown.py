"""The Markdown report says n and t every time, and what a reader has to decide on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, example, given, settings, strategies as st

from pytest_maxrandom.notation import NONE
from pytest_maxrandom.reports.headlines import by_luck
from pytest_maxrandom.reports.rendering import disclosure, markdown
from pytest_maxrandom.reports.text import shorten, visible
from tests.unit.reports.hostile import HOSTILE, hidden_in
from tests.unit.reports.page import FRAGMENTS, Page, any_text, read
from tests.unit.reports.samples import (
    claim,
    contamination,
    flag,
    hand_written,
    linked,
    recorded,
    run,
    scored,
    several,
    untested,
)
from tests.unit.reports.test_disclosure import disclosed
from tests.unit.reports.test_text import ACTIVE

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, Outcome, RunRecord


@cache
def harmless(outcome: Outcome) -> Page:
    return read(markdown(hidden_in("word", outcome=outcome), words=10**9))


@pytest.mark.parametrize("outcome", ["failed", "xpassed"])
@given(text=any_text)
@example(text=HOSTILE)
@example(text="x" * 5000)
@settings(max_examples=25, deadline=None)
def test_no_text_changes_the_structure_of_a_report(outcome: Outcome, text: str) -> None:
    assume(text != NONE)  # which stands for what is not known, and an empty column is left out
    tame = harmless(outcome)
    page = read(markdown(hidden_in(text, outcome=outcome), words=10**9))
    assert page.tags == tame.tags
    assert page.links == tame.links
    assert [list(map(len, table)) for table in page.tables] == [
        list(map(len, table)) for table in tame.tables
    ]
    assert not [node for node in page.prose if ACTIVE.search(node)]


@pytest.mark.parametrize("text", [HOSTILE, *FRAGMENTS])
def test_a_hostile_name_is_shown_in_the_table_as_it_is(text: str) -> None:
    page = read(markdown(run(claim(task=text, model=text), claim(task="weather"))))
    name = page.body[0][1]
    assert name == f"{shorten(visible(text), 40)}4-shot{shorten(visible(f'{text} (nf4)'), 40)}"


@given(st.lists(st.booleans(), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_n_and_t_stand_in_every_row_and_every_summary(tested: list[bool]) -> None:
    page = read(markdown(run(*[claim() if known else untested() for known in tested])))
    header = page.tables[0][0]
    found = [(row[header.index("n")], row[header.index("t")]) for row in page.body]
    failing_first = sorted(tested)
    assert found == [("60", "20") if known else ("100", "200") for known in failing_first]
    for known in set(tested):
        n, t = (60, 20) if known else (100, 200)
        assert page.text.count(f"n = {n}, t = {t}") >= tested.count(known)


def test_unknown_n_and_t_are_dashes() -> None:
    row = read(markdown(run(untested(n=None, t=None)))).body[0]
    assert row[2:] == ["-", "-", "-", "-", "-", "-"]


def test_a_row_holds_the_numbers_of_its_claim() -> None:
    record = claim(best=41)
    # By hand: scipy.stats.binom(60, .5) gives P(X <= 40) = .99691 and E[max of 20]/60 = .62016,
    # scipy.stats.beta(41, 20).ppf(.05 / 20) = .49539 and beta(42, 19).ppf(.95) = .78170.
    (row,) = read(markdown(run(record))).body
    assert row == [
        "❌\xa0fails",
        "weather4-shot",
        ".683.495\N{EN DASH}.782",
        ".700",
        ".060p_max",
        "60",
        "20",
        ".500",
        ".620",
    ]


def top(record: RunRecord) -> str:
    return read(markdown(record)).text.lstrip("\n").split("\n", 1)[0]


def lines(record: RunRecord) -> list[str]:
    """Return the list on top, above the table."""
    above = read(markdown(record)).text.partition("Model: ")[0].partition("result\n")[0]
    return [line for line in above.split("\n")[2:] if line.strip()]


def test_one_claim_is_told_with_what_it_reaches_and_needs() -> None:
    assert top(run(claim(best=41))) == "❌ maxrandom: 1 of 1 claim fails"
    # By hand: P(X <= 41)^20 of scipy.stats.binom(60, .5) is above .95, P(X <= 40)^20 is not.
    assert lines(run(claim(best=41))) == [
        "❌ weather 4-shot: best .683, needs .700 (p_max = .060; t = 20, n = 60)"
    ]
    assert lines(run(claim())) == [
        "✅ weather 4-shot: best .750, needs .700 (p_max = .0013; t = 20, n = 60)"
    ]


def test_the_top_line_of_many_claims_counts_each_kind_of_outcome() -> None:
    claims = [claim(), claim(best=41), claim(best=35, outcome="xfailed"), untested()]
    claims += [claim(outcome="xpassed", xfail="too hard"), untested(outcome="skipped")]
    assert top(run(*claims)) == (
        "❌ maxrandom: 1 of 6 claims fails, 1 passes unexpectedly, 1 could not be tested, 1 "
        "passes, 1 fails as expected, 1 was skipped"
    )


@pytest.mark.parametrize(
    ("claims", "sign"),
    [
        ([claim(), claim()], "✅"),
        ([claim(), claim(best=35, outcome="xfailed")], "✅"),
        ([claim(), claim(best=35)], "❌"),
        ([claim(), claim(outcome="xpassed")], "❌"),
        ([claim(), untested()], "❌"),
        ([claim(), untested(outcome=None)], "❌"),
    ],
)
def test_a_run_is_good_only_if_every_claim_ended_as_it_should(
    claims: list[ClaimRecord], sign: str
) -> None:
    assert top(run(*claims)).startswith(sign)


def test_a_run_that_did_not_end_says_so_first_in_bold_and_in_the_tally() -> None:
    text = markdown(run(claim(), interrupted=True, not_run=3))
    assert text.startswith("### ❌ maxrandom: interrupted; 3 of 4 claims were not run, 1 passes\n")
    assert "**⚠️ The run was interrupted: 3 tests have no result.**\n" in text
    early = markdown(run(claim(), not_run=1))
    assert early.startswith("### ❌ maxrandom: ended early; 1 of 2 claims was not run, 1 passes\n")
    assert "**⚠️ The run ended early: 1 test has no result.**\n" in early


def test_a_run_without_claims_says_so() -> None:
    page = read(markdown(run()))
    assert page.text.lstrip("\n").startswith("maxrandom: no claim was tested")
    assert page.tables == []


def test_what_needs_a_decision_stands_above_the_table() -> None:
    told = claim(red_flags=[flag("Always answering wet gets 45 of 60 right.")])
    failing, untold, warned = lines(run(told, claim(best=41, task="rain"), untested(model="demo")))
    assert failing.startswith("❌ rain 4-shot (demo (nf4)): best .683, needs .700 (p_max = .060;")
    assert untold.startswith("⚠️ emoji_movie 4-shot (demo): could not be tested; ")
    assert untold.endswith("allenai/OLMo-7B: no such model on this machine")
    said = "passes, but no better than the same answer to all"
    assert warned == f"🚩 weather 4-shot (demo (nf4)): {said}"


def test_the_details_show_the_best_prompt_and_how_it_was_found() -> None:
    page = read(markdown(run(claim())))
    record = claim().best_prompt
    assert record is not None
    assert page.blocks == [f"{record.text}{record.question}\n"]
    assert "Scored as answers:  wet,  dry" in page.text
    assert "number 1 of 20, digest 9b1f0c6e2a77; demonstrations #7, #81." in page.text
    assert "20 asked for, 91,390 possible" in page.text
    assert "60 of the task's 100 examples, drawn with seed 0" in page.text


def test_formats_that_differ_only_in_the_question_are_told_apart() -> None:
    best = claim().best_prompt
    assert best is not None
    plain = replace(best, text="", question="Snow fell. ", answers=["wet", "dry"])
    letters = replace(best, text="", question="Snow fell.\nA. wet\nB. dry\n", answers=["A", "B"])
    pages = [read(markdown(run(claim(best_prompt=each)))) for each in (plain, letters)]
    assert [page.blocks for page in pages] == [
        ["Snow fell. \n"],
        ["Snow fell.\nA. wet\nB. dry\n\n"],
    ]
    assert "Scored as answers: wet, dry" in pages[0].text
    assert "Scored as answers: A, B" in pages[1].text


@pytest.mark.parametrize("claims", [[claim()], [claim(), untested()], [untested()], []])
def test_versions_stand_in_a_report_once(claims: list[ClaimRecord]) -> None:
    assert markdown(run(*claims)).count("torch 2.13.0") == 1


def test_a_score_of_another_metric_never_stands_as_an_accuracy() -> None:
    record = scored(asserted={"permutation_p": 0.05})
    text, paragraph = markdown(run(record)), disclosed(run(record)).text
    assert lines(run(record)) == [
        "❌ weather 4-shot: best macro-F1 .515; permutation p = .412 is above .05 (t = 20, n = 60)"
    ]
    (row,) = read(text).body
    assert row[2:6] == [".515", "macro-F1", ".667", ".412permutation"]
    assert "reaches a macro-F1 of .515 on n = 60 validation examples" in paragraph
    assert "baseline is the expected macro-F1 of the best" in paragraph
    assert ".633" not in text + paragraph


def test_the_table_names_the_p_value_that_decides() -> None:
    assert read(markdown(run(claim()))).body[0][4] == ".0013p_max"
    shuffled = claim(permutation_p=0.04, asserted={"p_max": 0.05, "permutation_p": 0.05})
    assert read(markdown(run(shuffled))).body[0][4] == ".040permutation"


@pytest.mark.parametrize(
    ("asserted", "told", "untold"),
    [
        ({"permutation_p": 0.05, "beats": "max_random"}, ["permutation p,"], ["p_max,", "union"]),
        ({"p_max": 0.05}, ["p_max,"], ["permutation p,", "union"]),
        ({"p_max": 0.05, "permutation_p": 0.05}, ["permutation p,", "p_max,"], ["union"]),
        ({"union_p": 0.05}, ["union p,"], ["permutation p,", "p_max,"]),
    ],
)
def test_how_to_read_the_table_explains_the_p_values_that_are_claimed_and_no_other(
    asserted: dict[str, Any], told: list[str], untold: list[str]
) -> None:
    (legend,) = (
        line
        for line in markdown(run(claim(asserted=asserted, permutation_p=0.01))).splitlines()
        if line.startswith("The best of")
    )
    legend = legend.replace("*", "")
    assert all(name in legend for name in told)
    assert not any(name in legend for name in untold)


def test_claims_of_the_same_name_are_told_apart_by_their_files_everywhere() -> None:
    one, two, other = (
        claim(best=41, id=f"evals/{path}::{name}[x]", task=name)
        for path, name in (("a/d.yaml", "one"), ("b/d.yaml", "one"), ("b/d.yaml", "two"))
    )
    text = markdown(run(one, two, other))
    names = ["one4-shota/d.yaml", "one4-shotb/d.yaml", "two4-shot"]
    assert [row[1] for row in read(text).body] == names
    of_files = [line.partition(":")[0] for line in lines(run(one, two, other))]
    assert of_files == ["❌ one 4-shot (a/d.yaml)", "❌ one 4-shot (b/d.yaml)", "❌ two 4-shot"]
    assert "<code>b/d.yaml::one[x]</code>" in text
    paragraph = disclosure(run(one, two, other))
    assert "examples of `one` (`b/d.yaml`)" in paragraph
    assert "examples of `two` correctly" in paragraph


def test_a_hand_written_claim_shows_only_what_it_states() -> None:
    text = markdown(run(hand_written())) + disclosure(run(hand_written()))
    assert read(text).body[0][1] == "test_best"
    assert "- **Test:** `tests/test_mine.py:8`\n" in text
    assert "The best of t = 20 prompts answers 45 of n = 60 validation examples" in text
    for unstated in ("()", "(empty)", "0-shot", "The model's answer", "not quantized"):
        assert unstated not in text
    stated = markdown(run(hand_written(model="mine", shots=2, quantization="nf4")))
    assert read(stated).body[0][1] == "test_best2-shot"
    assert "Model: `mine (nf4)`\n" in stated
    assert "- **Test:** `tests/test_mine.py:8`; model `mine`, nf4\n" in stated


def test_a_suite_that_could_not_be_read_is_told_first_and_is_never_good() -> None:
    text = markdown(run(claim(), broken=["a.yaml:3: <b> is no key"]))
    told = "### ❌ maxrandom: 1 suite could not be read; 1 of 1 claim passes\n\n"
    assert text.startswith(f"{told}- ⚠️ a.yaml:3: &lt;b&gt; is no key\n\n")


def test_mistakes_are_shortened_on_top_and_told_in_full_below() -> None:
    mistakes = [f"s{number}.yaml:1: found {'x' * 400}, expected y" for number in range(7)]
    page = read(markdown(run(broken=mistakes)))
    above, below = page.text.split("Suites that could not be read")
    told = "❌ maxrandom: some suites could not be read (7 mistakes); no claim was tested\n"
    assert above.lstrip("\n").startswith(told)
    assert above.count("expected y") == 5
    assert max(map(len, above.splitlines())) == 300 + len("⚠️ ")
    assert "2 more mistakes are listed at the end" in above
    for mistake in mistakes:
        assert mistake in below


@given(text=any_text)
@settings(max_examples=25, deadline=None)
def test_no_mistake_changes_the_structure_of_a_report(text: str) -> None:
    for broken in ([text], [text, text]):
        tame = read(markdown(run(claim(), broken=["word"] * len(broken))))
        page = read(markdown(run(claim(), broken=broken)))
        assert page.tags == tame.tags
        assert page.links == tame.links
        assert not [node for node in page.prose if ACTIVE.search(node)]


def test_a_red_flag_of_an_expected_failure_is_folded_and_in_full() -> None:
    record = claim(best=35, outcome="xfailed", red_flags=[flag("Always wet is as good.")])
    text = markdown(run(record, claim(task="rain")))
    assert lines(run(record, claim(task="rain"))) == []
    told = f"**{linked('majority', 'warns')}**; Always wet is as good.\n"
    assert f"- 🚩 `weather` 4-shot: {told}" in text.partition("<details>")[2]


def test_any_report_can_be_encoded() -> None:
    assert markdown(hidden_in("\ud800\udfff")).encode("utf-8")


def test_a_claim_of_nothing_is_reported_and_no_claim_that_holds() -> None:
    record = run(claim(), claim(best=41), recorded())
    text = markdown(record)
    assert top(record) == "❌ maxrandom: 1 of 2 claims fails, 1 passes, 1 result reported"
    results = [(row[0], row[2]) for row in read(text).body]
    told = [("❌\xa0fails", "-"), ("✅\xa0passes", "-"), ("📋\xa0reported", "above maximum")]
    assert results == told
    assert "<summary>📋 <code>weather[demo-nf4-4shot]</code> reported: 45 of 60" in text
    only = run(recorded(), recorded())
    assert top(only) == "📋 maxrandom: 2 results reported, nothing claimed"
    assert "Best accuracies: 2 above the maximum random baseline." in markdown(only)
    assert lines(run(recorded()))[-1].startswith("📋 weather 4-shot: best .750 (p_max = .0013; ")


def test_what_contamination_checks_found_stands_on_top() -> None:
    found = [
        contamination("cannot tell", id="a"),
        contamination("no sign of it", id="b"),
        contamination("no sign of it", id="c"),
    ]
    text = markdown(run(contamination=found)).partition("<details>")[0]
    assert "Contamination checks: 2 without a sign of it and 1 that cannot tell." in text


def test_a_result_that_could_not_be_read_is_no_reported_one() -> None:
    broken = untested(asserted={}, backend="recorded")
    told = "❌ maxrandom: 1 of 1 claim could not be tested, 1 result reported"
    assert top(run(recorded(), broken)) == told


def test_changed_verdicts_stand_in_a_table_with_both_numbers_and_why() -> None:
    same = recorded(published="above maximum", task="same")
    other = recorded(published="between baselines", task="other")
    text = markdown(run(same, other, claim()))
    assert "1 of 2 published verdicts changes where n, t and chance are those of the" in text
    (claims, table) = read(text).tables
    assert table[1:] == [
        [
            "other[demo-nf4-4shot]",
            "between baselines\N{NO-BREAK SPACE}→above maximum",
            *(
                f"{before}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{now}"
                for before, now in (("99", "60"), ("103", "20"), (".312", ".620"))
            ),
            ".345\N{NO-BREAK SPACE}→.0013",
            "n is 60, not 99: example ids collide; t is 20, not 103: prompts repeat",
        ]
    ]
    names = ["same4-shotdemo", "other4-shotdemo", "weather4-shotdemo (nf4)"]
    assert [row[1] for row in claims[1:]] == names
    assert (
        "- **As published:** n = 99, t = 103, standard baseline .200, maximum random "
        "baseline .312, p_max = .345, between baselines; n is 60, not 99: example ids collide; "
    ) in text


def test_a_number_that_is_as_published_is_written_once() -> None:
    other = recorded(published="between baselines")
    assert other.published is not None
    other.published.n = 60
    [row] = read(markdown(run(other))).tables[1][1:]
    assert row[2] == "60"
    assert "→" in row[3]


def test_verdicts_that_all_stay_are_told_without_a_table() -> None:
    text = markdown(run(recorded(published="above maximum")))
    assert "0 of 1 published verdict changes where n, t" in text
    assert len(read(text).tables) == 1
    assert "published" not in markdown(run(recorded()))


@pytest.mark.parametrize("tasks", [2, 30])
def test_every_claim_stands_in_the_table_and_in_the_details_once(tasks: int) -> None:
    claims = [*several(tasks=tasks), untested(), scored(), hand_written()]
    text = markdown(run(*claims))
    (table,) = (table for table in read(text).tables if table[0][0] == "result")
    assert sorted(row[1].partition("4-shot")[0] for row in table[1:])
    assert len(table) == 1 + len(claims)
    for each in claims:
        name = each.id.partition("::")[2]
        assert text.count(f"<code>{name}</code>") == 1
        assert sum(row[1].startswith(each.task) for row in table) >= 1
    assert f"<summary>{len(claims)} claims in detail</summary>" in text


def test_what_to_look_at_is_folded_where_it_is_long_with_failures_first() -> None:
    odd = [claim(best=41, id=f"a::{place}", task=f"t{place}") for place in range(3)]
    few = markdown(run(*odd))
    assert "more to look at" not in few
    many = markdown(run(*odd, claim(red_flags=[flag("odd")])))
    above, folded = many.split("<summary>1 more to look at</summary>")
    assert above.count("- ❌ `t") == 3
    assert folded.partition("</details>")[0].count("- 🚩 `weather`") == 1
    assert folded.partition("</details>")[0].count("- 🚩 `weather`") == 1


def test_flags_of_claims_that_pass_are_named_above_the_table_each_kind_once() -> None:
    flags = [flag("30 of 60 scores tie.", kind="tied_scores")]
    several = [recorded(red_flags=flags, id=f"a::{place}", task=f"t{place}") for place in range(5)]
    assert lines(run(*several))[-1] == "🚩 t0 4-shot, t1 4-shot, t2 4-shot and 2 more: scores tie"
    passing = run(claim(red_flags=flags), claim(task="rain"))
    assert lines(passing) == ["🚩 weather 4-shot: passes, but scores tie"]


def of_guessers(number: int, **changed: Any) -> RunRecord:
    """Make so many claims, of which the first three pass."""
    best = [45 if place < 3 else 35 for place in range(number)]
    return run(*[claim(best=each, task=f"t{i}", **changed) for i, each in enumerate(best)])


def test_claims_that_pass_by_luck_are_counted_only_where_that_is_true() -> None:
    told = by_luck(of_guessers(14))
    # By hand: 14 claims at level .05.
    assert told == (
        "If all answers were guesses, up to 0.7 of these 14 claims would pass on average."
    )
    assert told in read(markdown(of_guessers(14))).text
    levels = {"p_max": 0.1, "permutation_p": 0.05}
    assert by_luck(of_guessers(20, asserted=levels)).startswith(
        "If all answers were guesses, up to 1.0 "
    )
    assert by_luck(of_guessers(9)) == ""  # fewer than half of one
    assert by_luck(run(*[claim(best=35, task=f"t{i}") for i in range(20)])) == ""  # none passes
    beaten = claim(task="beaten", asserted={"beats": "max_random"})
    assert by_luck(run(beaten, *of_guessers(14).claims)) == ""  # luck alone beats it half the time
    assert by_luck(run(*[recorded(task=f"t{i}") for i in range(20)])) == ""

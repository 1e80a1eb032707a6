"""A label-bias check tells knowledge from label preference, with all its numbers."""

from __future__ import annotations

import csv as reader
import io
import json
import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.notation import percent
from pytest_maxrandom.record import InteractionBias, LabelBiasRecord, LabelRow, RunRecord, SweepCost
from pytest_maxrandom.reports.changes import Kind, changes
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.csv import csv
from pytest_maxrandom.reports.label_bias import (
    asked_as,
    bias_cost,
    bias_facts,
    bias_found,
    correlation,
    recalls,
    required_score,
    score_p,
)
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from pytest_maxrandom.reports.results import dump, load, load_untrusted
from pytest_maxrandom.reports.summary import tally
from pytest_maxrandom.reports.text import shorten, visible
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.labels import LITTLE_MASS
from tests.notes import noted
from tests.unit.reports import page, test_html
from tests.unit.reports.hostile import HOSTILE
from tests.unit.reports.opened import html
from tests.unit.reports.samples import calibrated, claim, interaction, label_bias, run, shown
from tests.unit.reports.test_csv import parsed
from tests.unit.reports.test_latex import cited

if TYPE_CHECKING:
    from pathlib import Path


KNOWS = interaction(0.64, 0.56, 0.66, 0.46)
MOVED = interaction(0.5, 0.4, 0.45, 0.5, interaction="counterfactual")
TWO = interaction(0.7, 0.5)
WITHOUT: dict[str, Any] = {
    "finding": None,
    "sentence": None,
    "outcome": "error",
    "message": "the model could not be loaded",
}


def without_result(**changed: Any) -> LabelBiasRecord:
    return replace(label_bias(task="broken"), interactions=[], **{**WITHOUT, **changed})


def many() -> RunRecord:
    """Make a run of four checks, one of which asks in two ways and one of which has no result."""
    return run(
        claim(),
        label_bias=[
            label_bias(),
            label_bias(KNOWS, MOVED, task="facts", check="move"),
            label_bias(TWO, task="moods", check="redraw", asserted={}, finding="cannot tell"),
            without_result(),
        ],
    )


def section(text: str) -> page.Page:
    """Return what a Markdown report says of label bias."""
    return page.read(page.folded(text, "Label bias"))


def test_each_way_of_asking_has_a_row_in_markdown() -> None:
    # By hand: (.98 + .01 + .01 + .01 - .98) / 3; standard deviation of (.98, .01, .01, .01).
    table = section(markdown(many())).tables[0]
    assert table[1] == [
        "❌\xa0fails",
        "label preference",
        "weather[demo-nf4-4shot]",
        "recallcloze",
        *("100", "10"),
        ".010.317",
        "> .999",
        ".420",
        "+.97-.13 to +1.00",
    ]
    assert [row[3] for row in table[2:4]] == [
        "movecloze",
        "movecounterfactual",
    ]
    assert table[4][3:] == ["redrawcloze", "100", "10", ".500.317", "1.0e-04", ".100", "-"]
    assert table[5] == [
        "⚠️\xa0error",
        "-",
        "broken[demo-nf4-4shot]::label_bias",
        *("recall", "-", "-", "--", "-", "-", "-"),
    ]


def test_every_label_has_a_row_with_its_numbers() -> None:
    asked = interaction(0.5, None, 0.6)
    for row in asked.labels:
        row.base_rate = None
    found = section(markdown(run(label_bias=[label_bias(), label_bias(asked, task="t")])))
    assert found.tables[1] == [
        ["label", "right in", "recall", "share of the answers", "base rate"],
        ["A", "25", ".980", ".993", ".533"],
        ["B", "25", ".010", ".003", ".267"],
        ["C", "25", ".010", ".003", ".133"],
        ["D", "25", ".010", ".003", ".067"],
    ]
    assert found.tables[2] == [
        ["label", "right in", "recall", "share of the answers"],
        ["A", "33", ".500", ".800"],
        ["B", "0", "-", ".000"],
        ["C", "33", ".600", ".200"],
    ]
    document = test_html.read(html(run(label_bias=[label_bias()])))
    (table,) = (table for table in document.tables if table[0][0] == "label")
    assert [row[:3] + row[4:] for row in table[1:3]] == [
        ["A", "25", ".980", ".993", ".533"],
        ["B", "25", ".010", ".003", ".267"],
    ]


def test_the_sentence_of_the_finding_is_told_in_full() -> None:
    record = run(label_bias=[label_bias()])
    sentence = str(record.label_bias[0].sentence)
    assert section(markdown(record)).text.count(sentence) == 1
    assert test_html.read(html(record)).text.count(sentence) == 1


def test_two_kinds_of_guessers_are_named_where_both_were_asked() -> None:
    for check in ("recall", "move", "redraw"):
        told = run(label_bias=[label_bias(check=check)])
        text = page.read(markdown(told) + disclosure(told)).text
        assert text.count("keep to one choice of each example") == 2 * (check != "recall")


def test_every_way_of_asking_stands_in_html_latex_and_the_terminal_once() -> None:
    record = many()
    (table,) = (
        table
        for table in test_html.read(html(record)).tables
        if table[0][:4] == ["claim", "result", "finding", "check"]
    )
    assert [row[3] for row in table[1:]] == [
        *("recallcloze", "movecloze", "movecounterfactual", "redrawcloze", "recall"),
    ]
    assert table[1][4:] == ["100", "10", ".010.317", ">\xa0.999", ".420", "+.97-.13 to +1.00"]
    text = latex(record)
    for key, number in (("label-bias", 5), ("labels", 4 + 4 + 4 + 2)):
        body = text.partition(rf"\label{{tab:maxrandom-{key}}}")[2].partition(r"\end{tab")[0]
        lines = body.rpartition(r"\midrule")[2].splitlines()
        assert len([line for line in lines if " & " in line]) == number
    lines = shown(record)
    heads = [line.endswith("  label bias") for line in lines]
    lines = lines[heads.index(True) + 1 :]
    assert len(lines) == 5
    ends = [line.rpartition("  ")[2] for line in lines]
    names = ("weather", "facts", "facts", "moods", "broken")
    assert sorted(ends) == sorted(f"{name}[demo-nf4-4shot]" for name in names)
    results = [line.split()[0] for line in lines]
    assert results == sorted(results, key=["fails", "error", "passes", "reported"].index)


def test_prompts_are_named_so_that_it_is_seen_where_a_name_ends() -> None:
    named = replace(KNOWS, best_prompt="0123456789abcdef" * 4, score_prompt="variant 10")
    told = dict(bias_facts(named, label_bias(named)))
    assert "of prompt 0123456789ab, n" in told["Highest accuracy"]
    assert told["Nvr-X score"].startswith(
        ".553 of the best of t = 10 prompts, which is 'variant 10'; "
    )


@pytest.mark.parametrize(("by_content", "who"), [(False, "a random guesser"), (True, "a random "
                         "guesser who keeps to one choice of each example")])  # fmt: skip
def test_one_prompt_is_no_best_of_several(by_content: bool, who: str) -> None:
    alone = replace(KNOWS, t=1, by_content=by_content)
    told = dict(bias_facts(alone, label_bias(alone)))["Nvr-X score"]
    assert f" of the only prompt (t = 1); {who} .317" in told
    assert "the only prompt (t = 1) reaches" in asked_as(alone, label_bias(alone))


def test_many_labels_make_a_table_over_several_pages() -> None:
    asked = interaction(*[0.5] * 41)
    text = latex(run(label_bias=[label_bias(asked)]))
    assert text.count(r"\begin{longtable}") == 1
    assert len(section(markdown(run(label_bias=[label_bias(asked)]))).tables[1]) == 42


@given(text=page.any_text)
@example(text=HOSTILE)
@settings(max_examples=25, deadline=None)
def test_a_label_is_shown_as_it_is(text: str) -> None:
    asked = interaction(0.7, 0.5)
    asked.labels[0].label = text
    table = section(markdown(run(label_bias=[label_bias(asked)]))).tables[1]
    assert [row[0] for row in table[1:]] == [shorten(visible(text), 40), "B"]


@pytest.mark.parametrize("mass", [LITTLE_MASS, 0.0099, 0.0001, 0.9])
def test_base_rates_of_next_to_no_mass_are_said_to_say_little(mass: float) -> None:
    asked = interaction(0.64, 0.56, 0.66, 0.46, base_rate_mass=mass)
    for text in (markdown(run(label_bias=[label_bias(asked)])),):
        assert ("below 1 %" in text) == (mass < LITTLE_MASS)
    (told,) = (said for title, said in bias_facts(asked, label_bias(asked)) if title[0] == "B")
    assert told.startswith(f"all labels together have {percent(mass)} of the probability")


def test_a_correlation_is_told_of_four_labels_or_more() -> None:
    assert correlation(KNOWS) == "r = +.97 (95 % interval -.13 to +1.00)"
    assert correlation(TWO) == ""
    assert correlation(replace(KNOWS, r=1.0, r_low=None, r_high=None)) == (
        "r = +1.00 (only two values, so no interval)"
    )
    assert (
        "fewer than 4 labels give no correlation"
        in dict(bias_facts(TWO, label_bias(TWO)))["Base rates"]
    )
    assert "no correlation" not in dict(bias_facts(KNOWS, label_bias()))["Base rates"]


def test_recalls_are_told_by_their_labels() -> None:
    assert recalls(KNOWS) == ".460 (D) to .660 (C)"
    assert recalls(interaction(1.0, 1.0)) == "1.000 of every label"
    assert recalls(replace(KNOWS, labels=[LabelRow("A", 0, None, 1.0)])) == ""
    long = replace(TWO, labels=[LabelRow("x" * 500, 5, 0.5, 1.0)])
    assert len(recalls(long)) < 120


def test_a_p_value_is_seen_on_its_side_of_the_level() -> None:
    asked = interaction(0.5, 0.4, p_value=0.05004)
    assert score_p(asked, label_bias(asked)) == ".05004"
    assert score_p(asked, label_bias(asked, asserted={})) == ".050"
    said = required_score(label_bias(asserted={"above_random": 0.01}))
    assert said.endswith("p at most .01, also with shuffled right answers")
    said = required_score(label_bias(asserted={"above_random": 0.01}, check="move"))
    assert said.endswith("p at most .01")
    assert required_score(label_bias(asserted={})) == ""


def test_what_a_check_cost_is_told_in_sweeps() -> None:
    engine = SweepCost("cpu", "bfloat16", requests=1200, tokens_forwarded=51200, seconds=3.4)
    assert bias_cost(label_bias()) == "nothing beyond the claim's own sweep"
    told = bias_cost(label_bias(engine=engine, sweeps=2.1))
    assert told.startswith("2.1 sweeps, in tokens; 1,200 choices scored with 51,200 tokens")
    assert bias_cost(label_bias(engine=engine)).startswith("1,200 choices scored")
    stored = replace(engine, requests=0, tokens_forwarded=0, seconds=0.0, reused=4)
    assert bias_cost(label_bias(engine=stored)).startswith("4 prompts read from the results store")
    assert bias_cost(without_result()) == ""


def test_calibrated_scores_stand_beside_plain_ones() -> None:
    both = [calibrated(), calibrated(method="contextual", n=100, prior={})]
    asked = interaction(0.64, 0.56, 0.66, 0.46, calibrated=both)
    table = section(markdown(run(label_bias=[label_bias(asked)]))).tables[2]
    assert table[1:] == [
        ["PriDe", "95", ".60057/95", ".579", ".321", "1.1e-04", "A .400, B .300, C .200, D .100"],
        ["contextual calibration", "100", ".60057/100", ".579", ".321", "1.1e-04", "-"],
    ]


def test_the_tally_counts_checks_by_themselves() -> None:
    assert tally(many()) == (
        "1 of 1 claim passes; 1 of 3 label-bias checks fails, 1 could not be tested, 1 passes, "
        "1 reported"
    )


def test_a_claim_tells_what_its_check_found() -> None:
    text = page.read(markdown(run(claim(), label_bias=[label_bias()]))).text
    told = "Nvr-X score .010 (best guesser .317, p > .999): label preference"
    assert bias_found(label_bias()) == told
    assert f"Label bias: {told}" in text
    assert "Label bias:" not in markdown(run(claim(id="s.yaml::x"), label_bias=[label_bias()]))


CHANGED: list[tuple[dict[str, Any], dict[str, Any], Kind, str]] = [
    ({"asked": KNOWS}, {}, "fell", "newly fails"),
    ({}, {"asked": KNOWS}, "rose", "newly passes"),
    ({"asked": KNOWS}, {"asked": KNOWS, "asserted": {}}, "weakened", "is only reported now"),
    (
        {"asked": KNOWS},
        {"asked": KNOWS, "asserted": {"above_random": 0.1}},
        "weakened",
        "asserts less",
    ),
    ({"asked": KNOWS}, {"asked": KNOWS, "check": "move"}, "other", ""),
    ({"asked": KNOWS}, {"asked": interaction(0.6, 0.5, 0.6, 0.6)}, "other", ""),
    ({}, {}, "same", ""),
]


def checked(asked: InteractionBias | None = None, **changed: Any) -> RunRecord:
    return run(label_bias=[label_bias(*([asked] if asked else []), **changed)])


@pytest.mark.parametrize(("before", "now", "kind", "what"), CHANGED)
def test_what_became_of_it_since_the_base_is_told(
    before: dict[str, Any], now: dict[str, Any], kind: Kind, what: str
) -> None:
    (change,) = changes(checked(**now), checked(**before))
    assert (change.kind, change.what) == (kind, what)


def test_both_p_values_of_the_score_stand_together() -> None:
    told = dict(bias_facts(KNOWS, label_bias(KNOWS)))["Nvr-X score"]
    assert told.endswith(
        "; p = 1.0e-04 (Monte Carlo error 2.0e-05), with shuffled right answers 2.0e-04"
    )
    alone = replace(KNOWS, permutation_p=None, p_error=0.0)
    assert dict(bias_facts(alone, label_bias(alone)))["Nvr-X score"].endswith("; p = 1.0e-04")
    close = replace(KNOWS, permutation_p=0.05004)
    assert "answers .05004" in dict(bias_facts(close, label_bias(close)))["Nvr-X score"]


def test_why_a_check_fell_is_told_with_both_numbers() -> None:
    (change,) = changes(checked(), checked(KNOWS, check="move"))
    assert change.why == (
        "claims: the best prompt's Nvr-X score is above the best guesser's, p at most .05, also "
        "with shuffled right answers, before: the best prompt's Nvr-X score is above the best "
        "guesser's, p at most .05",
        "check from move to recall",
        "Nvr-X score from .553 to .010",
        "p from 1.0e-04 to > .999",
        "p, shuffled from 2.0e-04 to > .999",
        "RStd from .079 to .420",
        "finding from knowledge to label preference",
    )


def test_a_way_of_asking_that_is_gone_is_told() -> None:
    both = run(label_bias=[label_bias(KNOWS, MOVED)])
    (change,) = changes(checked(KNOWS), both)
    assert change.why == ("asked as from cloze, counterfactual to cloze",)


ALWAYS = {"moore-2024", "zheng-2024"}


@pytest.mark.parametrize(
    ("record", "keys"),
    [
        (label_bias(), ALWAYS),
        (label_bias(base_rate="content_free"), ALWAYS | {"zhao-2021"}),
        (label_bias(interaction(0.5, 0.4, calibrated=[calibrated()])), ALWAYS),
        (
            label_bias(interaction(0.5, 0.4, calibrated=[calibrated(method="contextual")])),
            ALWAYS | {"zhao-2021"},
        ),
        (without_result(), set()),
    ],
)
def test_exactly_the_methods_that_were_used_are_cited(
    record: LabelBiasRecord, keys: set[str]
) -> None:
    made = run(label_bias=[record])
    entries = set(re.findall(r"^@\w+\{([^,]+),$", bibtex(made), re.MULTILINE))
    assert cited(latex(made)) == entries == keys
    assert ("asked as" in disclosure(made)) == bool(keys)


def test_the_disclosure_says_what_a_paper_must_say() -> None:
    asked = replace(KNOWS, calibrated=[calibrated()])
    biased = label_bias(asked, check="move", xfail="small")
    told = page.read(disclosure(run(label_bias=[biased]))).text
    for fact in (
        "the best prompt of demo (nf4) on weather (4-shot) knows answers or prefers a label",
        "every right answer at every label",
        "asked as cloze, the best of t = 10 prompts reaches an Nvr-X score of .553 on n = 100",
        "the best of as many random guessers .317 on average (p = 1.0e-04, with "
        "shuffled right answers 2.0e-04)",
        "recalls of the labels .460 (D) to .660 (C), RStd .079",
        "correlation with their base rates r = +.97 (95 % interval -.13 to +1.00)",
        "Finding: knowledge.",
        "With PriDe, the best of t = 10 prompts answers 57 of n = 95 correctly (.600; the best "
        "without it, by the labels' probabilities, "
        ".579, maximum random baseline .321, p_max = 1.1e-04).",
        "This was expected to fail (small).",
        "PriDe removes from the scores a prior",
    ):
        assert fact in told


def test_terms_are_explained_with_their_sources() -> None:
    plain = section(markdown(run(label_bias=[label_bias()]))).text
    assert "arXiv:2406.11634" in plain
    assert "arXiv:2309.03882" in plain
    assert "drawn anew" not in plain
    redrawn = section(markdown(run(label_bias=[label_bias(check="redraw")]))).text
    assert "least accuracy when right answers are drawn anew" in redrawn
    assert "mean of the recalls" not in redrawn


def test_csv_has_a_row_for_each_label_and_one_for_a_check_without_any() -> None:
    record = many()
    found = list(reader.DictReader(io.StringIO(csv(record, "label_bias"), newline=""), strict=True))
    expected = [
        (each, bias, row)
        for each in record.label_bias
        for bias in each.interactions
        for row in bias.labels
    ]
    assert len(found) == len(expected) + 1
    for cells, (each, bias, row) in zip(found, expected, strict=False):
        assert json.loads(cells["assert"] or "{}") == each.asserted
        assert (cells["task"], cells["interaction"]) == (each.task, bias.interaction)
        for prefix, part in (("interaction", bias), ("label", row)):
            for field in fields(part):
                if field.name not in ("interaction", "label", "labels", "calibrated"):
                    value = getattr(part, field.name)
                    assert parsed(cells[f"{prefix}_{field.name}"], value) == value
        assert cells["label"] == row.label
    assert (found[-1]["task"], found[-1]["outcome"], found[-1]["label"]) == ("broken", "error", "")


def test_csv_has_a_row_for_each_calibration() -> None:
    both = [calibrated(prior={"A": 0.75, "B": 0.25}), calibrated(method="contextual", prior={})]
    asked = interaction(0.64, 0.56, 0.66, 0.46, calibrated=both)
    text = csv(run(label_bias=[label_bias(asked)]), "calibrated")
    found = list(reader.DictReader(io.StringIO(text, newline=""), strict=True))
    assert [cells["calibrated_method"] for cells in found] == ["pride", "contextual"]
    for cells, one in zip(found, both, strict=True):
        assert cells["interaction"] == asked.interaction
        assert float(cells["interaction_score"]) == asked.score
        assert json.loads(cells["calibrated_prior"] or "{}") == one.prior
        for name in ("n", "best_correct", "p_max", "max_random_baseline", "plain_accuracy"):
            assert float(cells[f"calibrated_{name}"]) == getattr(one, name)


def test_the_json_report_keeps_every_check(tmp_path: Path) -> None:
    path, checked = tmp_path / "r.json", many()
    for claimed in checked.claims:
        word(claimed)
    for bias in checked.label_bias:
        word(bias)
    path.write_text(dump(checked), encoding="utf-8")
    assert load(path) == checked
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["label_bias"][0]["assert"] == {"above_random": 0.05}


def test_a_check_of_a_fork_keeps_its_numbers_and_known_words_only(tmp_path: Path) -> None:
    asked = interaction(0.98, 0.01, 0.01, 0.01, calibrated=[calibrated(prior={"z" * 999: 0.5})])
    asked.labels[0].label = "y" * 5000
    told = label_bias(asked, asserted={"above_random": 0.05, "visit": "https://example.com"})
    path = tmp_path / "r.json"
    path.write_text(dump(run(label_bias=[told])))
    (found,) = load_untrusted(path).label_bias
    assert found.asserted == {"above_random": 0.05}
    assert (found.sentence, found.message) == ("the full report says what",) * 2
    assert noted(found) == []
    assert found.finding == "label preference"
    assert found.interactions[0].score == asked.score
    assert [row.recall for row in found.interactions[0].labels] == [0.98, 0.01, 0.01, 0.01]
    assert len(found.interactions[0].labels[0].label) == 60
    assert [len(name) for name in found.interactions[0].calibrated[0].prior] == [60]
    assert "example.com" not in comment(load_untrusted(path), untrusted=True)


@pytest.mark.parametrize("key", ["finding", "check", "base_rate"])
def test_an_unknown_word_in_place_of_a_known_one_is_refused(key: str, tmp_path: Path) -> None:
    content = json.loads(dump(run(label_bias=[label_bias()])))
    content["label_bias"][0][key] = "brilliant"
    path = tmp_path / "r.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ReportError, match=rf"label_bias\[0\].{key}.: found 'brilliant'"):
        load_untrusted(path)


def test_a_comment_is_short_whatever_the_labels_are() -> None:
    asked = interaction(0.98, 0.01, 0.01, 0.01)
    for row in asked.labels:
        row.label = "x" * 10_000
    record = run(label_bias=[label_bias(asked, sentence="y" * 10_000, message="z" * 10_000)])
    text = comment(record)
    assert len(text) < 3000
    assert "label preference" in text

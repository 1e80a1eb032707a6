"""Replicates, comparisons and contamination checks are as visible as claims, in every report."""

from __future__ import annotations

import csv as reader
import io
import json
import re
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.ci.gate import judge
from pytest_maxrandom.record import Arithmetic, ClaimRecord, ContaminationRecord
from pytest_maxrandom.reports.annotations import annotate
from pytest_maxrandom.reports.changes import changes, counted
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.csv import TABLES, columns, csv
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
from pytest_maxrandom.reports.results import dump, load, load_untrusted
from pytest_maxrandom.reports.summary import (
    designs,
    names,
    overall,
    records,
    symbol,
    tally,
    versions,
)
from pytest_maxrandom.reports.wording import failure, word
from tests.unit.reports import page, test_html
from tests.unit.reports.opened import claims, html
from tests.unit.reports.samples import (
    allowed,
    best_models,
    calibrated,
    claim,
    comparison,
    contamination,
    designed,
    interaction,
    label_bias,
    over_tasks,
    recorded,
    replicates,
    run,
    shown,
    untested,
)
from tests.unit.reports.test_csv import parsed
from tests.unit.reports.test_latex import cited

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.record import Design, Record, RunRecord
    from pytest_maxrandom.reports.changes import Kind

HERE = Path("/repository")
TASKS = [f"task_{number}" for number in range(3)]


def many() -> RunRecord:
    """Make a run of three tasks with every kind of record, some of which fail."""
    return run(
        *[claim(task=task) for task in TASKS],
        replicates=[
            replicates(45, 44, 30 + 5 * place, task=task) for place, task in enumerate(TASKS)
        ],
        comparisons=[
            comparison(0.03 * place - 0.03, task=task, id=f"s.yaml::{task}::compare[{arms}]")
            for place, task in enumerate(TASKS)
            for arms in ("nf4-none", "int8-none")
        ],
        contamination=[contamination(task=task) for task in TASKS],
        over_tasks=[over_tasks(), over_tasks(first="int8")],
    )


def sections(text: str) -> dict[str, list[list[list[str]]]]:
    """Return the tables of sections of a Markdown report outside of details, by their titles."""
    titles = re.findall(r"<summary>(\w[\w' ?]*)</summary>", text)
    return {
        title: page.read(page.folded(text, title).partition("<details>")[0]).tables
        for title in titles
    }


def test_every_record_stands_in_the_tables_and_the_details_of_markdown_once() -> None:
    record = many()
    text = markdown(record)
    found = sections(text)
    (repeated,) = found["Replicates"]
    (compared,) = found["Comparisons"]
    (over,) = found["Over tasks"]
    (tuned,) = found["Was it tuned on the benchmark's text?"]
    assert [row[1] for row in repeated[1:]] == [
        names(record)[each.claim] for each in record.replicates
    ]
    assert [row[1] for row in compared[1:]] == [each.task for each in record.comparisons]
    assert [row[0] for row in over[1:]] == ["nf4- none", "int8- none"]
    assert [row[1] for row in tuned[1:]] == TASKS
    for name in names(record).values():
        assert text.count(f"<code>{name}</code>") == 1


def test_a_row_of_markdown_holds_the_numbers_of_its_record() -> None:
    found = sections(markdown(designed(claim())))
    assert found["Comparisons"][0][1] == [
        "❌\xa0fails",
        "weather",
        "nf4- none",
        "4",
        "n = 60t = 20K = 20",
        ".579.600",
        "-.021-.041 to -.001 (95 %)",
        ".031",
        ".041.094",
        "-.012-.033 to +.011",
        "1 of 2",
    ]
    # By hand, as in test_markdown: 1 - scipy.stats.binom(60, .5).cdf(k - 1)**20 of 45, 44 and 30.
    assert found["Replicates"][0][1] == [
        "❌\xa0fails",
        "weather[demo-nf4-4shot]",
        "3 of 4",
        "1 of 4",
        ".733.500 to .750▄▁▁█",
        ".620",
        ".0013.0013 to > .999",
    ]
    assert found["Was it tuned on the benchmark's text?"][0][1][3:] == [
        "+.081p .0012",
        "+.052p .0041",
        "tuned on the text",
    ]


def test_every_record_stands_in_html_once() -> None:
    record = many()
    document = test_html.read(html(record))
    tables = {tuple(table[0][:3]): table[1:] for table in document.tables}
    assert [row[0] for row in tables["claim", "result", "passes in"]] == [
        names(record)[each.claim] for each in record.replicates
    ]
    assert [row[0] for row in tables["task", "result", "arms"]] == [
        each.task for each in record.comparisons
    ]
    assert [row[0] for row in tables["task", "result", "shots"]] == TASKS
    assert len(tables["arms", "shots", "tasks"]) == 2
    titles = [one.partition(": ")[0].partition(",")[0] for one in document.summaries]
    claimed = [shown["name"] for shown in claims(html(record))]
    assert claimed == [names(record)[each.id] for each in record.claims]
    for name in names(record).values():
        assert len([title for title in titles if title.endswith(f" {name}")]) == (
            name not in claimed
        )


@pytest.mark.parametrize("copies", [1, 30])
def test_every_record_stands_in_latex_once(copies: int) -> None:
    record = many()
    record = replace(record, comparisons=record.comparisons * copies)
    text = latex(record).partition(r"\paragraph")[0]
    number = {
        "replicates": 3,
        "comparisons": 6 * copies,
        "over-tasks": 2,
        "contamination": 3,
    }
    for key, expected in number.items():
        table = text.partition(rf"\label{{tab:maxrandom-{key}}}")[2]
        body = re.split(r"\\endlastfoot|\\midrule", table)[2 if expected > 40 else 1]
        body = re.split(r"\\bottomrule|\\end\{longtable\}", body)[0]
        assert len([line for line in body.splitlines() if " & " in line]) == expected
    assert text.isascii()


def test_every_record_stands_in_the_terminal_once() -> None:
    record = many()
    named = [line.rpartition("  ")[2] for line in shown(record, verbosity=1)]
    for name in (*TASKS, "nf4 - none", "int8 - none"):
        number = 1 if " - " in name else 5  # claim, replicates, two comparisons, contamination
        assert len([each for each in named if each.startswith(name)]) == number


def read_csv(record: RunRecord, table: str) -> list[dict[str, str]]:
    found = list(reader.DictReader(io.StringIO(csv(record, table), newline=""), strict=True))
    assert all(row.keys() == set(columns(table)) for row in found)
    return found


@pytest.mark.parametrize("table", ["comparisons", "contamination", "over_tasks"])
def test_numbers_of_csv_parse_back(table: str) -> None:
    record = many()
    found = read_csv(record, table)
    assert len(found) == len(getattr(record, table))
    for row, each in zip(found, getattr(record, table), strict=True):
        for field in fields(each):
            if field.name in ("prompts", "by_replicate"):
                continue
            value = asdict(each)[field.name]
            assert parsed(row["assert" if field.name == "asserted" else field.name], value) == value


def test_csv_has_a_row_for_each_replicate_and_one_for_a_claim_without_any() -> None:
    record = run(replicates=[replicates(45, 30), replicates(task="f1", id="s.yaml::f1")])
    first, second, without = read_csv(record, "replicates")
    assert [first["replicate"], second["replicate"], without["replicate"]] == ["1", "2", ""]
    for row, one in zip((first, second), record.replicates[0].runs, strict=True):
        assert float(row["replicate_p_max"]) == one.p_max
        assert int(row["replicate_best_correct"]) == one.best_correct
        assert row["task"] == "weather"
        assert json.loads(row["assert"]) == {"p_max": 0.05, "in_replicates": 0.9}
    assert (without["task"], without["outcome"]) == ("f1", "error")


def test_csv_has_what_computed_a_comparison() -> None:
    cpu = Arithmetic("x86_64", "torch", {"torch": "2.8"})
    (row,) = read_csv(run(comparisons=[comparison(arithmetics=[cpu])]), "comparisons")
    assert json.loads(row["arithmetics"]) == [asdict(cpu)]


@pytest.mark.parametrize("table", TABLES)
def test_columns_of_csv_are_there_once(table: str) -> None:
    assert csv(run(), table) == ",".join(columns(table)) + "\r\n"
    assert len(set(columns(table))) == len(columns(table))


def test_the_json_report_keeps_every_record(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    made = many()
    path.write_text(dump(made), encoding="utf-8")
    for each in records(made):
        word(each)
    assert load(path) == made
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["comparisons"][0]["assert"] == {"not_worse_than": -0.02}
    assert "asserted" not in content["replicates"][0]


FAILING: dict[str, Design] = {
    "replicates": replicates(45, 30),
    "label_bias": label_bias(),
    "comparisons": comparison(),
    "contamination": contamination(),
}
HOLDING: dict[str, Design] = {
    "replicates": replicates(45, 46),
    "label_bias": label_bias(interaction(0.64, 0.56, 0.66, 0.46)),
    "comparisons": comparison(0.03),
    "contamination": contamination("no sign of it"),
}


def only(kind: str, record: Record) -> RunRecord:
    return run(**{kind: [record]})


REASONS = {
    "label_bias": "label preference; Nvr-X score .010 (best guesser .317, p > .999)",
    "contamination": "tuned on the text",
}


@pytest.mark.parametrize("kind", FAILING)
def test_a_failure_is_told_on_top_of_every_report_and_to_the_gate(kind: str) -> None:
    failing = FAILING[kind]
    record = only(kind, failing)
    (name,) = names(record).values()
    for text in (markdown(record), comment(record)):
        assert text.startswith("### ❌ maxrandom: 1 of 1 ")
        first = page.read(text).text.split("\n\n")[1]
        assert first.strip().startswith(f"❌ {name}: ")
        assert REASONS.get(kind, str(failing.message)) in first
    text = html(record)
    assert "❌ 1 of 1 " in text
    assert f"<li>❌ <code>{name}</code>: " in text
    (told,) = annotate(record, HERE, HERE)
    assert (told.title, told.line) == (f"{name} fails", failing.line)
    assert told.path == HERE / failing.suite
    outcome = judge(1, record, "suites")
    assert (outcome.word, outcome.passed, outcome.failed) == ("failed", 0, 1)


@pytest.mark.parametrize("kind", HOLDING)
def test_a_run_without_claims_that_holds_was_tested(kind: str) -> None:
    record = only(kind, HOLDING[kind])
    for text in (markdown(record), comment(record), html(record)):
        assert "o claim was tested" not in text
        assert re.search("✅ (maxrandom: )?1 of 1 ", text)
        assert "t = -" not in text
        assert "&#45;" not in text.partition("\n")[0]
    assert not annotate(record, HERE, HERE)
    outcome = judge(0, record, "suites")
    assert (outcome.word, outcome.code, outcome.passed) == ("passed", 0, 1)


def test_the_tally_counts_each_kind_by_itself() -> None:
    assert tally(many()) == (
        "3 of 3 claims pass; 3 of 3 replicated claims fail; 4 of 6 comparisons fail, 2 pass; "
        "3 of 3 contamination checks fail"
    )
    assert symbol(many()) == "❌"
    reported = comparison(asserted={}, outcome="passed", passed=True)
    level_only = comparison(asserted={"level": 0.05}, outcome="passed", passed=True)
    assert tally(run(comparisons=[reported, level_only])) == "2 comparisons reported"
    assert symbol(run(comparisons=[reported])) == "📋"
    told = run(claim(), comparisons=[comparison(0.03), reported], not_run=2)
    assert (
        tally(told) == "1 of 1 claim passes; 1 of 1 comparison passes, 1 reported; 2 were not run"
    )
    assert "2 tests have no result" in markdown(told)


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
    assert units(comparison(units="examples", sampled={})) == "examples"
    assert units(comparison(units="examples", sampled={}, replicates=1)) == "60 examples"
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
        comparisons=[comparison(sampled=sampled)], contamination=[contamination(sampled=sampled)]
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
    assert not told.cause.startswith("cannot tell")
    leak = contamination(boost=-0.012, boost_p=0.6, message=None)
    leak.message = failure(leak)
    told = headline(leak)
    assert (told.found, told.cause[:25]) == (LEAK, "test is +.052 above extra")
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


CHANGED: list[tuple[Callable[..., Any], dict[str, Any], dict[str, Any], Kind, str]] = [
    (comparison, {"difference": 0.03}, {"difference": -0.03}, "fell", "newly fails"),
    (comparison, {"difference": -0.03}, {"difference": 0.03}, "rose", "newly passes"),
    (comparison, {"difference": 0.03}, {"difference": 0.04}, "other", ""),
    (comparison, {}, {}, "same", ""),
    (
        comparison,
        {"difference": 0.03},
        {"difference": 0.03, "asserted": {"not_worse_than": -0.05}},
        "weakened",
        "asserts less",
    ),
    (
        comparison,
        {"difference": 0.03, "asserted": {"better": 0.0}},
        {"difference": 0.03, "asserted": {"better": 0.01}},
        "other",
        "",
    ),
    (
        comparison,
        {"difference": 0.03},
        {"difference": 0.03, "asserted": {}},
        "weakened",
        "is only reported now",
    ),
    (contamination, {"finding": "no sign of it"}, {}, "fell", "newly fails"),
]


@pytest.mark.parametrize(("make", "before", "now", "kind", "what"), CHANGED)
def test_what_became_of_it_since_the_base_is_told(
    make: Callable[..., Record], before: dict[str, Any], now: dict[str, Any], kind: Kind, what: str
) -> None:
    where = "comparisons" if make is comparison else "contamination"
    (change,) = changes(only(where, make(**now)), only(where, make(**before)))
    assert (change.kind, change.what) == (kind, what)


def test_fewer_replicates_that_must_hold_are_a_weaker_claim() -> None:
    less = replicates(45, 46, asserted={"p_max": 0.05, "in_replicates": 0.5})
    (change,) = changes(only("replicates", less), only("replicates", HOLDING["replicates"]))
    assert (change.kind, change.what) == ("weakened", "asserts less")


def test_why_it_fell_is_told_with_both_numbers() -> None:
    now, before = only("comparisons", comparison()), only("comparisons", comparison(0.03))
    (change,) = changes(now, before)
    assert "difference from +.030 to -.021" in change.why
    assert counted([change]) == "1 result fell"
    text = comment(now, before)
    (first,) = re.findall("^- ❌ .*", text.replace("&#8203;", ""), re.MULTILINE)
    assert "`weather::compare[nf4-none]` **newly fails**: nf4 - none is not above" in first
    assert "; difference from +.030 to -.021" in first
    assert "(before: passes)" in text


def test_a_claim_and_a_comparison_of_the_same_id_are_different_things() -> None:
    now = run(claim(id="s::x"))
    before = run(comparisons=[comparison(id="s::x")])
    assert [change.kind for change in changes(now, before)] == ["new", "gone"]


def test_a_comment_without_room_says_how_much_is_left_out() -> None:
    record = run(
        comparisons=[comparison(id=f"s.yaml::t{n}::compare[a-b]", task=f"t{n}") for n in range(400)]
    )
    text = comment(record, limit=9000)
    assert len(text.encode()) <= 9000
    shown = len(page.read(text).body)
    assert 0 < shown < 400
    assert f"{400 - shown} of 400 results are not in this table" in text


def test_untrusted_records_keep_their_numbers_and_lose_their_sentences(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(designed(claim())))
    found = load_untrusted(path)
    assert found.comparisons[0].difference == comparison().difference
    assert found.comparisons[0].asserted == {"not_worse_than": -0.02}
    assert found.comparisons[0].changed == ""
    for each in designs(found):
        assert each.message == "the full report says what"
        assert each.notes == []


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"comparisons": [comparison(best_difference=1.5)]}, "comparisons[0].best_difference"),
        ({"comparisons": [comparison(adjusted_holm=-0.1)]}, "comparisons[0].adjusted_holm"),
        ({"contamination": [contamination(boost_p=2.0)]}, "contamination[0].boost_p"),
        ({"over_tasks": [over_tasks(low=-2.0)]}, "over_tasks[0].low"),
        ({"replicates": [replicates(45, share_passed=7.0)]}, "replicates[0].share_passed"),
        ({"label_bias": [label_bias(sweeps=-1.0)]}, "label_bias[0].sweeps"),
        (
            {"label_bias": [label_bias(interaction(0.5, 0.4, r=-1.5))]},
            "label_bias[0].interactions[0].r",
        ),
        (
            {"label_bias": [label_bias(interaction(0.5, 1.2))]},
            "label_bias[0].interactions[0].labels[1].recall",
        ),
        (
            {"label_bias": [label_bias(interaction(0.5, 0.4, calibrated=[calibrated(n=-1)]))]},
            "label_bias[0].interactions[0].calibrated[0].n",
        ),
        (
            {
                "label_bias": [
                    label_bias(interaction(0.5, 0.4, calibrated=[calibrated(prior={"A": 2.0})]))
                ]
            },
            "label_bias[0].interactions[0].calibrated[0].prior.A",
        ),
    ],
)
def test_untrusted_numbers_that_no_run_has_are_refused(
    changed: dict[str, Any], place: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(run(**changed)))
    with pytest.raises(Exception, match=": found ") as caught:
        load_untrusted(path)
    assert f"'{place}'" in str(caught.value)


def test_versions_of_libraries_that_run_models_are_left_out_where_none_was_run() -> None:
    assert "torch" in versions(run(claim()))
    assert "torch" in versions(run(comparisons=[comparison()]))
    alone = run(recorded(), comparisons=[comparison()])
    assert versions(alone) == {"pytest-maxrandom": "0.1.0", "Python": "3.11.9"}
    elsewhere = run(recorded(), comparisons=[comparison(suite="other.yaml")])
    assert "torch" in versions(elsewhere)
    assert "torch" not in markdown(run(recorded()))


def skipped(number: int) -> RunRecord:
    return run(
        *[
            untested(id=f"s.yaml::t{n}", outcome="skipped", message="no GPU here", n=None, t=None)
            for n in range(number)
        ]
    )


def test_a_reason_of_many_is_told_once() -> None:
    for text in (markdown(skipped(144)), html(skipped(144))):
        top = text.partition("| result |")[0].partition('<div id="claims">')[0]
        assert top.count("no GPU here") == 1
        assert re.search("and 141 more: .*were skipped.*; no GPU here", top)
        assert "t = &#45;" not in top
        assert "<i>t</i> = -" not in top
    assert markdown(skipped(1)).startswith("### ⏭️ maxrandom: 1 of 1 claim was skipped\n")


def test_each_failure_is_told_by_itself() -> None:
    record = run(*[claim(best=41, id=f"s.yaml::t{n}") for n in range(5)])
    text = markdown(record).partition("### Best")[0]
    assert text.count("- ❌") == 5


def test_arms_of_one_model_are_told_apart_in_every_table() -> None:
    arms = [claim(id=f"s.yaml::weather[{arm}-4shot]") for arm in ("terse", "long")]
    record = run(*arms, claim(task="f1", id="s.yaml::f1[terse-4shot]"))
    names = ["weather4-shotdemo (nf4)terse", "weather4-shotdemo (nf4)long", "f14-shotdemo (nf4)"]
    for text in (markdown(record), comment(record)):
        assert [row[1] for row in page.read(text).body] == names
    assert [row[0] for row in test_html.read(html(record)).tables[-1][1:]] == names
    assert latex(record).count(r"\texttt{demo (nf4)} \texttt{terse}") == 1
    assert "prompts of demo (nf4) (arm terse) answers" in page.read(disclosure(record)).text


def test_only_records_of_claims_are_counted_for_agreement() -> None:
    text = markdown(run(comparisons=[comparison()]))
    assert "Agreement" not in text
    assert isinstance(many().claims[0], ClaimRecord)

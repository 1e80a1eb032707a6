"""Replicates, comparisons and contamination checks are as visible as claims, in every report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.ci.gate import judge
from pytest_maxrandom.record import ClaimRecord, Design, Record, RunRecord
from pytest_maxrandom.reports.annotations import annotate
from pytest_maxrandom.reports.changes import Kind, changes, counted
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from pytest_maxrandom.reports.summary import names, symbol, tally, versions
from tests.unit.reports import page, test_html
from tests.unit.reports.opened import claims, html
from tests.unit.reports.samples import (
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

if TYPE_CHECKING:
    from collections.abc import Callable


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

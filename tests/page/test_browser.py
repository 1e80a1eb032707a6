"""The page in a real browser: what it shows is what was answered, and it asks for nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.reports.page.cells import ShownSample, without_texts
from pytest_maxrandom.reports.trend import trends
from tests.page.conftest import answered, claimed, named, written
from tests.unit.reports.samples import claim, comparison, flag, label_bias, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from pytest_maxrandom.record import RunRecord
    from pytest_maxrandom.reports.page.cells import Cells

Three = tuple["RunRecord", dict[str, "Cells"]]

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202eesrever\u202c \u200f\u200bmarks",
    "\"quotes\" 'and' `ticks` ${alert(1)} {{ 7*7 }}",
    "-->]]></style><style>*{display:none}</style>",
    "👩\u200d🚀 emoji 🇩🇪",
    "a" * 400,
    "two\nlines\tand \x1b[31m",
    "\ud800",
    "&lt;b&gt;&amp;",
)


def texts(page: Page, where: str) -> list[str]:
    return page.locator(where).all_inner_texts()


def number_of(page: Page, task: str) -> str:
    """Return the part behind # that a claim opens at."""
    row = page.locator("#claims tbody tr", has_text=task)
    return str(row.locator("a").get_attribute("href")).removeprefix("#")


@pytest.mark.parametrize("scripts", [True, False])
def test_the_table_of_claims_reads_with_and_without_scripts(
    scripts: bool, opens: Callable[..., Any], page_of_three: Path
) -> None:
    window = opens(java_script_enabled=scripts)
    window.page.goto(page_of_three.as_uri())
    rows = texts(window.page, "#claims tbody tr")
    assert sorted(row.split()[0] for row in rows) == ["alpha", "beta", "gamma"]
    assert window.page.locator("h1").inner_text().startswith("maxrandom")
    assert window.page.locator("noscript p").count() == (0 if scripts else 1)


def test_nothing_is_inflated_before_a_claim_is_opened(
    opens: Callable[..., Any], page_of_three: Path
) -> None:
    window = opens()
    window.page.add_init_script(
        "window.inflated = 0; const Real = DecompressionStream;"
        "window.DecompressionStream = class extends Real {"
        " constructor(kind) { super(kind); window.inflated += 1; } };"
    )
    page = window.go(page_of_three)
    assert page.evaluate("inflated") == 1  # the names, to search in
    page.locator("#claims tbody tr a").first.click()
    page.wait_for_selector("#part > *")
    assert page.evaluate("inflated") == 2


@pytest.mark.parametrize("task", ["alpha", "beta"])
def test_prompts_are_ranked_by_their_accuracy(
    task: str, opens: Callable[..., Any], page_of_three: Path, three: Three
) -> None:
    cells = three[1][named(task)]
    window = opens()
    page = window.go(page_of_three)
    page = window.go(page_of_three, f"{number_of(page, task)}/prompts")
    rows = [row.split("\t") for row in texts(page, "#part tbody tr")]
    counts = [(row.count("1"), len(row) - row.count("-")) for row in cells["rows"]]
    order = sorted(range(len(counts)), key=lambda at: (-counts[at][0] / counts[at][1], at))
    assert [int(row[1]) for row in rows] == [place + 1 for place in order]
    assert [row[3] for row in rows] == [f"{counts[at][0]}/{counts[at][1]}" for at in order]
    assert "the best" in rows[0][5]


@pytest.mark.parametrize("task", ["alpha", "beta"])
def test_the_matrix_has_the_colour_of_each_answer(
    task: str, opens: Callable[..., Any], page_of_three: Path, three: Three
) -> None:
    cells = three[1][named(task)]
    window = opens()
    page = window.go(page_of_three)
    page = window.go(page_of_three, f"{number_of(page, task)}/matrix")
    page.select_option("select[aria-label='Order of the examples']", "order")
    rows, n = cells["rows"], len(cells["examples"])
    accuracy = [row.count("1") / (n - row.count("-")) for row in rows]
    order = sorted(range(len(rows)), key=lambda place: (-accuracy[place], place))
    seen: list[list[list[int]]] = page.evaluate(
        """([t, n]) => {
          const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
          const size = canvas.width / n;
          const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
          const middle = (place) => Math.floor((place + .5) * size);
          const at = (x, y) => 4 * (middle(y) * canvas.width + middle(x));
          return Array.from({ length: t }, (_, y) => Array.from({ length: n }, (_, x) =>
            [...data.slice(at(x, y), at(x, y) + 3)]));
        }""",
        [len(rows), n],
    )
    colours = {"1": [0, 114, 178], "0": [242, 201, 176], "-": [255, 255, 255]}
    assert seen == [[colours[cell] for cell in rows[place]] for place in order]


def test_a_cell_tells_its_prompt_and_its_example_also_by_keyboard(
    opens: Callable[..., Any], page_of_three: Path, three: Three
) -> None:
    cells = three[1][named("alpha")]
    window = opens()
    page = window.go(page_of_three)
    page = window.go(page_of_three, f"{number_of(page, 'alpha')}/matrix")
    page.focus("canvas")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    told = page.locator("aside").inner_text()
    solved = [sum(row[column] == "1" for row in cells["rows"]) for column in range(60)]
    second = sorted(range(60), key=lambda column: (-solved[column], column))[1]
    assert f"q{second}\n" in told
    assert f"{solved[second]} of 12 prompts" in told
    assert "2 of 12" in told
    page.keyboard.press("End")
    assert "12 prompts" in page.locator("aside").inner_text()
    last = sorted(range(60), key=lambda column: (-solved[column], column))[-1]
    assert f"q{last}\n" in page.locator("aside").inner_text()
    for key in ("Home", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Show this answer").click()
    page.wait_for_selector(f"#example-{second}")


def test_a_cell_that_the_keyboard_chooses_is_in_sight(
    opens: Callable[..., Any], tmp_path: Path
) -> None:
    cells = answered([f"{row:012}" for row in range(300)], 200)
    name = named("large")
    path = written(tmp_path / "page.html", run(claimed(cells, id=name)), {name: cells})
    page = opens(380).go(path, "claim-0/matrix")
    page.focus("canvas")
    box = "document.querySelector('.canvas')"
    assert page.evaluate(f"{box}.scrollWidth > {box}.clientWidth")
    page.keyboard.press("End")
    assert page.evaluate(f"{box}.scrollLeft + {box}.clientWidth >= {box}.scrollWidth - 1")
    for _ in range(299):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{box}.scrollTop + {box}.clientHeight >= {box}.scrollHeight - 1")
    page.keyboard.press("Home")
    assert page.evaluate(f"{box}.scrollLeft") == 0


@pytest.mark.parametrize("which", ["wrong", "right", "all"])
def test_the_answers_are_those_of_the_best_prompt_with_texts_and_scores(
    which: str, opens: Callable[..., Any], page_of_three: Path, three: Three
) -> None:
    cells = three[1][named("alpha")]
    window = opens()
    page = window.go(page_of_three)
    page = window.go(page_of_three, f"{number_of(page, 'alpha')}/answers")
    page.select_option("select[aria-label='Which answers']", which)
    while page.get_by_role("button", name="Show more").is_visible():
        page.get_by_role("button", name="Show more").click()
    wanted = {"wrong": "0", "right": "1", "all": "01"}[which]
    row = cells["rows"][cells["best"]]
    places = [place for place, each in enumerate(cells["answers"]) if row[each["column"]] in wanted]
    cards = texts(page, ".answer")
    assert len(cards) == len(places)
    for card, place in zip(cards, places, strict=True):
        answer = cells["answers"][place]
        assert f"q{answer['column']}\n" in card
        assert f"Is alpha {answer['column']}?" in card
        lines = card.split("\n")
        for name, value in zip(("yes", "no"), answer["scores"], strict=True):
            assert value is not None
            at = lines.index(name)
            assert lines[at + 1].startswith(f"\u2212{-value:.3f}")
            assert ("chosen" in lines[at - 1]) == (["yes", "no"][answer["chosen"] or 0] == name)
    shows = cells["demonstrations"][cells["best"]]
    assert all(name in page.locator("#part").inner_text() for name in shows)


def test_answers_can_be_searched_and_the_best_prompt_is_shown_with_its_demonstrations(
    opens: Callable[..., Any], page_of_three: Path
) -> None:
    window = opens()
    page = window.go(page_of_three)
    number = number_of(page, "alpha")
    page = window.go(page_of_three, f"{number}/answers")
    page.select_option("select[aria-label='Which answers']", "all")
    page.fill("input[aria-label='Search answers']", "alpha 33?")
    assert len(texts(page, ".answer")) == 1
    page.get_by_role("tab", name="Best prompt").click()
    page.wait_for_selector("#part ol")
    shown = texts(page, "#part pre")
    assert shown[0].startswith("Is it wet or dry outside?")
    assert shown[1:] == ["Q: one\nA: yes", "Q: two\nA: no"]


def test_claims_are_sorted_filtered_and_searched(
    opens: Callable[..., Any], page_of_three: Path, three: Three
) -> None:
    page = opens().go(page_of_three)

    def shown() -> list[str]:
        rows = page.locator("#claims tbody tr:visible").all_inner_texts()
        return [row.split()[0] for row in rows]

    record, _ = three
    best = {each.task: each.best_accuracy or 0 for each in record.claims}
    page.get_by_role("button", name="best", exact=True).first.click()
    assert shown() == sorted(best, key=lambda task: best[task])
    page.get_by_role("button", name="best", exact=True).first.click()
    assert shown() == sorted(best, key=lambda task: -best[task])
    assert page.locator("#claims th[aria-sort]").count() == 1
    decides = {each.task: each.permutation_p or each.p_max or 0 for each in record.claims}
    page.get_by_role("button", name="p", exact=True).first.click()
    assert [decides[task] for task in shown()] == sorted(decides.values())
    page.get_by_label("Search claims").fill("BETA")
    assert shown() == ["beta"]
    page.get_by_label("Search claims").fill("no such claim")
    assert shown() == []
    assert page.locator("#none").is_visible()
    page.get_by_label("Search claims").fill("")
    failed = {each.task for each in record.claims if each.outcome == "failed"}
    chip = page.locator("#tools button", has_text="❌")
    chip.click()
    assert set(shown()) == failed
    assert 0 < len(failed) < 3
    assert chip.get_attribute("aria-pressed") == "true"
    chip.click()
    assert len(shown()) == 3


def test_on_a_telephone_names_break_between_words_and_the_best_is_in_sight(
    opens: Callable[..., Any], tmp_path: Path
) -> None:
    names = ["rule_based_text_classification", "a/path/to_commonsense_reasoning", "sst2"]
    record = run(*(claim(best=38, id=named(name), task=name) for name in names))
    page = opens(380).go(written(tmp_path / "page.html", record, {}))
    broken = """() => {
      const found = [];
      for (const code of document.querySelectorAll("#claims tbody th code")) {
        for (const part of code.childNodes) {
          if (part.nodeType !== Node.TEXT_NODE) continue;
          const range = document.createRange();
          range.selectNode(part);
          const tops = [...range.getClientRects()].map((box) => box.top);
          if (new Set(tops).size > 1) found.push(part.data);
        }
      }
      return found;
    }"""
    assert page.locator("#claims tbody th code").count() == 3
    assert page.evaluate(broken) == []
    heads = page.locator("#claims thead th")
    box = heads.nth(2).bounding_box()
    assert heads.nth(2).inner_text() == "best"
    assert box["x"] + box["width"] <= 380


def test_what_goes_on_beside_a_telephone_s_screen_has_a_shadow_until_its_end(
    opens: Callable[..., Any], tmp_path: Path
) -> None:
    record = run(claim(best=38, id=named("weather"), task="weather"))
    page = opens(380).go(written(tmp_path / "page.html", record, {}))
    table = page.locator("#claims .scroll")
    assert table.evaluate("each => each.scrollWidth > each.clientWidth")
    box = table.bounding_box()

    def edge() -> bytes:
        place = {"x": box["x"] + box["width"] - 3, "y": box["y"] + box["height"] - 8}
        return bytes(page.screenshot(clip={**place, "width": 2, "height": 4}))

    before = edge()
    table.evaluate("each => { each.scrollLeft = each.scrollWidth; }")
    page.wait_for_timeout(50)
    assert edge() != before


def test_answers_open_on_what_there_is(opens: Callable[..., Any], tmp_path: Path) -> None:
    record = run(claim(best=60, n=60, id=named("sure"), task="sure"))
    cells = answered(["a", "b"], 60, least=1)
    window = opens()
    path = written(tmp_path / "page.html", record, {named("sure"): cells})
    page = window.go(path, "claim-0/answers")
    assert page.locator("select[aria-label='Which answers']").input_value() == "right"
    assert page.locator(".answer").count() > 0


def test_samples_are_shown_as_those_of_their_prompt(
    opens: Callable[..., Any], tmp_path: Path
) -> None:
    record = run(claim(best=30, n=60, id=named("several"), task="several"))
    cells = answered([f"{name} #{sample}" for name in "ab" for sample in (1, 2, 3)], 60)
    cells["best"] = 3
    for answer in cells["answers"]:
        own = [float(row[answer["column"]]) for row in cells["rows"][3:]]
        answer["samples"] = [ShownSample(score=score, said="so") for score in own]
    window = opens()
    path = written(tmp_path / "page.html", record, {named("several"): cells})
    page = window.go(path, "claim-0/answers")
    assert "What prompt number 2, the best one," in page.locator("#part").inner_text()
    page = window.go(path, "claim-0/prompts")
    assert page.locator("#part caption").inner_text() == "All 6 samples of 2 prompts, ranked"
    rows = [row.split("\t") for row in texts(page, "#part tbody tr")]
    assert sorted(row[1] for row in rows) == ["1"] * 3 + ["2"] * 3
    assert {row[1] for row in rows if "of the best" in row[5]} == {"2"}


@pytest.mark.parametrize("are_texts_shown", [True, False])
def test_what_is_right_stands_below_an_answer_that_is_graded(
    are_texts_shown: bool, opens: Callable[..., Any], tmp_path: Path
) -> None:
    record = run(claim(best=30, n=60, id=named("graded"), task="graded"))
    cells = answered(["a", "b"], 60)
    cells["grades"] = [[0.5] * 60, [0.5] * 60]
    for answer in cells["answers"]:
        answer |= {"chosen": None, "right": [0], "choices": 1, "scores": []}
    if not are_texts_shown:
        cells = without_texts(cells)
    window = opens()
    page = window.go(
        written(tmp_path / "page.html", record, {named("graded"): cells}), "claim-0/answers"
    )
    (first, *_) = texts(page, ".answer")
    assert first.startswith("score .500")
    assert ("✓ right" in first) == are_texts_shown


def test_all_can_be_done_by_keyboard(opens: Callable[..., Any], page_of_three: Path) -> None:
    page = opens().go(page_of_three)
    page.keyboard.press("/")
    page.keyboard.type("a")
    assert page.get_by_label("Search claims").input_value() == "a"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("#claims tbody tr a").nth(1)
    assert second.evaluate("(link) => link === document.activeElement")
    name = second.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector("#part > *")
    page.wait_for_function(f"document.querySelector('#claim-name')?.innerText.includes({name!r})")
    page.get_by_role("tab", name="Summary").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#tab-prompt[aria-selected='true']")
    page.wait_for_function("document.activeElement?.id === 'tab-prompt'")
    page.keyboard.press("k")
    page.wait_for_function(
        "name => { const now = document.querySelector('#claim-name')?.innerText ?? '';"
        " return now.includes('[') && !now.includes(name); }",
        arg=name,
    )
    page.keyboard.press("Escape")
    page.wait_for_selector("#overview:visible")
    assert page.locator("#claim").is_hidden()


def test_a_report_alone_shows_what_is_there_and_says_what_is_not(
    opens: Callable[..., Any], page_of_three: Path
) -> None:
    window = opens()
    page = window.go(page_of_three)
    number = number_of(page, "gamma")
    for part in ("matrix", "answers", "prompts"):
        page = window.go(page_of_three, f"{number}/{part}")
        assert "The JSON report alone does not tell" in page.locator("#part").inner_text()
    assert len(texts(page, "#part tbody tr")) == 20
    page = window.go(page_of_three, f"{number}/curves")
    assert page.locator("#part svg.chart path.blue").count() >= 1


def test_the_curves_numbers_are_those_of_guessers_and_of_the_run(
    opens: Callable[..., Any], page_of_three: Path, three: Three
) -> None:
    from scipy.stats import binom

    record, cells = three
    rows = cells[named("alpha")]["rows"]
    counts = [row.count("1") for row in rows]
    window = opens()
    page = window.go(page_of_three)
    page = window.go(page_of_three, f"{number_of(page, 'alpha')}/curves")
    numbers = [row.split("\t") for row in texts(page, "#part tbody tr")]
    one = binom(60, 0.5)
    for t, expected, first, maximum in numbers:
        of_guessers = sum(1 - one.cdf(k) ** int(t) for k in range(60)) / 60
        assert float(maximum) == pytest.approx(of_guessers, abs=6e-4)
        assert float(first) == pytest.approx(max(counts[: int(t)]) / 60, abs=6e-4)
        assert min(counts) / 60 <= float(expected) <= max(counts) / 60 + 6e-4
    assert [row[0] for row in numbers] == ["1", "2", "5", "10", "12"]
    assert float(numbers[0][1]) == pytest.approx(sum(counts) / 12 / 60, abs=6e-4)
    assert record.claims


def test_flags_labels_arms_and_a_trend_have_their_views(
    opens: Callable[..., Any], tmp_path: Path
) -> None:
    name = "eval_suites/demo/demo.yaml::weather[demo-nf4-4shot]"
    one = claim(id=name, red_flags=[flag("30 of 60 scores tie.", kind="tied_scores")])
    record = run(one, label_bias=[label_bias()], comparisons=[comparison()])
    earlier = replace(run(claim(id=name, best=36)), created="2026-01-30T12:00:00Z")
    on_p_max = claim(id=name, passes_on="p_max only")
    untold = claim(id=name, passed=None, outcome="cannot tell")
    others = [replace(run(each), created=f"2026-01-0{day}T12:00:00Z")
              for day, each in enumerate((on_p_max, untold), 1)]  # fmt: skip
    trend = trends([*zip("cd", others, strict=True), ("aaaaaaa", earlier), ("bbbbbbb", record)])
    path = written(tmp_path / "page.html", record, {}, trend=trend)
    window = opens()
    page = window.go(path, "claim-0")
    told = page.locator(".flag").inner_text()
    assert "30 of 60 scores tie." in told
    assert f"What to do: {KINDS['tied_scores'].remedy}." in told
    page = window.go(path, "claim-0/labels")
    drawn = page.locator("#part svg[role=img]").first.text_content() or ""
    assert all(label in drawn for label in "ABCD")
    assert ".980" in drawn
    page = window.go(path, "claim-0/arms")
    assert "\u2212.021" in page.locator("#part table").inner_text()
    page = window.go(path, "claim-0/trend")
    marks = page.locator("#part .run")
    shapes = marks.evaluate_all("all => all.map((each) => each.tagName)")
    assert shapes == ["circle", "circle", "polygon", "circle"]
    rows = [row.split("\t") for row in texts(page, "#part tbody tr")]
    assert [(row[0], row[4], row[8]) for row in rows] == [
        ("c", ".750", "passes (p_max only)"),
        ("d", ".750", "cannot tell"),
        ("aaaaaaa", ".600", "fails"),
        ("bbbbbbb", ".750", "passes"),
    ]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [1280, 380])
def test_no_name_breaks_out_and_no_script_of_it_runs(
    text: str, width: int, opens: Callable[..., Any], tmp_path: Path
) -> None:
    cells = answered([f"{text}{row}" for row in range(4)], 8)
    cells["examples"] = [f"{text}{column}" for column in range(8)]
    cells["demonstrations"] = [[text] for _ in range(4)]
    cells["solved"] = [text]
    cells["texts"] = [{"input": text, "choices": [text, text + "2"]} for _ in cells["answers"]]
    for answer in cells["answers"]:
        answer["said"] = text
    name = f"s.yaml::{text}"
    one = claimed(cells, id=name, task=text, model=text, message=text, red_flags=[flag(text)])
    record = run(
        one,
        label_bias=[label_bias(claim=name, sentence=text)],
        comparisons=[
            comparison(
                suite=one.suite, task=text, shots=one.shots, first=text, second=text, changed=text
            )
        ],
        broken=[text],
    )
    trend = trends([(text, record), (text, record)])
    path = written(tmp_path / "page.html", record, {name: cells}, trend=trend)
    window = opens(width)
    page = window.go(path)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for view in ("summary", "prompt", "answers", "prompts", "matrix", "labels", "arms", "trend"):
        page = window.go(path, f"claim-0/{view}")
        if view == "matrix":
            page.focus("canvas")
            page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == page.locator("body > script").count()
        assert page.locator("style").count() == 1
        held = page.locator("#claim").inner_text()
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u200f\x1b]", held)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380])
def test_axe_finds_no_fault(
    scheme: str, width: int, opens: Callable[..., Any], tmp_path: Path
) -> None:
    package = pytest.importorskip(
        "axe_playwright_python.base", reason="axe-playwright-python is not installed"
    )
    cells = answered([f"{row:012}" for row in range(12)], 60, skip=5)
    name = "eval_suites/demo/demo.yaml::weather[demo-nf4-4shot]"
    one = claimed(cells, id=name, red_flags=[flag()])
    failed = claim(best=33, id="s.yaml::b[x]", task="b")
    record = run(failed, one, label_bias=[label_bias()], comparisons=[comparison()], broken=["x"])
    trend = trends([("a", record), ("b", record)])
    path = written(tmp_path / "page.html", record, {name: cells}, trend=trend)
    window = opens(width, color_scheme=scheme)
    views = ("prompt", "answers", "prompts", "matrix", "curves", "labels", "arms", "trend")
    for part in ("", *(f"claim-1/{view}" for view in ("summary", *views))):
        page = window.go(path, part)
        page.evaluate(package.AXE_FILE_PATH.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document)")["violations"]
        assert found == [], (part, json.dumps(found, indent=1)[:3000])


def test_dark_and_light_follow_the_system_and_the_button(
    opens: Callable[..., Any], page_of_three: Path
) -> None:
    def background(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = opens(color_scheme="light"), opens(color_scheme="dark")
    colours = [background(each.go(page_of_three)) for each in (light, dark)]
    assert colours == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]
    light.page.get_by_role("button", name="Dark").click()
    dark.page.get_by_role("button", name="Light").click()
    assert [background(each.page) for each in (light, dark)] == colours[::-1]


def test_a_page_without_texts_says_so_and_holds_none(
    opens: Callable[..., Any], three: Three, tmp_path: Path
) -> None:
    path = written(tmp_path / "page.html", *three, texts="shared")
    window = opens()
    page = window.go(path)
    assert "no texts of questions" in page.locator("#withheld").inner_text()
    number = number_of(page, "alpha")
    page = window.go(path, f"{number}/answers")
    assert "Is alpha" not in page.locator("#claim").inner_text()
    assert "share: texts" in page.locator("#part").inner_text()
    assert len(texts(page, ".answer")) > 5
    page = window.go(path, f"{number}/prompt")
    assert "wet or dry" not in page.locator("#claim").inner_text()

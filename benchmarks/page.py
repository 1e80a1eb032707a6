"""Size of the page, and the time to open it and a claim on it, in a real browser.

    python -m benchmarks.page [--quick]

144 claims (12 tasks, 12 models) of 200 prompts and 200 examples, whose questions have 400 to 800
characters and four choices, are written to one page. Chromium opens it from the disk until its
table can be used, then a claim's matrix until it is drawn, five times each, and so an empty page.
To reach: under 15 MB, and two seconds for each.

Before a figure is printed, the matrix that the browser drew is compared with the answers, and the
texts of a claim with those that were written.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.record import BestPrompt, ClaimRecord
from pytest_maxrandom.record.packed import pack
from pytest_maxrandom.reports.page.cells import BestAnswer, Cells, ShownText
from pytest_maxrandom.reports.page.render import html
from tests.page.conftest import chromium
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page


TASKS, MODELS, T, N = 12, 12, 200, 200
TIMES = 5
MEGABYTES, SECONDS = 15.0, 2.0
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "rt", "st", "llow")]
RIGHT = (0, 114, 178)


def texts(task: int) -> list[ShownText]:
    """Return questions that no compression makes small: words by lot."""
    draw = random.Random(task)

    def words(count: int) -> str:
        return " ".join(draw.choices(WORDS, k=count))

    return [
        ShownText(input=words(draw.randint(80, 160)), choices=[words(4) for _ in range(4)])
        for _ in range(N)
    ]


def swept(number: int, questions: list[ShownText]) -> Cells:
    """Return answers by lot; each example has an ease of its own."""
    draw = random.Random(1000 + number)
    ease = [draw.random() for _ in range(N)]
    rows = ["".join("01"[draw.random() < each] for each in ease) for _ in range(T)]
    best = max(range(T), key=lambda row: rows[row].count("1"))
    answers = [
        BestAnswer(
            column=column,
            chosen=int(cell == "0"),
            right=[0],
            choices=4,
            scores=[round(draw.uniform(-9, -1), 4) for _ in range(4)],
        )
        for column, cell in enumerate(rows[best])
    ]
    return Cells(
        prompts=[f"{draw.getrandbits(48):012x}" for _ in range(T)],
        examples=[f"example-{column}" for column in range(N)],
        demonstrations=[[f"example-{draw.randrange(1000)}" for _ in range(4)] for _ in range(T)],
        rows=rows,
        best=best,
        answers=answers,
        unit="log-likelihood per token",
        labels=[],
        texts=questions,
        solved=[each["input"] for each in questions[:4]],
    )


def recorded(task: int, model: int, cells: Cells) -> ClaimRecord:
    """Return the record of a claim."""
    name, counts = f"suite.yaml::task_{task}[model-{model}-4shot]", [
        row.count("1") for row in cells["rows"]
    ]  # fmt: skip
    best = cells["best"]
    made = claim(best=counts[best], n=N, t=T, id=name, task=f"task_{task}", model=f"model-{model}")
    solved = "\n".join(cells.get("solved", []))
    prompt = BestPrompt(
        best, cells["prompts"][best], solved, cells["demonstrations"][0], "A question", [*"ABCD"], 0
    )
    return replace(made, correct_counts=counts, best_prompt=prompt)


def seconds(of: Callable[[], object]) -> float:
    """Return the median time of what is done `TIMES` times."""
    taken = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        of()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def check(page: Page, cells: Cells) -> None:
    """Compare what is drawn with the answers, prompts ranked, examples as they were asked."""
    page.select_option("select[aria-label='Order of the examples']", "order")
    drawn: list[list[int]] = page.evaluate(
        """(n) => {
          const canvas = document.querySelector("canvas"), size = canvas.width / n;
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const middle = (place) => Math.floor((place + .5) * size);
          return Array.from({ length: canvas.height / size }, (_, y) => Array.from({ length: n },
            (_, x) => data[4 * (middle(y) * canvas.width + middle(x))]));
        }""",
        N,
    )
    ranked = sorted(cells["rows"], key=lambda row: -row.count("1"))
    found = ["".join("01"[red == RIGHT[0]] for red in row) for row in drawn]
    if found != ranked:
        raise SystemExit("the matrix is not that of the answers")


def measured(browser: Browser, path: Path, cells: Cells, questions: list[ShownText]) -> list[float]:
    """Return the time of an empty page, of the page, and of a claim on it."""
    empty = path.with_name("empty.html")
    empty.write_text("<!doctype html><title>Empty</title>")
    page = browser.new_page()
    page.set_default_timeout(120_000)

    def open_page() -> None:
        page.goto("about:blank")
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")

    def open_claim() -> None:
        page.evaluate("location.hash = ''")
        page.wait_for_selector("#overview:visible")
        page.evaluate("location.hash = 'claim-0/matrix'")
        page.wait_for_selector("canvas")
        page.evaluate("new Promise(requestAnimationFrame)")

    nothing = seconds(lambda: (page.goto("about:blank"), page.goto(empty.as_uri())))
    opened = seconds(open_page)
    claimed = seconds(open_claim)
    check(page, cells)
    page.evaluate("location.hash = 'claim-0/answers'")
    page.wait_for_selector(".answer")
    shown = page.locator(".answer pre").first.inner_text()
    if shown not in {each["input"] for each in questions}:
        raise SystemExit("the text of an answer is not that of its question")
    return [nothing, opened, claimed]


def main() -> int:
    """Print the figures; 1 where one is not reached."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="12 claims in place of 144")
    models = 1 if parser.parse_args().quick else MODELS
    found = chromium()
    if found is None:
        raise SystemExit("no chromium; on Debian: apt-get install chromium")
    packed: dict[str, str] = {}
    records: list[ClaimRecord] = []
    known: dict[str, tuple[Cells, list[ShownText]]] = {}
    for task in range(TASKS):
        questions = texts(task)
        for model in range(models):
            cells = swept(task * MODELS + model, questions)
            records.append(recorded(task, model, cells))
            packed[records[-1].id] = pack(cells)
            known[records[-1].id] = cells, questions
    begin = time.perf_counter()
    text = html(run(*records), packed)
    first = next((each for each in records if each.outcome == "failed"), records[0])
    made = time.perf_counter() - begin
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(text, encoding="utf-8")
        megabytes = path.stat().st_size / 1e6
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
            told["empty"], told["page"], told["claim"] = measured(browser, path, *known[first.id])
            browser.close()
    print(f"{len(records)} claims of {T} prompts and {N} examples; medians of {TIMES}")
    print(f"written in {made:.1f} s: {megabytes:.1f} MB (to reach: {MEGABYTES:.0f})")
    for name, what in (("page", "the page"), ("claim", "a claim's matrix")):
        times = told[name] / told["empty"]
        print(
            f"{what} opens in {told[name]:.2f} s, {times:.1f} times an empty page "
            f"({told['empty']:.3f} s); to reach: {SECONDS:.0f} s"
        )
    return int(megabytes > MEGABYTES or max(told["page"], told["claim"]) > SECONDS)


if __name__ == "__main__":
    sys.exit(main())

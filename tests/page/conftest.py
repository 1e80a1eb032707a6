"""A real browser, and pages of runs whose every answer is known."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.record import BestPrompt, ClaimRecord, RunRecord
from pytest_maxrandom.record.packed import pack
from pytest_maxrandom.reports.page.cells import BestAnswer, Cells, ShownText
from pytest_maxrandom.reports.page.render import html
from tests.unit.reports.samples import PROMPT, QUESTION, claim, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Dialog, Page


CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str | None:
    """Return the program, if there is one."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (group browser)"
    )
    found = chromium()
    if found is None:
        pytest.skip("no chromium; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


class Opened:
    """A page that is open, with all that it asked for and complained of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Dialog) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def go(self, path: Path, part: str = "") -> Page:
        """Open a file, or another part of it."""
        self.page.goto(path.as_uri() + (f"#{part}" if part else ""))
        self.page.reload()  # a change behind # alone loads nothing
        self.page.wait_for_selector("html[data-ready]")
        if part:
            self.page.wait_for_selector("#part > *")
        return self.page


@pytest.fixture
def opens(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """Make windows; after the test nothing was asked for but the file, and nothing went wrong."""
    contexts: list[BrowserContext] = []
    made: list[Opened] = []

    def window(width: int = 1280, **options: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        made.append(Opened(context.new_page()))
        return made[-1]

    yield window
    for context in contexts:
        context.close()
    for each in made:
        assert each.complaints == []
        assert all(url.startswith("file:") for url in each.requests)
        assert len(set(each.requests)) <= 1


def answered(
    names: list[str],
    n: int,
    *,
    seed: int = 0,
    skip: int = 0,
    text: str = "Is it {}?",
    least: float = 0,
) -> Cells:
    """Make answers of as many prompts as names; the first `skip` examples are not all asked.

    Each example is answered rightly with a probability of its own, `least` or more.
    """
    draw = random.Random(seed)
    easy = [draw.uniform(least, 1) for _ in range(n)]
    rows = [
        "".join(
            "-" if column < skip and (row + column) % 3 == 0 else str(int(draw.random() < ease))
            for column, ease in enumerate(easy)
        )
        for row in range(len(names))
    ]
    accuracy = [row.count("1") / (n - row.count("-")) for row in rows]
    best = accuracy.index(max(accuracy))
    asked = [column for column in range(n) if rows[best][column] != "-"]
    answers = []
    for column in asked:
        right = column % 2
        chosen = right if rows[best][column] == "1" else 1 - right
        scores: list[float | None] = [-1.5 - column / 100, -2.5 - column / 100]
        answers.append(
            BestAnswer(
                column=column,
                chosen=chosen,
                right=[right],
                choices=2,
                scores=scores if chosen == 0 else scores[::-1],
            )
        )
    return Cells(
        prompts=names,
        examples=[f"q{column}" for column in range(n)],
        demonstrations=[[f"d{row}", f"d{row + 1}"] for row in range(len(names))],
        rows=rows,
        best=best,
        answers=answers,
        unit="log-likelihood",
        labels=[],
        texts=[ShownText(input=text.format(column), choices=["yes", "no"]) for column in asked],
        solved=["Q: one\nA: yes", "Q: two\nA: no"],
    )


def claimed(cells: Cells, **changed: Any) -> ClaimRecord:
    """Make the record of a claim that these are the answers of."""
    counts = [row.count("1") for row in cells["rows"]]
    n, best = len(cells["examples"]), cells["best"]
    prompt = BestPrompt(
        index=best,
        digest=cells["prompts"][best],
        text=PROMPT,
        question=QUESTION,
        answers=["yes", "no"],
        demonstration_ids=cells["demonstrations"][best],
        tied_with=0,
    )
    made = claim(best=counts[best], n=n, t=len(counts), **changed)
    return replace(made, correct_counts=counts, best_prompt=prompt)


def written(path: Path, record: RunRecord, cells: dict[str, Cells], **options: Any) -> Path:
    """Write a page."""
    packed = {name: pack(each) for name, each in cells.items()}
    path.write_text(html(record, packed, **options), encoding="utf-8")
    return path


def named(task: str) -> str:
    """Return the id of a claim."""
    return f"eval_suites/s.yaml::{task}[demo-nf4-4shot]"


@pytest.fixture(scope="session")
def three() -> tuple[RunRecord, dict[str, Cells]]:
    """Three claims: of one nothing is known but its record."""
    cells = {
        named(task): answered(
            [f"{task}{row:02}" for row in range(t)],
            n,
            seed=place,
            skip=5,
            text=text,
            least=place / 2,
        )
        for place, (task, t, n, text) in enumerate(
            [("alpha", 12, 60, "Is alpha {}?"), ("beta", 30, 40, "Is beta {}?")]
        )
    }
    claims = [claimed(cells[named(task)], id=named(task), task=task) for task in ("alpha", "beta")]
    alone = claim(best=33, id=named("gamma"), task="gamma", t=20)
    return run(*claims, alone), cells


@pytest.fixture(scope="session")
def page_of_three(
    three: tuple[RunRecord, dict[str, Cells]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Their page."""
    return written(tmp_path_factory.mktemp("page") / "page.html", *three)

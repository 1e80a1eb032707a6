"""Suites of answers that are no choices: open, graded, asked several times, and all of these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.parts import alike

if TYPE_CHECKING:
    from pathlib import Path

MOCK = "{name: m, backend: mock, knows: 0.6, prefers: {'Ann met Dan': 3, 'Bob met Eve': 1}}"
SUITE = """\
models: [MODEL]
tasks:
- {name: facts, format: csv, path: facts.csv, answer_is: open, validation: {max_examples: 40}}
prompts: {shots: 1, count: 4}
scoring: SCORING
"""
_BESIDE = "control: {answer: Nobody}\nassert: {beats: 0.2, control_p: 0.05}\n"
_VOTE, _TWO, _PASS = (
    f"generation: {{samples: 3, temperature: 0.8, aggregate: {how}}}\n"
    for how in ("vote", "{pass: 2}", "pass")
)
SUITES = {
    "open": ("exact_match", ""),
    "votes": ("exact_match", _VOTE),
    "passes": ("exact_match", _TWO),
    "grades": ("f1", _BESIDE),
    "best": ("f1", _BESIDE + _PASS),
}
"""By their names the scoring, and what else they say."""


def numbers(claims: list[dict[str, Any]]) -> list[Any]:
    """Return claims without what was asked: another process may have asked it before."""
    return [alike({**claim, "engine": None}) for claim in claims]


def right_answer(question: str) -> str:
    """Return the right answer to the last question of a text; "nobody" where there is none."""
    asked = re.findall(r"in (\d+)\?", question)
    if not asked:
        return "nobody"
    number = int(asked[-1])
    return f"{('Ann', 'Bob', 'Cid')[number**2 % 13 % 3]} met {('Dan', 'Eve')[number**2 % 13 % 2]}"


def write_suites(folder: Path, model: str = MOCK) -> None:
    """Write all of them and their task into a folder."""
    questions = [f"Who met whom in {number}?" for number in range(70)]
    rows = [f"{question},{right_answer(question)}\n" for question in questions]
    folder.mkdir(exist_ok=True)
    (folder / "facts.csv").write_text("input,answer\n" + "".join(rows))
    for name, (scoring, rest) in SUITES.items():
        text = SUITE.replace("MODEL", model).replace("SCORING", scoring)
        (folder / f"{name}.yaml").write_text(text + rest)

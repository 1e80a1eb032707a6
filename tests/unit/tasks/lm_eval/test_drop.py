"""DROP, which a function of its own judges: the same answers are right as for that function."""

from __future__ import annotations

import importlib.util
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.tasks.lm_eval.documents import Document
from pytest_maxrandom.tasks.lm_eval.examples import Texts, Unanswerable
from pytest_maxrandom.tasks.lm_eval.generated import open_example
from pytest_maxrandom.tasks.lm_eval.index import installed
from pytest_maxrandom.tasks.load import load_task
from pytest_maxrandom.tasks.references import Matching
from tests.needs import needs

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Task

pytestmark = needs("lm_eval")

DROP = Matching(numbers=False, drop=True)
_PARTS = (
    "the", "The", "a", "an", "A", "theory", "3", "3.0", "3.", "-3", "1,200", "1200", ".5", "$5",
    "5%", "1e3", "nan", "inf", "1_000", "\u0663", "yards", "Tom", "tom's", "U.S.", "co-op", "-",
    "--", "\u2013", "!", "\n", "\t", " ", "  ", "", "caf\u00e9", "\u00c9", "STRASSE", "\u00df",
    "12-yard", "March", "1 March 1969", "a.", "a-", "'an'",
)  # fmt: skip
"""Of answers and references: numbers in many ways, articles, punctuation and spaces."""


def judge() -> Any:
    """Return DROP's own module, without lm-evaluation-harness around it."""
    folder = installed()
    assert folder is not None
    spec = importlib.util.spec_from_file_location("drop_utils", folder / "drop" / "utils.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(count: int) -> list[str]:
    draw = random.Random("drop")
    between = ("", " ", "-", " ", " - ")
    return [
        draw.choice(between).join(draw.choices(_PARTS, k=draw.randint(1, 4))) for _ in range(count)
    ]


def test_what_counts_of_a_text_is_the_same() -> None:
    own = judge()
    for text in (*_PARTS, *texts(5_000)):
        assert DROP.normal(text) == own._normalize(text), text


def test_the_same_answers_are_right() -> None:
    """Whatever the references: one text, none, several, blank ones, or bags of several texts."""
    own, draw, seen = judge(), random.Random("bags"), set()
    said = texts(200)
    for number in range(100):
        bags = [draw.choices(said, k=draw.choice((1, 1, 1, 2, 3))) for _ in range(number % 4 + 1)]
        document = Document("How many?", None, bags, None, "")
        try:
            example = open_example(document, "x", Texts(), DROP)
        except Unanswerable:
            example = None
        spoken = [*draw.choices(said, k=5), *(draw.choice(bag) for bag in bags), ", ".join(bags[0])]
        for text in (*spoken, *(each.upper() + "!" for each in spoken)):
            right = own.process_results({"answers": [*map(tuple, bags)]}, [text])["em"]
            if example is None:
                assert not right
                continue
            assert example.open is not None
            found = DROP.matched(text, example.choices, example.open)
            assert (found is not None) == bool(right), (text, bags)
            seen.add(right)
    assert seen == {0.0, 1.0}


def _answer(number: str = "", spans: tuple[str, ...] = (), day: str = "") -> dict[str, Any]:
    date = {"day": day, "month": "March" if day else "", "year": "1969" if day else ""}
    return {"number": number, "date": date, "spans": [*spans], "worker_id": "", "hit_id": ""}


ROWS = [
    (_answer(number="3"), [_answer(number="3"), _answer(number="4")]),
    (_answer(spans=("the Bears",)), [_answer(spans=("Chicago Bears",))]),
    (_answer(spans=("Ann", "Joe")), []),  # which no answer of one text is
    (_answer(day="9"), []),
]


def _read(folder: Path, **said: Any) -> Task:
    for part in ("train", "validation"):
        rows = []
        for number, (answer, others) in enumerate(ROWS):
            # The columns of the hub: what several people answered, field by field.
            given = {key: [each[key] for each in others] for key in answer}
            asked = {
                "query_id": f"{part}-{number}",
                "section_id": "s",
                "passage": f"Text {number}.",
            }
            rows.append({**asked, "question": "Who?", "answer": answer, "validated_answers": given})
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = {"train": "train.jsonl", "validation": "validation.jsonl"}
    where = installed()
    assert where is not None
    keys = {"name": "t", "format": "lm_eval", "path": str(where / "drop" / "default.yaml")}
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": files}}
    return load_task(LmEvalSpec.model_validate({**keys, **data, **said}), folder)


@pytest.mark.slow  # lm-evaluation-harness builds the documents
def test_the_installed_task_is_read_where_suite_and_runner_trust_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = installed()
    assert folder is not None
    monkeypatch.setenv("MAXRANDOM_TRUSTED_TASKS", str(folder / "drop"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    task = _read(tmp_path, trust_remote_code=True)
    assert [each.choices for each in task.examples] == [
        ("3", "4"),
        ("the Bears", "Chicago Bears"),
        ("9 March 1969",),
    ]
    assert [each.open and each.open.kind for each in task.examples] == ["number", "name", "date"]
    assert task.examples[0].input == "Text 0. Who?"
    assert task.matching is not None
    assert (task.matching.drop, task.matching.stop) == (True, (".",))
    assert task.pool is not None
    assert task.pool[0].choices[0] == "3"


def test_without_trust_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAXRANDOM_TRUSTED_TASKS", raising=False)
    with pytest.raises(SuiteError, match="which run only if the suite's task says"):
        _read(tmp_path)

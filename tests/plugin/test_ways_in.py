"""The same answers come to the same verdict, by whatever way they come in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from tests.proof.sessions import run_pytest
from tests.targets import some
from tests.unit.recorded.logs.inspect_logs import Log, write_json
from tests.unit.recorded.logs.lm_eval_logs import Document, Run, write_run
from tests.unit.recorded.suites import judged, planned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord

N = 40
LETTERS = "ABCD"
COLOURS = ["blue", "green", "grey", "red"]
TASKS = ("yes-no", "colours", "own", "lettered", "mixed", "several", "passages", "unequal", "pairs",
         "left-out")  # fmt: skip
CLUSTERED = ("passages", "unequal")
METRICS = ("balanced_accuracy", "macro_f1")
CLASSES = ("yes-no", "colours", "lettered", "passages")
"""Tasks whose examples share their choices, of which one is right."""
SUITE = """\
models:
- {{name: knows, backend: mock, knows: 0.5}}
- {{name: guesses, backend: mock}}
tasks: [{tasks}]
prompts: {{shots: 2, count: 12, demonstrations: {regime}}}
"""


def rows(task: str) -> list[dict[str, Any]]:
    """Return the examples of a task, of which some are left for demonstrations."""
    generator = np.random.default_rng(sum(map(ord, task)))
    found = []
    for number in range(N if task == "left-out" else N + 20):
        own = [f"{name}{number}" for name in "pqrs"]
        choices = {"own": own, "several": own, "colours": COLOURS}.get(task, ["no", "yes"])
        if task == "mixed" and number % 2:
            choices = COLOURS
        if task == "pairs":  # of things that recur, of which the lower one is right more often
            choices = [f"thing {thing}" for thing in sorted(generator.choice(9, 2, replace=False))]
        weights = np.arange(len(choices), 0, -1, dtype=np.float64)
        right = generator.choice(
            len(choices), 2 if task == "several" else 1, replace=False, p=weights / weights.sum()
        )
        question = f"Of {task}: question {number}"
        if task == "lettered":  # as in MMLU: the question lists what its letters stand for
            shown = generator.permutation(["none of these", *own[1:]]).tolist()
            question, choices = question + under_letters(shown), [*LETTERS]
        texts = [choices[place] for place in right]
        found.append(
            {
                "id": f"{task}{number}",
                "input": question,
                "choices": choices,
                "listed": shown if task == "lettered" else choices,
                "answer": texts if task == "several" else texts[0],
                "passage": f"passage {number // 2 if task == 'passages' else int(number**0.5)}",
            }
        )
    return found


def under_letters(texts: list[str]) -> str:
    return "".join(f"\n{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=True))


class Cell(NamedTuple):
    """An answer, in the order of labels: texts that all share, or places as shown."""

    id: str
    texts: list[str]
    """Of the choices."""
    names: list[str]
    """What the choices are called: their texts where examples share them, else letters."""
    chosen: int
    right: list[int]
    scores: list[float]
    passage: str | None


@dataclass
class Asked:
    """What a model answered to a task: each prompt, and its demonstrations and answers."""

    task: str
    model: str
    prompts: dict[str, tuple[list[str], list[Cell]]] = field(default_factory=dict)

    @property
    def examples(self) -> dict[str, Cell]:
        return {cell.id: cell for _, cells in self.prompts.values() for cell in cells}


class Live(NamedTuple):
    """What a sweep came to, by task, model and metric, and what was answered."""

    claims: dict[tuple[str, str, str], dict[str, Any]]
    asked: dict[tuple[str, str], Asked]
    predictions: Path


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Live:
    folder = tmp_path_factory.mktemp("live")
    data = {task: rows(task) for task in TASKS}
    specs = {
        task: f"{{name: {task}, format: jsonl, path: {task}.jsonl, validation: {{max_examples: "
        f"{N}}}{', columns: {cluster: passage}' if task in CLUSTERED else ''}}}"
        for task in TASKS
    }
    for task, found in data.items():
        (folder / f"{task}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    for regime, tasks in (("outside", TASKS[:-1]), ("leave_out", TASKS[-1:])):
        text = SUITE.format(tasks=", ".join(specs[task] for task in tasks), regime=regime)
        (folder / f"{regime}.maxrandom.yaml").write_text(text)
    _, claims = run_pytest(folder, "--maxrandom-predictions=p.jsonl")
    asked_again = SUITE.format(tasks=", ".join(specs[task] for task in CLASSES), regime="outside")
    for metric in METRICS:  # of the same answers
        (folder / f"{metric}.maxrandom.yaml").write_text(f"{asked_again}metric: {metric}\n")
    claims += run_pytest(folder, *(f"{metric}.maxrandom.yaml" for metric in METRICS))[1]
    texts = {row["id"]: row["listed"] for found in data.values() for row in found}
    asked: dict[tuple[str, str], Asked] = {}
    for line in map(json.loads, (folder / "p.jsonl").read_text().splitlines()):
        key = line["task"], line["model"]
        cells = [_cell(each, texts[each["id"]]) for each in line["examples"]]
        own = asked.setdefault(key, Asked(*key))
        own.prompts[line["prompt"]] = line["demonstration_ids"], cells
    by_key = {(each["task"], each["model"], each["metric"]): each for each in claims}
    return Live(by_key, asked, folder / "p.jsonl")


def _cell(answer: dict[str, Any], texts: list[str]) -> Cell:
    labels = answer["labels"]
    order = sorted(range(len(labels)), key=lambda place: labels[place])
    return Cell(
        answer["id"],
        [texts[place] for place in order],
        [LETTERS[label] if (label := labels[place]) in range(4) else label for place in order],
        order.index(answer["chosen"]),
        [order.index(place) for place in answer["right"]],
        [answer["log_likelihoods"][place] for place in order],
        answer.get("cluster"),
    )


def as_npz(asked: Asked, folder: Path) -> str:
    examples = asked.examples
    answers = np.full((len(asked.prompts), len(examples)), -1)
    columns = {name: column for column, name in enumerate(examples)}
    for row, (_, cells) in zip(answers, asked.prompts.values(), strict=True):
        row[[columns[cell.id] for cell in cells]] = [cell.chosen for cell in cells]
    gold = np.zeros((len(examples), 4), dtype=np.bool_)
    for right, cell in zip(gold, examples.values(), strict=True):
        right[cell.right] = True
    arrays: dict[str, Any] = {
        "prompt_ids": [*asked.prompts],
        "example_ids": [*examples],
        "demonstration_ids": [shown for shown, _ in asked.prompts.values()],
        "answers": answers,
        "gold": gold,
        "choice_texts": [(cell.texts + [""] * 4)[:4] for cell in examples.values()],
    }
    if asked.task in CLUSTERED:
        arrays["clusters"] = [str(cell.passage) for cell in examples.values()]
    prefix = f"{asked.task}__2__"
    np.savez(folder / f"{asked.model}.npz", **{prefix + key: each for key, each in arrays.items()})
    return f"{{path: {asked.model}.npz, format: npz}}"


def as_table(asked: Asked, folder: Path) -> str:
    def names(cell: Cell) -> list[str]:
        return cell.texts if asked.task == "pairs" else cell.names

    lines = [
        {
            "model": asked.model,
            "task": asked.task,
            "shots": 2,
            "prompt": prompt,
            "example": cell.id,
            "prediction": names(cell)[cell.chosen],
            "gold": [names(cell)[place] for place in cell.right],
            "choices": names(cell),
            "cluster": cell.passage or "",
        }
        for prompt, (_, cells) in asked.prompts.items()
        for cell in cells
    ]
    path = folder / "table.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    # The demonstrations of a prompt, which it leaves out, have no column.
    ragged = ", ragged: true" if asked.task == "left-out" else ""
    return f"{{path: table.jsonl, format: table{ragged}}}"


@dataclass
class OfPassage(Document):
    """A document with its passage."""

    passage: str | None = None

    def line(self, number: int, name: str, *, old: bool) -> dict[str, Any]:
        line = super().line(number, name, old=old)
        line["doc"]["passage"] = self.passage
        return line


def as_lm_eval(asked: Asked, folder: Path) -> str:
    lettered = asked.task == "lettered"
    for number, (prompt, (_, cells)) in enumerate(asked.prompts.items()):
        documents: list[Document] = [
            OfPassage(
                [f" {name}" for name in (cell.names if lettered else cell.texts)],
                cell.scores,
                str(cell.right if len(cell.right) > 1 else cell.right[0]),
                acc=float(cell.chosen in cell.right),
                context=f"{prompt} {cell.id}{under_letters(cell.texts) if lettered else ''}",
                passage=cell.passage,
            )
            for cell in cells
        ]
        write_run(
            folder,
            Run(
                documents,
                time=f"2026-01-01T12-30-{number:02}.123456",
                task=asked.task,
                model_args=f"pretrained={asked.model}",
                task_hash=prompt,
            ),
        )
    return f"{{path: ., format: lm_eval{_passages(asked)}}}"


@dataclass
class Lettered(Log):
    """A log of these answers."""

    cells: list[Cell] = field(default_factory=list)

    def sample(self, place: int, epoch: int) -> dict[str, Any]:
        cell = self.cells[place]
        value = "C" if cell.chosen in cell.right else "I"
        return super().sample(place, epoch) | {
            "choices": cell.texts,
            "target": [LETTERS[right] for right in cell.right],
            "scores": {"choice": {"value": value, "answer": LETTERS[cell.chosen]}},
            "metadata": {"passage": cell.passage},
        }


def as_inspect(asked: Asked, folder: Path) -> str:
    for number, (prompt, (_, cells)) in enumerate(asked.prompts.items()):
        log = Lettered(
            answers="A" * len(cells),
            targets="A" * len(cells),
            system=prompt,
            created=f"2026-01-01T12:00:{number:02}+00:00",
            cells=cells,
        )
        changed = log.content()["eval"] | {"model": asked.model, "task": asked.task}
        log.changes = {"eval": changed}
        write_json(folder / f"{number}.json", log)
    return f"{{path: ., format: inspect{_passages(asked)}}}"


def _passages(asked: Asked) -> str:
    return ", columns: {cluster: passage}" if asked.task in CLUSTERED else ""


WAYS: dict[str, Callable[[Asked, Path], str]] = {
    "npz": as_npz,
    "table": as_table,
    "lm_eval": as_lm_eval,
    "inspect": as_inspect,
}
CANNOT = {
    ("lm_eval", "left-out"): "each run must answer the same documents",
    ("inspect", "left-out"): "each run must answer the same samples",
    ("table", "lettered"): "the one written here lists letters, and not what they stand for",
    ("inspect", "several"): "an answer is right there only if it names all that is right",
}
"""What a format does not carry, and why; nor does any but predictions carry a tie of scores, which
a sweep breaks by lot."""
SAID = (
    "n", "t", "best_correct", "best_score", "p_max", "permutation_p", "critical_count",
    "critical_score", "max_random_baseline", "passed",
)  # fmt: skip


def told(record: dict[str, Any]) -> dict[str, Any]:
    """Return what must be the same."""
    same = {name: record[name] for name in SAID}
    return same | {"red flags": sorted({flag["kind"] for flag in record["red_flags"]})}


def of_record(record: ClaimRecord) -> dict[str, Any]:
    """Return what a report would hold of it."""
    same: dict[str, Any] = {name: getattr(record, name) for name in SAID}
    return told(same | {"red_flags": [{"kind": flag.kind} for flag in record.red_flags]})


@pytest.mark.parametrize("model", some(["knows", "guesses"], ["knows"]))
@pytest.mark.parametrize(
    ("way", "task"),
    [(way, task) for way in (*WAYS, "predictions") for task in TASKS if (way, task) not in CANNOT],
)
def test_every_way_in_gives_the_same_verdict(
    way: str, task: str, model: str, live: Live, tmp_path: Path
) -> None:
    [claim] = planned(tmp_path, suite(way, task, model, live, tmp_path))
    assert of_record(judged(claim)) == told(live.claims[task, model, "accuracy"])


@pytest.mark.parametrize("way", [*WAYS, "predictions"])
def test_every_way_in_compares_with_an_incumbent_among_its_prompts(
    way: str, live: Live, tmp_path: Path
) -> None:
    text = suite(way, "yes-no", "knows", live, tmp_path)
    [alone] = planned(tmp_path, text)
    assert alone.evidence is not None
    name, right = alone.evidence.results.prompts[0], alone.evidence.results.correct
    named = f"incumbent: {{prompt: {json.dumps(name)}}}\nassert: {{better_than: incumbent}}\n"
    [claim] = planned(tmp_path, f"{text}{named}")
    record = judged(claim)
    best = right[int(right.sum(axis=1).argmax())]
    wins, losses = int((best & ~right[0]).sum()), int((right[0] & ~best).sum())
    alone_p = stats.binomtest(wins, wins + losses, alternative="greater").pvalue
    assert record.incumbent is not None
    assert record.incumbent.difference == pytest.approx((wins - losses) / N)
    assert record.incumbent_p == pytest.approx(min(1.0, len(right) * alone_p))
    assert record.incumbent.chosen_here == len(right)


@pytest.mark.parametrize("model", some(["knows", "guesses"], ["knows"]))
@pytest.mark.parametrize(
    ("way", "task"),
    [
        (way, task)
        for way in (*WAYS, "predictions")
        for task in CLASSES
        # The others have no letters beside the texts, and so no classes.
        if task != "lettered" or way in ("predictions", "lm_eval")
    ],
)
def test_every_way_in_gives_the_same_verdict_in_a_metric_about_classes(
    way: str, task: str, model: str, live: Live, tmp_path: Path
) -> None:
    text = suite(way, task, model, live, tmp_path)
    for metric in METRICS:
        [claim] = planned(tmp_path, f"{text}metric: {metric}\n")
        expected = live.claims[task, model, metric]
        record = judged(claim)
        assert of_record(record) == told(expected)
        assert record.majority_rate == expected["majority_rate"]


def suite(way: str, task: str, model: str, live: Live, folder: Path) -> str:
    """Write what a model answered, and return a suite of that."""
    results = f"{{path: {live.predictions}, format: predictions}}"
    if way in WAYS:
        results = WAYS[way](live.asked[task, model], folder)
    return (
        f"models: [{{name: {model}, backend: recorded, results: {results}}}]\n"
        f"tasks: [{{name: {task}}}]\n"
    )

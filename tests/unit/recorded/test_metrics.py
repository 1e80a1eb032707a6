"""Recorded results in metrics about classes: what they need, and what they come to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from tests.unit.recorded.suites import judged, mistakes, planned, save, suite_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WORDS = ("bird", "cat", "dog")
N, T = 60, 5
GOLD = np.repeat(np.arange(3), (40, 12, 8))
TABLE = "r.jsonl, format: table"


def said(knows: float, seed: int = 3) -> Any:
    generator = np.random.default_rng(seed)
    return np.where(generator.random((T, N)) < knows, GOLD, generator.integers(0, 3, (T, N)))


def write(folder: Path, answers: Sequence[Sequence[int]], **changed: Any) -> None:
    """Write a table; a column that is None is left out, and one may depend on the example."""
    rows = []
    for prompt, row in enumerate(answers):
        for at, answer in enumerate(row):
            cells: dict[str, Any] = {
                "prompt": prompt,
                "example": at,
                "shots": 0,
                "prediction": WORDS[answer],
                "gold": WORDS[GOLD[at]],
                "choices": WORDS,
            }
            for name, value in changed.items():
                cells[name] = value(at) if callable(value) else value
            rows.append({name: value for name, value in cells.items() if value is not None})
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def text(metric: str, task: str = "{name: a}", rest: str = "", model: str = TABLE) -> str:
    return suite_text(task, f"metric: {metric}\n{rest}", model)


@pytest.mark.parametrize("choices", [WORDS, 3])
@pytest.mark.parametrize(
    ("metric", "score"),
    [
        ("balanced_accuracy", balanced_accuracy_score),
        ("macro_f1", lambda gold, row: f1_score(gold, row, average="macro")),
    ],
)
def test_the_best_prompt_is_the_best_in_the_metric(
    metric: str, score: Any, choices: Any, tmp_path: Path
) -> None:
    answers = said(0.5)
    write(tmp_path, answers.tolist(), choices=choices)
    [claim] = planned(tmp_path, text(metric))
    record = judged(claim)
    scores = [score(GOLD, row) for row in answers]
    assert record.best_score == pytest.approx(max(scores))
    assert record.best_accuracy == pytest.approx(np.mean(answers[np.argmax(scores)] == GOLD))
    assert {"prompt": str(np.argmax(scores))} in [note.values for note in record.notes]
    assert record.metric == metric
    assert record.passed
    assert (record.p_max is None) is (metric == "macro_f1")


def test_lists_in_any_order_are_the_same_classes(tmp_path: Path) -> None:
    answers, generator = said(0.4).tolist(), np.random.default_rng(1)
    orders = [generator.permutation(WORDS).tolist() for _ in range(N)]
    found = []
    for choices in (WORDS, lambda at: orders[at]):
        write(tmp_path, answers, choices=choices)
        [claim] = planned(tmp_path, text("macro_f1"))
        found.append(judged(claim))
    first, second = found
    assert first.best_score == second.best_score
    assert first.max_random_baseline == second.max_random_baseline
    assert second.permutation_p is not None
    assert first.permutation_p is not None
    assert second.permutation_p >= first.permutation_p  # places may be preferred as well


def test_a_constant_answer_is_named_by_its_text(tmp_path: Path) -> None:
    write(
        tmp_path,
        np.full((T, N), 1).tolist(),
        choices=lambda at: [*WORDS[at % 3 :], *WORDS[: at % 3]],
    )
    [claim] = planned(tmp_path, text("balanced_accuracy", rest="assert: {beats: standard}\n"))
    record = judged(claim)
    assert record.best_score == pytest.approx(1 / 3)
    assert not record.passed
    [claim] = planned(tmp_path, text("macro_f1", rest="assert: {permutation_p: 0.999}\n"))
    flags = {flag.kind: flag.parameters for flag in judged(claim).red_flags}
    assert "majority" not in flags  # which looks at what passes
    assert judged(claim).permutation_p == 1.0


REFUSED: dict[str, dict[str, Any]] = {
    "the results do not say which answers were given; record": {"prediction": None, "correct": 1},
    "several right choices": {"gold": lambda at: ["bird", "cat"] if at else "bird"},
    "do not share their choices": {"choices": lambda at: (*WORDS, "eel") if at else WORDS},
    "all right answers are the same": {"gold": "cat"},
    "nobody tells the texts that its labels stand for": {
        "prediction": lambda at: "ABC"[at % 3], "gold": lambda at: "ABC"[GOLD[at]], "choices": 3,
    },
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_tells_no_classes_is_refused_in_one_sentence(why: str, tmp_path: Path) -> None:
    write(tmp_path, said(0.5).tolist(), **REFUSED[why])
    [told] = mistakes(tmp_path, text("balanced_accuracy"))
    assert told.startswith("5: tasks[0]: `metric: balanced_accuracy` cannot be computed, because")
    assert why in told
    assert told.endswith(", or use `metric: accuracy`")


def test_right_and_wrong_alone_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", a__0={"correct": said(0.5) == GOLD})
    [told] = mistakes(
        tmp_path, text("macro_f1", "{name: a, chance: 1/3}", model="m.npz, format: npz")
    )
    assert told == (
        "5: tasks[0]: `metric: macro_f1` cannot be computed, because in /m.npz the results do not "
        "say which answers were given and which are right; record the predictions and the right "
        "answers, or use `metric: accuracy`"
    )


def test_prompts_on_different_examples_are_refused(tmp_path: Path) -> None:
    write(tmp_path, said(0.5).tolist())
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    (tmp_path / "r.jsonl").write_text("\n".join(lines[:-1]))
    [told] = mistakes(tmp_path, text("macro_f1", model=f"{TABLE}, ragged: true"))
    assert "prompts were scored on different examples; give results on the same ones" in told


def test_what_a_publication_says_is_an_accuracy(tmp_path: Path) -> None:
    write(tmp_path, said(0.5).tolist())
    task = "{name: a, published: {n: 60, t: 5, chance: 1/3}}"
    [told] = mistakes(tmp_path, text("balanced_accuracy", task))
    assert told == (
        "4: tasks[0].published: what is published is an accuracy, but the suite has `metric: "
        "balanced_accuracy`; remove one of the two"
    )


def test_macro_f1_is_judged_by_shuffled_answers_only(tmp_path: Path) -> None:
    write(tmp_path, said(0.5).tolist())
    [told] = mistakes(tmp_path, text("macro_f1", rest="assert: {p_max: 0.05}\n"))
    assert told.startswith("5: `p_max` with `metric: macro_f1`: a constant answer scores higher")


def test_more_prompts_than_those_at_hand_count(tmp_path: Path) -> None:
    write(tmp_path, said(0.3).tolist())
    [few] = planned(tmp_path, text("balanced_accuracy"))
    [many] = planned(tmp_path, text("balanced_accuracy", "{name: a, t: 400}"))
    one, other = judged(few), judged(many)
    assert other.t == 400
    assert other.max_random_baseline is not None
    assert one.max_random_baseline is not None
    assert other.max_random_baseline > one.max_random_baseline
    assert "tries_without_answers" in {note.kind for note in other.notes}

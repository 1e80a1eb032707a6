"""Published answers of three models to 12,508 questions, as a suite of recorded results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.studies.label_bias.evaluate import judge_recorded
from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models: [{name: m, backend: recorded, results: {path: m.npz, format: npz}}]
tasks: [{name: mmlu}]
assert: report
label_bias: {}
"""


@pytest.mark.parametrize(
    ("model", "recalls", "never", "finding"),
    [
        # Accuracies by right label and least accuracy over never-X (arXiv 2406.11634)
        ("GPT2", (0.98, 0.01, 0.01, 0.01), 0.008, "label preference"),
        ("Mistral-7B", (0.89, 0.38, 0.19, 0.18), 0.275, "knowledge"),
        ("LLaMa3-8B", (0.64, 0.56, 0.66, 0.46), 0.563, "knowledge"),
    ],
)
def test_published_answers_give_the_published_recalls_and_nearly_the_published_minimum(
    data_dir: Path,
    tmp_path: Path,
    model: str,
    recalls: tuple[float, ...],
    never: float,
    finding: str,
) -> None:
    with np.load(data_dir / "label_bias" / f"{model}.npz") as data:
        given, gold = data["cloze__logprob"].argmax(axis=1), data["cloze__gold"]
    np.savez(
        tmp_path / "m.npz",
        mmlu__0__correct=(given == gold)[None],
        mmlu__0__evaluated=np.ones((1, len(gold)), dtype=np.bool_),
        mmlu__0__prompt_ids=[0],
        mmlu__0__example_ids=np.arange(len(gold)),
        mmlu__0__answers=given[None],
        mmlu__0__gold=gold,
        mmlu__0__choices=np.full(len(gold), 4),
    )
    (tmp_path / "s.yaml").write_text(SUITE)
    _, check = plan_file(tmp_path / "s.yaml")
    assert isinstance(check, PlannedLabelBias)
    record = check.record("id", "s.yaml")
    judge_recorded(check, record)
    (cloze,) = record.interactions
    # The publication's are means over subjects, these over questions.
    assert [row.recall for row in cloze.labels] == pytest.approx(recalls, abs=0.03)
    assert cloze.score == pytest.approx(never, abs=0.03)
    assert record.finding == finding
    assert record.passed is (finding == "knowledge")

"""Published log-probabilities of three models on MMLU (arXiv 2406.11634)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.labels import null, scores
from pytest_maxrandom.stats.labels.finding import finding, preference_p_value
from pytest_maxrandom.stats.labels.priors import base_rates, correlation
from pytest_maxrandom.stats.permutation import max_t_test
from pytest_maxrandom.studies.label_bias.evaluate import judge_recorded
from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


close = pytest.approx
MODELS = ("GPT2", "Mistral-7B", "LLaMa3-8B")
LETTERS = "ABCD"


class Published:
    """The released files of one model."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as arrays:
            self.arrays = {name: arrays[name] for name in arrays.files}

    def gold(self, name: str) -> NDArray[np.int64]:
        return np.asarray(self.arrays[f"{name}__gold"], dtype=np.int64)

    def scores(self, name: str) -> NDArray[np.float64]:
        return np.asarray(self.arrays[f"{name}__logprob"], dtype=np.float64)

    def answers(self, name: str) -> NDArray[np.int64]:
        return np.asarray(self.scores(name).argmax(axis=1))

    def _subjects(self) -> list[NDArray[np.bool_]]:
        return [self.arrays["subject"] == each for each in np.unique(self.arrays["subject"])]

    def accuracy(self, name: str) -> float:
        """Mean over the subjects."""
        correct = self.answers(name) == self.gold(name)
        return float(np.mean([correct[rows].mean() for rows in self._subjects()]))

    def recalls(self, name: str) -> NDArray[np.float64]:
        """Mean over the subjects in which a label is ever right."""
        answers, gold = self.answers(name), self.gold(name)
        each = [scores.recalls(answers[None, rows], gold[rows], 4)[0] for rows in self._subjects()]
        return np.asarray(np.nanmean(each, axis=0))

    def placed(self, interaction: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Answers at the placements that were released, and where each redraw puts right answers.

        Shapes (1, n, 4) and (4, n).
        """
        n = len(self.gold(interaction))
        answers = np.full((1, n, 4), -1)
        names = [interaction, *(f"never_{letter}_{interaction}" for letter in LETTERS)]
        for name in names:
            answers[0, np.arange(n), self.gold(name)] = self.answers(name)
        return answers, np.stack([self.gold(name) for name in names[1:]])


@pytest.fixture(scope="module")
def published(data_dir: Path) -> dict[str, Published]:
    folder = data_dir / "label_bias"
    if not folder.is_dir():
        pytest.skip(f"no published log-probabilities in {folder}")
    return {model: Published(folder / f"{model}.npz") for model in MODELS}


@pytest.mark.parametrize(
    ("model", "accuracy", "recalls", "r"),
    [
        ("GPT2", 0.231, [0.98, 0.01, 0.01, 0.01], 0.97),
        ("Mistral-7B", 0.394, [0.89, 0.38, 0.19, 0.18], 0.99),
        ("LLaMa3-8B", 0.577, [0.64, 0.56, 0.66, 0.46], 0.68),
    ],
)
def test_accuracies_by_gold_label_and_their_correlation_with_base_rates_are_as_published(
    published: dict[str, Published], model: str, accuracy: float, recalls: list[float], r: float
) -> None:
    recall = published[model].recalls("cloze")
    assert published[model].accuracy("cloze") == close(accuracy, abs=0.0006)
    assert recall.tolist() == close(recalls, abs=0.006)
    control = published[model].arrays["control__probability"]
    rates, mass = base_rates(np.log(control)[None])
    assert mass == close(control.sum())
    pearson = correlation(rates, recall)
    assert pearson is not None
    assert pearson.low is not None
    assert pearson.high is not None
    assert pearson.r == close(r, abs=0.006)
    assert pearson.low < pearson.r < pearson.high <= 1
    # Four labels prove a correlation from .96 on only.
    assert (pearson.low > 0) == (pearson.r > 0.961)


@pytest.mark.parametrize(
    ("model", "rates", "mass"),
    [
        ("GPT2", [0.244, 0.157, 0.151, 0.129], 0.68),
        ("LLaMa3-8B", [0.262, 0.216, 0.206, 0.182], 0.87),
        ("Mistral-7B", [0.0052, 0.0031, 0.0025, 0.0028], 0.0136),
    ],
)
def test_base_rates_before_normalisation_are_as_published(
    published: dict[str, Published], model: str, rates: list[float], mass: float
) -> None:
    found = base_rates(np.log(published[model].arrays["control__probability"])[None])
    assert (found.rates * found.mass).tolist() == close(rates, abs=0.0006)
    assert found.mass == close(mass, rel=0.01)
    assert found.rates.sum() == close(1)


@pytest.mark.parametrize(
    ("model", "accuracy"), [("GPT2", 0.248), ("Mistral-7B", 0.339), ("LLaMa3-8B", 0.341)]
)
def test_counterfactual_accuracies_are_as_published(
    published: dict[str, Published], model: str, accuracy: float
) -> None:
    assert published[model].accuracy("cf") == close(accuracy, abs=0.0006)


@pytest.mark.parametrize(
    ("model", "least"), [("GPT2", 0.008), ("Mistral-7B", 0.275), ("LLaMa3-8B", 0.563)]
)
def test_the_never_x_minimum_is_as_published_and_recalls_alone_come_near_it(
    published: dict[str, Published], model: str, least: float
) -> None:
    one = published[model]
    accuracies = [one.accuracy(f"never_{letter}_cloze") for letter in LETTERS]
    worst = scores.worst_redraw(np.array(accuracies))
    assert worst == close(least, abs=0.0006)
    assert scores.never_score(one.recalls("cloze")) == close(float(worst), abs=0.03)


@pytest.mark.parametrize("model", MODELS)
def test_redraws_of_one_array_of_placements_are_the_released_redraws(
    published: dict[str, Published], model: str
) -> None:
    one = published[model]
    answers, places = one.placed("cloze")
    redrawn = scores.redrawn_accuracies(answers, places)[0]
    for letter, accuracy in zip(LETTERS, redrawn, strict=True):
        name = f"never_{letter}_cloze"
        assert accuracy == close(np.mean(one.answers(name) == one.gold(name)), abs=0.002)


@pytest.mark.parametrize(
    ("model", "kind"), [("GPT2", "label preference"), ("LLaMa3-8B", "knowledge")]
)
def test_a_preferred_label_and_knowledge_are_told_apart(
    published: dict[str, Published], model: str, kind: str
) -> None:
    one = published[model]
    gold, answers = one.gold("cloze"), one.answers("cloze")
    choices = [4] * len(gold)
    score = float(scores.never_score(scores.recalls(answers[None], gold, 4))[0])
    p = null.recall_baseline(gold, choices, 1).p_value(score)
    test = max_t_test(answers[None], gold, choices, statistic=scores.NEVER_X, permutations=999)
    shuffled = test.p_value
    assert finding([p, shuffled], preference_p_value(answers, gold, choices), 0.05) == kind


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

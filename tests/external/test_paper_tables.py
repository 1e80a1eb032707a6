"""The study of arXiv 2404.13020 from its raw results: its verdicts, and which of them change."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.claims.recorded_claims import plan_recorded
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite
from tests.notes import sentences
from tests.unit.reports.page import words_unfolded
from tests.unit.reports.samples import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.record import ClaimRecord, Standing

SUITES = Path(__file__).parents[2] / "eval_suites" / "paper"
VERDICTS = {
    "above_both": "above maximum",
    "between": "between baselines",
    "below_both": "below standard",
}
BASE_MODELS = {"Llama-2-7b": (40, 36, 4), "OLMo-7B": (42, 32, 10), "falcon-7b": (41, 30, 11)}
"""Table 1: experiments above the standard baseline, above the maximum, and between the two."""

Key = tuple[str, str, int]


def as_counted(verdict: Standing | None) -> Standing | None:
    """Return a verdict by the convention of the paper: from chance on, all is above standard."""
    return "between baselines" if verdict == "at standard" else verdict


Records = dict[Key, "ClaimRecord"]


@pytest.fixture(scope="module")
def judged(data_dir: Path) -> Callable[[str], Records]:
    def judge(name: str) -> Records:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MAXRANDOM_DATA", str(data_dir))
            suite = load_any_suite(SUITES / name)
            assert isinstance(suite, RecordedSuite)
            claims = plan_recorded(suite)
        records = {}
        for claim in claims:
            record = result_of_recorded(claim).record(claim.record(claim.name, name))
            records[record.model, record.task, record.shots] = record
        return records

    return judge


@pytest.fixture(scope="module")
def as_published(judged: Callable[[str], Records]) -> Records:
    return judged("as_published.yaml")


@pytest.fixture(scope="module")
def counted(judged: Callable[[str], Records]) -> Records:
    return judged("counted.yaml")


@pytest.fixture(scope="module")
def experiments(data_dir: Path) -> dict[Key, dict[str, str]]:
    with (data_dir / "paper" / "experiments.csv").open(newline="") as lines:
        return {
            (row["model"], row["dataset"], int(row["shots"])): row for row in csv.DictReader(lines)
        }


def test_its_reports_are_read_in_seconds(as_published: Records, counted: Records) -> None:
    for records in (as_published, counted):
        told = run(*records.values())
        assert len(words_unfolded(markdown(told))) <= 300
        assert max(len(words_unfolded(comment(told, base))) for base in (None, told)) <= 150


def test_all_experiments_are_there(
    experiments: dict[Key, dict[str, str]], as_published: Records, counted: Records
) -> None:
    assert len(experiments) == 144
    assert as_published.keys() == counted.keys() == experiments.keys()


def test_by_the_papers_conventions_every_number_is_that_of_the_paper(
    experiments: dict[Key, dict[str, str]], as_published: Records
) -> None:
    for key, row in experiments.items():
        record = as_published[key]
        assert as_counted(record.verdict) == VERDICTS[row["verdict"]], key
        assert (record.verdict == "at standard") == (
            int(row["best_correct"]) * int(row["num_choices"]) == int(row["n_nominal"])
        ), key
        assert record.best_correct == int(row["best_correct"]), key
        assert (record.n, record.t) == (int(row["n_nominal"]), int(row["t"])), key
        for name in (
            "best_accuracy",
            "standard_baseline",
            "max_random_baseline",
            "p_standard",
            "p_max",
        ):
            assert getattr(record, name) == pytest.approx(float(row[name]), rel=1e-9), (key, name)


@pytest.mark.parametrize("model", BASE_MODELS)
def test_the_totals_are_those_of_the_papers_first_table(as_published: Records, model: str) -> None:
    found = Counter(
        as_counted(record.verdict) for (name, _, _), record in as_published.items() if name == model
    )
    above, between = found["above maximum"], found["between baselines"]
    assert (above + between, above, between) == BASE_MODELS[model]


def test_counted_n_and_t_are_those_of_the_raw_results(
    data_dir: Path, experiments: dict[Key, dict[str, str]], counted: Records
) -> None:
    archives = {
        model: np.load(data_dir / "paper" / f"correct_{model}.npz") for model in BASE_MODELS
    }
    for key, row in experiments.items():
        model, task, shots = key
        record = counted[key]
        demonstrations = archives[model][f"{task}__{shots}__demonstration_ids"]
        assert record.t == len(np.unique(demonstrations, axis=0)) == int(row["n_distinct_demos"])
        correct = archives[model][f"{task}__{shots}__correct"].sum(axis=1)
        sizes = archives[model][f"{task}__{shots}__evaluated"].sum(axis=1)
        best = int(np.argmax(correct / sizes))
        assert (record.best_correct, record.n) == (correct[best], sizes[best]), key
        chance = 0.5 if task == "winowhy" else 1 / int(row["num_choices"])
        assert record.standard_baseline == pytest.approx(chance, rel=1e-15), key
        assert record.p_standard == pytest.approx(
            stats.binom.sf(correct[best] - 1, sizes[best], chance), rel=1e-9
        ), key
        if (sizes == sizes[0]).all():
            n = int(sizes[0])
            expected = (1 - stats.binom.cdf(np.arange(n), n, chance) ** record.t).sum() / n
            assert record.max_random_baseline == pytest.approx(expected, rel=1e-12), key


def test_verdicts_change_for_these_reasons_only(
    experiments: dict[Key, dict[str, str]], counted: Records
) -> None:
    """Else they are those of the exact n, which the table of experiments tells too."""
    changed = {}
    for key, record in counted.items():
        assert record.published is not None
        published = as_counted(record.published.verdict)
        assert published == VERDICTS[experiments[key]["verdict"]], key
        if as_counted(record.verdict) != published:
            changed[key] = (published, record.verdict, [*sentences(record.published.changes)])
        if key not in changed or key[1] == "conceptual_combinations":
            assert as_counted(record.verdict) == VERDICTS[experiments[key]["verdict_exact_n"]], key
    above, between = "above maximum", "between baselines"
    distinct = "that many of 200 prompts are distinct"
    ids = "the results hold 40 example ids, so ids collide or fewer were scored"
    binary = "chance is 1/2, not 1/5"
    assert changed == {
        ("Llama-2-7b", "winowhy", 1): (above, between, [f"t is 191, not 200: {distinct}", binary]),
        ("Llama-2-7b", "winowhy", 2): (above, between, [binary]),
        ("Llama-2-7b", "winowhy", 4): (above, between, [binary]),
        ("OLMo-7B", "winowhy", 1): (above, between, [f"t is 193, not 200: {distinct}", binary]),
        ("falcon-7b", "winowhy", 2): (above, between, [binary]),
        ("falcon-7b", "winowhy", 4): (above, between, [binary]),
        ("falcon-7b", "emoji_movie", 1): (between, above, [f"t is 85, not 100: {distinct}"]),
        ("falcon-7b", "conceptual_combinations", 1): (
            above,
            between,
            [f"n is 39 to 40, not 102: {ids}", f"t is 84, not 103: {distinct}"],
        ),
        ("falcon-7b", "conceptual_combinations", 2): (
            above,
            between,
            [f"n is 38 to 40, not 101: {ids}", f"t is 198, not 200: {distinct}"],
        ),
        ("falcon-7b", "conceptual_combinations", 4): (
            above,
            between,
            [f"n is 37 to 40, not 99: {ids}"],
        ),
    }

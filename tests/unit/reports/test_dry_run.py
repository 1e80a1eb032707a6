"""What a dry run says of trainings: one table, and what is left."""

from __future__ import annotations

import pytest

from pytest_maxrandom.claims.dry_run import ModelCost, TrainingCost
from pytest_maxrandom.models.questions import Estimate
from pytest_maxrandom.models.training import Trained
from pytest_maxrandom.reports.dry_run import lines

KEPT = Trained((2.0, 1.0), 500, 4, 10.0, None, "")


def cost(
    arm: str, task: str, replicates: int, kept: int = 0, tokens: int | None = 1000
) -> ModelCost:
    found = ModelCost(arm, "transformers", claims=1, prompts=replicates)
    done = [TrainingCost(arm, task, k, 50, 0, kept=KEPT) for k in range(kept)]
    left = range(kept, replicates)
    found.trained = [*done, *(TrainingCost(arm, task, k, 50, 0, 700, tokens, 8) for k in left)]
    return found


@pytest.mark.parametrize(("replicates", "kept"), [(1, 0), (3, 0), (3, 2)])
def test_replicates_of_an_arm_share_a_row(replicates: int, kept: int) -> None:
    arms = [(arm, task) for task in ("sums", "colours") for arm in ("extra", "test")]
    _, together, header, *rows, _, _ = lines([cost(*arm, replicates, kept) for arm in arms], {}, {})
    left = replicates - kept
    assert together.startswith(
        f"to train: {4 * left} trainings, {32 * left} steps, {4000 * left:,} tokens in all epochs"
    )
    # What is kept took 10 s for 500 tokens.
    assert ("about 1 min 20 s, by the 8 trainings kept" in together) == bool(kept)
    columns = ["arm", "task", "replicates", "kept", "texts", "labelled", "steps", "tokens"]
    assert header.split() == columns
    assert [row.split() for row in rows] == [
        [*arm, str(replicates), str(kept), "50", "0", str(8 * left), f"{1000 * left:,}"]
        for arm in arms
    ]
    assert len({len(line) for line in (header, *rows)}) == 1


def test_words_stand_for_tokens_where_one_tokenizer_is_missing() -> None:
    told = [*lines([cost("extra", "sums", 1), cost("test", "sums", 2, tokens=None)], {}, {})]
    assert "to train: 3 trainings, 24 steps, 2,100 words in all epochs" in told
    assert "  Words are counted because a tokenizer is not on this machine." in told
    assert not any("tokens" in line for line in told)


def test_where_all_is_kept_nothing_is_left_to_train() -> None:
    told = "\n".join(lines([cost("extra", "sums", 2, kept=2)], {}, {}))
    assert "to train: nothing, the weights of all 2 trainings are kept" in told


def test_a_mistake_is_told_for_its_model_alone() -> None:
    wrong = cost("test", "sums", 1)
    wrong.problem, wrong.trained = "no text", []
    told = [*lines([cost("extra", "sums", 1), wrong], {}, {})]
    assert told[:2] == ["test (transformers): 1 claim", "  cannot run: no text"]
    assert sum("extra" in line for line in told) == 2  # to compute, and to train


def test_what_is_measured_has_its_own_lines_before_the_table() -> None:
    known = cost("extra", "sums", 1)
    known.estimate, known.seconds, known.probed = Estimate(4, 40, 80, 2), 3.0, 1
    told = [*lines([known], {}, {})]
    assert told[0] == "extra (transformers): 1 claim"
    assert told.index("  about 3 s on , by a probe of 1 prompt") < told.index(
        "to train: 1 training, 8 steps, 1,000 tokens in all epochs"
    )

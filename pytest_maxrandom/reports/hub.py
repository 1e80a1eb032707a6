"""A claim as an evaluation result of the Hugging Face hub, a file for `.eval_results/` of a model.

The hub shows the value of such a file beside the model. Its notes say what a value alone does not:
as the best of how many prompts it was found, on how many examples, and what guessers reach. The
format is that of https://huggingface.co/docs/hub/eval-results.
"""

from __future__ import annotations

from typing import Any

import yaml

from pytest_maxrandom.errors import ReportError, did_you_mean
from pytest_maxrandom.notation import accuracy, count, equals, p_value
from pytest_maxrandom.record import OUTCOMES, ClaimRecord, RunRecord
from pytest_maxrandom.reports import phrases, summary
from pytest_maxrandom.reports.quantities import best_value, metric_name, p_is
from pytest_maxrandom.reports.text import clauses, visible

DEFAULT_TASK = "default"
_DECIMALS = 6
_MOST_NAMES = 3


def hub(
    run: RunRecord, dataset: str = "", task: str = DEFAULT_TASK, claim: str | None = None
) -> str:
    """Write a claim as an evaluation result of the hub.

    The value is the accuracy on the test set where it was opened, else that of the best prompt on
    the validation set.

    Parameters
    ----------
    run : RunRecord
        The claims.
    dataset : str
        Id of the benchmark on the hub: ``openai/gsm8k``.
    task : str
        Id of its task, as the ``eval.yaml`` of the benchmark has it.
    claim : str, optional
        Which claim of the run: its id, or its name without the file. Needed where there are
        several.

    Returns
    -------
    str
        YAML, a list with one entry.

    Raises
    ------
    ReportError
        In one sentence: no data set, several claims or none of that name, or one without a value
        of a real model.
    """
    if not dataset:
        raise ReportError(
            "an evaluation result of the hub belongs to a benchmark there; say which: "
            "maxrandom report RESULTS.json --format hub --dataset OWNER/NAME"
        )
    chosen = _chosen(run, claim)
    value = chosen.test.accuracy if chosen.test else best_value(chosen)
    if value is None:
        known = OUTCOMES[summary.became(chosen)].one
        why = "it was decided early, so its best accuracy is not known" if chosen.decided else known
        raise ReportError(f"{summary.label(chosen)}: there is no value for the hub: {why}")
    if chosen.simulated:
        raise ReportError(
            f"{summary.label(chosen)}: the answers are simulated, and a result on the hub is about "
            "a real model"
        )
    entry: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": task},
        "value": round(value, _DECIMALS),
        "date": run.created,
        "notes": notes(chosen),
    }
    return str(yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=10_000))


def notes(claim: ClaimRecord) -> str:
    """Say what a value is worth: n, t, what guessers reach, and the p-value that decides."""
    shots = f"{claim.shots}-shot" if summary.shots(claim) else ""
    quantized = claim.quantization if claim.quantization not in ("", "none") else ""
    how = clauses(shots, quantized, metric_name(claim), sep=", ")
    t, n = count(claim.t), count(claim.n)
    best = f"best of t = {t} prompts on n = {n} validation examples"
    reached = f"{best}: {phrases.best_shown(claim)}"
    guessed = claim.max_random_baseline is not None and (
        f"best of {count(claim.guessers or claim.t)} random guessers "
        f"{accuracy(claim.max_random_baseline)}"
    )
    key = phrases.decisive(claim)
    p = getattr(claim, key) is not None and p_is(claim, key)
    became = f"the claim {OUTCOMES[summary.became(claim)].one}"
    if not summary.asserts(claim):
        became = "nothing was claimed"
    held = ""
    if claim.test is not None:
        shown = p_value(claim.test.p if claim.test.p is not None else claim.test.p_standard)
        held = (
            f"the value is that of this prompt on n = {count(claim.test.n)} test examples, p "
            f"{equals(shown)}"
        )
    return visible(clauses(how, reached, guessed, p, became, held, "pytest-maxrandom"))


def _chosen(run: RunRecord, name: str | None) -> ClaimRecord:
    names = [visible(summary.label(claim)) for claim in run.claims]
    some = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    if name is None:
        if len(run.claims) == 1:
            return run.claims[0]
        raise ReportError(
            f"found {count(len(names))} claims, expected one, as a file of the hub has one value "
            f"of a benchmark; choose one with --claim NAME: {some or 'there is none'}"
        )
    alike = [
        claim
        for claim in run.claims
        if name in (claim.id, summary.label(claim), visible(summary.label(claim)))
    ]
    if len(alike) == 1:
        return alike[0]
    if alike:
        ids = ", ".join(claim.id for claim in alike[:_MOST_NAMES])
        raise ReportError(f"--claim {name}: found {len(alike)} claims, expected one of {ids}")
    raise ReportError(
        f"--claim {name}: there is no such claim, expected one of {some}{did_you_mean(name, names)}"
    )

"""Trained arms in words: on what, how, and how their losses went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, count, duration
from pytest_maxrandom.reports.columns import name_column
from pytest_maxrandom.reports.summary import names
from pytest_maxrandom.reports.tables import Column, Name, Table, tabulate
from pytest_maxrandom.reports.text import clauses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.record import ClaimRecord, RunRecord, TrainingRecord

_TEXTS = {"extra": "extra", "scored": "scored"}
_METHODS = {"full": "all weights", "lora": "LoRA", "qlora": "QLoRA"}


def trained(run: RunRecord) -> list[ClaimRecord]:
    """List the claims whose model is trained."""
    return [claim for claim in run.claims if claim.training is not None]


def training_table(run: RunRecord) -> Table:
    """Show what each arm was trained on, and what that found."""
    known = names(run)
    columns: list[Column[Any]] = [
        Column("claim", lambda each: Name(known[each.id], 80), header=True),
        Column("texts", lambda each: _texts(each.training) or NONE, brief="texts"),
        Column("labelled", lambda each: _labelled(each.training), "right", brief="labelled"),
        Column("how", lambda each: _how(each.training) or NONE),
        Column("tokens", lambda each: count(each.training.tokens), "right", brief="tokens"),
        Column("loss", lambda each: loss(each.training), "right", brief="loss"),
        Column("of the head", lambda each: head_loss(each.training), "right", brief="of the head"),
        Column("time", lambda each: _time(each.training), "right", brief="time"),
        Column("memory", lambda each: _memory(each.training), "right"),
        name_column("trained", run),
    ]
    legend = (
        "*Texts*: those that an arm was trained on further, without answers; *labelled*: what its "
        "classification head was trained on. Scored, extra and labelled examples have no text in "
        "common, and none of them stands in the test set. *Loss*: mean cross-entropy in nats at "
        "the first and at the last logging step."
    )
    return tabulate("Training", columns, trained(run), key="training", legend=legend)


def training_is(claim: ClaimRecord) -> str:
    """Say what a claim's model was trained on, in one phrase."""
    found = claim.training
    if found is None:
        return ""
    further = how = ""
    if found.text is not None:
        which = {"extra": "other texts of the task", "scored": "the texts that are scored"}.get(
            found.text, f"the texts of {found.text}"
        )
        further = f"further on {_number(found.texts, 'text', 'texts')}, {which} ({_how(found)})"
    if found.labelled:
        kind = ", stratified by class" if found.classify.get("stratified") else ""
        how = (
            f"{'then ' if further else ''}with a classification head on "
            f"{_labelled(found)} labelled examples{kind} "
            f"({_epochs(found.classify['epochs'])})"
        )
    return clauses(
        further,
        how,
        found.losses and f"loss {_losses(found)}",
        found.tokens is not None and f"{count(found.tokens)} tokens",
        found.cut and f"{_number(found.cut, 'text', 'texts')} cut at the longest length",
        found.copies and f"{_number(found.copies, 'copy was', 'copies were')} passed over",
        f"seed {found.seed}",
        f"texts' SHA-256 {found.text_digest[:12]}",
    )


def training_cost(claim: ClaimRecord) -> str:
    """Say what training took."""
    found = claim.training
    if found is None or found.seconds is None:
        return ""
    return clauses(
        f"{count(found.steps)} steps in {found.seconds:,.1f} s",
        found.from_cache and "in an earlier run: its weights were kept",
        found.peak_memory and f"at most {_memory(found)} of memory",
    )


def loss(found: TrainingRecord) -> str:
    """Write the loss of the further pretraining at its first and last logging step."""
    return _span(found.losses[: found.pretraining_steps or 0])


def head_loss(found: TrainingRecord) -> str:
    """Write the loss of the classification head at its first and last logging step."""
    return _span(found.losses[found.pretraining_steps or 0 :])


def _number(number: int, one: str, several: str) -> str:
    return f"{count(number)} {one if number == 1 else several}"


def _losses(found: TrainingRecord) -> str:
    parts = [loss(found), head_loss(found)]
    return ", of the head ".join(each for each in parts if each != NONE)


def _span(losses: Sequence[float]) -> str:
    return f"{_loss(losses[0])} to {_loss(losses[-1])}" if losses else NONE


def _loss(value: float) -> str:
    return f"{value:#.3g}".rstrip(".")


def _texts(found: TrainingRecord) -> str:
    return (
        "" if found.text is None else f"{count(found.texts)} {_TEXTS.get(found.text, 'of a file')}"
    )


def _labelled(found: TrainingRecord) -> str:
    return count(sum(found.labelled.values())) if found.labelled else NONE


def _how(found: TrainingRecord) -> str:
    of = found.settings
    if not of:
        return ""
    adapter = "" if of["method"] == "full" else f" of rank {of['rank']}"
    asked = "as prompts without answers, " if of["form"] == "prompt" else ""
    method = f"{_METHODS.get(of['method'], of['method'])}{adapter}"
    return f"{asked}{method}, {of['objective']}, {_epochs(of['epochs'])}"


def _epochs(number: int) -> str:
    return _number(number, "epoch", "epochs")


def _time(found: TrainingRecord) -> str:
    return NONE if found.seconds is None else duration(found.seconds)


def _memory(found: TrainingRecord) -> str:
    return f"{found.peak_memory / 2**30:,.1f} GiB" if found.peak_memory else NONE

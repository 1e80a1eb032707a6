"""How a claim's model was trained, asked and computed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import NONE, count, duration
from pytest_maxrandom.record import (
    ClaimRecord,
    LabelBiasRecord,
    RunRecord,
    TrainingRecord,
    arithmetics,
)
from pytest_maxrandom.reports.columns import name_column
from pytest_maxrandom.reports.summary import names
from pytest_maxrandom.reports.tables import Column, Name, Table, tabulate
from pytest_maxrandom.reports.text import clauses, listed, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDED = ("server", "version", "model", "tested", "tokenized", "repeated", "local", "same_texts")
"""Of a handshake, what a sentence is made of; all else is what the server tells of the model."""


def generated(claim: ClaimRecord) -> str:
    """Say how answers were generated and read, and how many of them could not be."""
    how = claim.generated
    if how is None:
        return ""
    stops = "what begins the next question"
    if how.stop is not None:
        stops = listed(how.stop)
    unread = how.unreadable + how.cut + how.refused
    return clauses(
        f"at most {count(how.max_tokens)} tokens"
        + (f", which end at {stops}" if how.stop is None or how.stop else ""),
        f"temperature {how.temperature:g}"
        + (" (the likeliest token each time)" if how.temperature == 0 else ""),
        how.pattern and f"read is what the first group of '{how.pattern}' finds",
        how.answers
        and f"nothing could be read in {count(unread)} of {count(how.answers)} answers"
        + (
            f" ({count(how.unreadable)} that hold none or several, {count(how.cut)} cut, "
            f"{count(how.refused)} refused)"
            if unread
            else ""
        ),
    )


def chatted(record: ClaimRecord) -> str:
    """Say what stood around each prompt, where prompts are messages."""
    engine = record.engine
    if engine is None:
        return ""
    if engine.chat is not None:
        before, after = engine.chat
        around = f"{before!r} before, {after!r} after"
        return f"each prompt is a message in the model's template: {around}"
    if engine.engine == "chat":
        return "each prompt is a message; the server puts it into its own template"
    return ""


def cost(record: ClaimRecord | LabelBiasRecord) -> str:
    """Say what scoring took, and how near that is to the least that it could take."""
    e = record.engine
    if e is None or record.simulated:
        return ""
    where = ", ".join(filter(None, (e.device, e.dtype, e.engine)))
    scored, tokens = e.requests > 0, e.tokens_forwarded
    at_most = "at most " if e.tokens_cached is None else ""
    cached = "the server does not tell which it had cached" if at_most else ""
    if e.tokens_cached:
        cached = f"{count(e.tokens_cached)} more were cached by the server"
    elsewhere = "" if scored else f", {where}"
    # The checks of labels may ask for both.
    asked = "answers generated" if getattr(record, "generated", None) else "choices scored"
    return clauses(
        scored
        and f"{count(e.requests)} {asked} with {at_most}{count(tokens)} tokens in "
        f"{e.seconds:,.1f} s ({where})",
        scored and cached,
        scored
        and e.trie_nodes
        and f"{at_most}{tokens / e.trie_nodes:.2f} times the {count(e.trie_nodes)} nodes of the "
        "prefix trie",
        scored and e.seconds and f"{count(round(tokens / e.seconds))} tokens per second",
        e.reused
        and f"{number_of(e.reused, 'prompt')} read from the results store "
        f"({e.reused_seconds:,.1f} s when computed{elsewhere})",
        e.peak_memory and f"at most {e.peak_memory / 2**30:,.1f} GiB of memory",
        e.engine_reason,
    )


def precision(claim: ClaimRecord) -> str:
    """Say how firmly the answers stand where the arithmetic has few digits."""
    e = claim.engine
    exact = claim.quantization == "none" and e is not None and e.dtype in ("float32", "float64")
    if e is None or e.closest is None or exact or claim.simulated:
        return ""
    asked = f" (the suite asks for {e.asked_dtype})" if e.asked_dtype else ""
    return (
        f"{e.dtype}{asked}: answers can change with the batches; the closest of all was decided by "
        f"{e.closest:.2g} in score"
    )


def computed(record: ClaimRecord | LabelBiasRecord) -> str:
    """Say what computed the numbers: processor, kernels and versions."""
    if record.simulated:
        return "by a rule: the answers are simulated"
    found = record.engine.arithmetic if record.engine else None
    if found is None:
        return ""
    versions = ", ".join(f"{name} {number}".rstrip() for name, number in found.versions.items())
    quantized = record.engine.quantized if record.engine else None
    return clauses(
        f"on {found.processor}, by {found.kernels} ({versions})",
        quantized and f"the model's files are already quantized ({quantized})",
    )


def served(record: ClaimRecord | LabelBiasRecord) -> str:
    """Say what a server says that it serves, and what was checked of it."""
    handshake = record.engine.handshake if record.engine else None
    if record.engine is None or handshake is None:
        return ""
    servers = record.engine.servers
    told = (f"{key} {_grouped(handshake[key])}" for key in handshake if key not in _WORDED)
    tokenized, repeated, local, same = (
        handshake.get(key) for key in ("tokenized", "repeated", "local", "same_texts")
    )
    return clauses(
        f"{handshake.get('model')} of {handshake.get('server')} "
        f"{handshake.get('version') or ''}".rstrip(),
        ", ".join(told),
        f"servers are asked in this way in tests with {handshake['tested']}"
        if handshake.get("tested")
        else "this way of asking was tested with a fake server only, never with a real one",
        f"{tokenized} texts have the same tokens as the local tokenizer gives"
        if tokenized
        else "its tokens were not compared with any others",
        repeated is not None
        and f"asked twice, in two orders, log-likelihoods differ by at most {repeated:.2g} nats",
        same is not None
        and f"of three texts that were generated twice, in two orders, {same} "
        f"{'is' if same == 1 else 'are'} the same",
        local is not None
        and f"from those of the weights on this machine they differ by at most {local:.2g} nats",
        servers and f"the answers are those of {'; '.join(servers)}",
    )


def _grouped(told: object) -> str:
    """Write a number as all others are written."""
    return count(int(told)) if isinstance(told, str) and told.isdecimal() else str(told)


def processors(run: RunRecord) -> str:
    """Say on which processors the models of a run were computed."""
    names = list(dict.fromkeys(each.processor for each in arithmetics(run) if each.processor))
    if len(names) > 1:
        return f"{listed(names)}; the details of each claim say on which"
    return "".join(names)


_METHODS = {"full": "all weights", "lora": "LoRA", "qlora": "QLoRA"}


def trained(run: RunRecord) -> list[ClaimRecord]:
    """List the claims whose model is trained."""
    return [claim for claim in run.claims if claim.training is not None]


def training_table(run: RunRecord) -> Table:
    """Show what each arm was trained on, and what that found."""
    known = names(run)
    columns: list[Column[Any]] = [
        Column("claim", lambda each: Name(known[each.id], 80), header=True),
        Column("texts", lambda each: _texts(each.training), brief="texts"),
        Column("labelled", lambda each: _labelled(each.training), "right", brief="labelled"),
        Column("how", lambda each: _how(each.training) or NONE),
        Column("tokens", lambda each: count(each.training.tokens), "right", brief="tokens"),
        Column("loss", lambda each: loss(each.training), "right", brief="loss"),
        Column("of the head", lambda each: head_loss(each.training), "right", brief="of the head"),
        Column("time", lambda each: _duration(each.training.seconds), "right", brief="time"),
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
    training = claim.training
    if training is None:
        return ""
    further = how = ""
    losses = (loss(training), head_loss(training))
    if training.text is not None:
        which = {"extra": "other texts of the task", "scored": "the texts that are scored"}.get(
            training.text, f"the texts of {training.text}"
        )
        further = f"further on {number_of(training.texts, 'text')}, {which} ({_how(training)})"
    if training.labelled:
        kind = ", stratified by class" if training.classify.get("stratified") else ""
        how = (
            f"{'then ' if further else ''}with a classification head on "
            f"{_labelled(training)} labelled examples{kind} "
            f"({number_of(training.classify['epochs'], 'epoch')})"
        )
    return clauses(
        further,
        how,
        training.losses and f"loss {', of the head '.join(one for one in losses if one != NONE)}",
        training.tokens is not None and f"{count(training.tokens)} tokens",
        training.cut and f"{number_of(training.cut, 'text')} cut at the longest length",
        training.copies
        and f"{count(training.copies)} {'copy was' if training.copies == 1 else 'copies were'} "
        "passed over",
        f"seed {training.seed}",
        f"texts' SHA-256 {training.text_digest[:12]}",
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


def _span(losses: Sequence[float]) -> str:
    first_and_last = (f"{value:#.3g}".rstrip(".") for value in (*losses[:1], *losses[-1:]))
    return " to ".join(first_and_last) or NONE


def _texts(found: TrainingRecord) -> str:
    of = found.text if found.text in ("extra", "scored") else "of a file"
    return NONE if found.text is None else f"{count(found.texts)} {of}"


def _labelled(found: TrainingRecord) -> str:
    return count(sum(found.labelled.values())) if found.labelled else NONE


def _how(found: TrainingRecord) -> str:
    of = found.settings
    if not of:
        return ""
    adapter = "" if of["method"] == "full" else f" of rank {of['rank']}"
    asked = "as prompts without answers, " if of["form"] == "prompt" else ""
    method = f"{_METHODS.get(of['method'], of['method'])}{adapter}"
    return f"{asked}{method}, {of['objective']}, {number_of(of['epochs'], 'epoch')}"


def _duration(seconds: float | None) -> str:
    return NONE if seconds is None else duration(seconds)


def _memory(found: TrainingRecord) -> str:
    return f"{found.peak_memory / 2**30:,.1f} GiB" if found.peak_memory else NONE

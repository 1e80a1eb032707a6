"""What computed a claim's answers, and how they were asked for, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count
from pytest_maxrandom.record import arithmetics
from pytest_maxrandom.reports.text import clauses, listed

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, LabelBiasRecord, RunRecord

_WORDED = ("server", "version", "model", "tokenized", "repeated", "local", "same_texts")
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
        and f"no choice could be read in {count(unread)} of {count(how.answers)} answers"
        + (
            f" ({count(how.unreadable)} that name none or several, {count(how.cut)} cut, "
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
    elsewhere = "" if scored else f", {where}"
    return clauses(
        scored
        and f"{count(e.requests)} {_asked_for(record)} with {count(tokens)} tokens in "
        f"{e.seconds:,.1f} s ({where})",
        scored
        and e.trie_nodes
        and f"{tokens / e.trie_nodes:.2f} times the {count(e.trie_nodes)} nodes of the prefix trie",
        scored and e.seconds and f"{count(round(tokens / e.seconds))} tokens per second",
        e.reused
        and f"{count(e.reused)} {'prompt' if e.reused == 1 else 'prompts'} read from the results "
        f"store ({e.reused_seconds:,.1f} s when computed{elsewhere})",
        e.peak_memory and f"at most {e.peak_memory / 2**30:,.1f} GiB of memory",
        e.engine_reason,
    )


def _asked_for(record: ClaimRecord | LabelBiasRecord) -> str:
    """Say what was asked for; the checks of labels may ask for both."""
    generated = getattr(record, "generated", None)
    return "choices scored" if generated is None else "answers generated"


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
    said = record.engine.handshake if record.engine else None
    if said is None:
        return ""
    told = (f"{key} {_grouped(said[key])}" for key in said if key not in _WORDED)
    tokenized, repeated, local, same = (
        said.get(key) for key in ("tokenized", "repeated", "local", "same_texts")
    )
    return clauses(
        f"{said.get('model')} of {said.get('server')} {said.get('version')}".rstrip(),
        ", ".join(told),
        f"{tokenized} texts have the same tokens as the local tokenizer gives"
        if tokenized
        else "its tokens were not compared with any others",
        repeated is not None
        and f"asked twice, in two orders, log-likelihoods differ by at most {repeated:.2g} nats",
        same is not None
        and f"of two texts that were generated twice, in two orders, {same} "
        f"{'is' if same == 1 else 'are'} the same",
        local is not None
        and f"from those of the weights on this machine they differ by at most {local:.2g} nats",
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

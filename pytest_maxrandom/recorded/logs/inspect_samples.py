"""Samples in a log of Inspect, and how they were scored."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.logs.json_files import field, optional
from pytest_maxrandom.recorded.logs.runs import cluster_of, digest

if TYPE_CHECKING:
    from pytest_maxrandom.recorded.logs.inspect_files import InspectLog
    from pytest_maxrandom.recorded.logs.json_files import Object

_RIGHT = {"C", "1", "1.0", "True", "true", "yes"}
_WRONG = {"I", "N", "0", "0.0", "False", "false", "no"}
"""Values of scores; N stands for no answer."""

_LETTERS = 26
"""So many choices are called A, B, ...; the next ones are called 1, 2, ..."""


@dataclass(frozen=True, slots=True)
class InspectSample:
    """One sample in one epoch.

    Attributes
    ----------
    content, prompt : str
        Digests of choices and target; of all messages that the model got before it answered.
    right : bool
        Whether the score counts it as right.
    choices : tuple of str
        Empty where it has none.
    places : frozenset of int or None
        What the target means among them, if it is made of letters.
    chosen : int or None
        What the answer means, if it is one letter.
    cluster : str or None
        What the sample shares with others; None where that was not asked for.
    """

    id: str
    epoch: int
    content: str
    prompt: str
    right: bool
    choices: tuple[str, ...]
    places: frozenset[int] | None
    chosen: int | None
    cluster: str | None = None


def read_samples(
    log: InspectLog, scorer: str | None, cluster: str | None = None
) -> tuple[list[InspectSample], str]:
    """Read all samples of a log, and return them with the scorer.

    Raises
    ------
    RecordedError
        If there is none, one stands there twice or failed, or its score is neither right nor
        wrong.
    """
    samples = []
    seen = set()
    used = scorer
    for where, data in log.samples():
        scores = _scores(data, where)
        only = scorer or _only(scores, where)
        used = used or only
        sample = _sample(data, scores, used, where)
        found = cluster_of(data.get("metadata"), cluster, f"{where}: metadata")
        sample = replace(sample, cluster=found)
        if (sample.id, sample.epoch) in seen:
            raise RecordedError(f"{where}: sample {sample.id!r} stands there twice; keep one")
        seen.add((sample.id, sample.epoch))
        samples.append(sample)
    if used is None or not samples:
        raise RecordedError(f"{log.path}: holds no samples; run it without --no-log-samples")
    return samples, used


def _scores(data: Object, where: str) -> Object:
    failed = optional(data, "error", dict, where)
    scores = optional(data, "scores", dict, where)
    if failed or not scores:
        reason = f"failed ({failed.get('message')})" if failed else "has no score"
        raise RecordedError(
            f"{where}: sample {data.get('id')!r} {reason}; finish the run with inspect eval-retry, "
            "or score it with inspect score"
        )
    return scores


def _only(scores: Object, where: str) -> str:
    if len(scores) > 1:
        raise RecordedError(
            f"{where}: the scorers {', '.join(scores)} judged this sample; say which one counts"
        )
    return next(iter(scores))


def _sample(data: Object, scores: Object, scorer: str, where: str) -> InspectSample:
    if scorer not in scores:
        raise RecordedError(
            f"{where}: no scorer {scorer!r} judged this sample, found {', '.join(scores)}; name "
            "one of them"
        )
    score = field(scores, scorer, dict, where)
    name = data.get("id")
    if not isinstance(name, (str, int)):
        raise RecordedError(f"{where}: 'id' is {name!r}, expected text or a number")
    target = data.get("target")
    targets = [str(each) for each in (target if isinstance(target, list) else [target])]
    choices = tuple(str(each) for each in optional(data, "choices", list, where) or ())
    places = _places(targets, len(choices))
    answer = _places([str(score.get("answer"))], len(choices))
    return InspectSample(
        id=str(name),
        epoch=optional(data, "epoch", int, where) or 1,
        content=digest(sorted(choices), sorted(choices[p] for p in places) if places else targets),
        prompt=_prompt(data, where),
        right=_right(score.get("value"), scorer, where),
        choices=choices,
        places=places,
        chosen=min(answer) if answer is not None and len(answer) == 1 else None,
    )


def _right(value: object, scorer: str, where: str) -> bool:
    if isinstance(value, (dict, list)) or str(value) not in _RIGHT | _WRONG:
        raise RecordedError(
            f"{where}: {scorer!r} gave {reprlib.repr(value)}, expected C or I, or 1 or 0, because "
            "only whole right answers can be counted; name a scorer that counts them"
        )
    return str(value) in _RIGHT


def _places(names: list[str], choices: int) -> frozenset[int] | None:
    """Return the choices that letters such as "B" or "A, C" mean; None if they mean none."""
    parts = [part for name in names for part in name.replace(",", " ").split()]
    places = set()
    for part in parts:
        if len(part) == 1 and "A" <= part.upper() <= "Z":
            places.add(ord(part.upper()) - ord("A"))
        elif part.isascii() and part.isdecimal():
            places.add(_LETTERS - 1 + int(part))
        else:
            return None
    return frozenset(places) if places and max(places) < choices else None


def _prompt(data: Object, where: str) -> str:
    """Return a digest of what the model got before it first answered.

    Demonstrations may be messages in the model's role, but it did not generate them.
    """
    texts = []
    for message in optional(data, "messages", list, where) or []:
        if not isinstance(message, dict):
            raise RecordedError(f"{where}: a message is {message!r}, expected an object")
        if message.get("source") == "generate":
            break
        texts.append((message.get("role"), message.get("content")))
    return digest(texts or data.get("input"))

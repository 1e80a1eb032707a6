"""Documents in a samples file of lm-evaluation-harness, and what their answers were."""

from __future__ import annotations

import ast
import contextlib
import json
import math
import re
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.answers import are_letters
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.files import Fields, Object, read_lines
from pytest_maxrandom.recorded.logs.runs import cluster_of, digest, is_share
from pytest_maxrandom.recorded.logs.written import Written, question_of
from pytest_maxrandom.sweeps.lettered import listed

if TYPE_CHECKING:
    from pathlib import Path


COMPARED = frozenset({"acc", "acc_norm"})
"""Metrics that compare the choices with one another."""

_ONE = {"1", "1.0", "True", "true"}
_ZERO = {"0", "0.0", "False", "false"}
_LONGEST = 10**5
"""Characters of a target up to which it may be a list."""
_PLACES = re.compile(r"\[\s*\d+\s*(,\s*\d+\s*)*\]")


@dataclass(frozen=True, slots=True)
class Sample:
    """One document, as one filter left it."""

    where: str
    """File and line."""
    id: str
    filter: str
    content: str
    """Digest of the document."""
    prompt: str
    """Digest of the text before the answer."""
    target: str
    """The right answer: a place, several, or a text."""
    texts: tuple[str, ...] | None
    """The choices as the task has them; None where there are none, or they are parts of the
    contexts."""
    log_likelihoods: tuple[float, ...]
    """Of each choice, summed over its tokens, in nats; empty where the model wrote its answer."""
    metrics: Object
    """Value of each metric."""
    cluster: str | None = None
    """What the document shares with others; None where that was not asked for."""
    written: Written | None = None
    """What the model wrote, and what is right; None where choices were compared."""
    told: tuple[str, ...] | None = None
    """Texts that the question lists under its choices, where these are letters."""

    def score(self, metric: str) -> float:
        """Return how good the answer is by the metric, from 0 to 1; 1 is right.

        Raises
        ------
        RecordedError
            If it is missing, or no such number.
        """
        if metric not in self.metrics:
            known = ", ".join(self.metrics) or "none"
            raise RecordedError(
                f"{self.where}: document {self.id} has no metric '{metric}', found {known}; name "
                "one of them"
            )
        found = self.metrics[metric]
        if is_share(found) and metric not in COMPARED:
            return float(found)
        if (value := str(found)) not in _ONE | _ZERO:
            expected = "0 or 1" if metric in COMPARED else "a number from 0 to 1"
            raise RecordedError(
                f"{self.where}: '{metric}' of document {self.id} is {reprlib.repr(value)}, "
                f"expected {expected}; name a metric with such values"
            )
        return float(value in _ONE)

    def chosen(self, metric: str) -> int | None:
        """Return the first choice with the best score, as lm-eval does; None if not known."""
        scores = np.array(self.log_likelihoods)
        if metric == "acc":
            return int(np.argmax(scores))
        if self.texts is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return int(np.argmax(scores / [len(text) for text in self.texts]))

    def right_places(self, *, as_text: bool) -> frozenset[int] | None:
        """Return the choices that the target means, read as places or as a text; None if none."""
        if as_text:
            texts = self.texts or ()
            named = [text for text in (self.target, self.target.lstrip()) if text in texts]
            return frozenset({texts.index(named[0])}) if named else None
        if _PLACES.fullmatch(self.target):
            places = frozenset(json.loads(self.target))
        elif self.target in _ONE | _ZERO:
            places = frozenset({int(self.target in _ONE)})
        elif self.target.isascii() and self.target.isdecimal():
            places = frozenset({int(self.target)})
        else:
            return None
        return places if max(places) < len(self.log_likelihoods) else None


def read_samples(path: Path, delimiter: str, cluster: str | None = None) -> list[Sample]:
    """Read all lines of a file ``samples_TASK_TIME.jsonl``, in its order.

    Between a context and a choice stands the task's `delimiter`; `cluster` is the field of the
    documents that holds their cluster, if any does.

    Raises
    ------
    RecordedError
        If a line is no sample, or a document stands in two lines of one filter.
    """
    samples: dict[tuple[str, str], Sample] = {}
    for fields in read_lines(path):
        sample = _sample(fields, delimiter, cluster)
        earlier = samples.setdefault((sample.id, sample.filter), sample)
        if earlier is not sample:
            raise fields.error(
                f"document {sample.id} is already in line {earlier.where.rpartition(':')[2]}; keep "
                "the lines of one run"
            )
    if not samples:
        raise RecordedError(f"{path}: holds no document; run the task again, or remove the file")
    return [*samples.values()]


def _sample(fields: Fields, delimiter: str, cluster: str | None) -> Sample:
    line, names = fields.data, fields.find(list, "metrics")
    doc_id, requests = fields.need(int, "doc_id"), _requests(fields)
    texts, log_likelihoods = _compared(fields, requests, delimiter)
    lettered = texts is not None and are_letters(texts)
    return Sample(
        where=fields.where,
        id=str(doc_id),
        filter=fields.find(str, "filter") or "none",
        content=fields.find(str, "doc_hash") or digest(line.get("doc")),
        prompt=fields.find(str, "prompt_hash") or digest(requests[0][0]),
        target=str(line.get("target")),
        texts=texts,
        log_likelihoods=log_likelihoods,
        metrics={
            name: value
            for name, value in line.items()
            if (name in names if names is not None else isinstance(value, int | float))
        },
        written=None if log_likelihoods else _written(line, str(requests[0][0])),
        cluster=cluster_of(line.get("doc"), cluster, fields.where),
        told=listed(str(requests[0][0]), len(texts or ())) if lettered else None,
    )


def _written(line: Object, prompt: str) -> Written | None:
    """Return what the model wrote; None where the log does not hold one text of it."""
    responses, target = line.get("filtered_resps"), line.get("target")
    if not isinstance(responses, list) or len(responses) != 1 or not isinstance(responses[0], str):
        return None
    document = line.get("doc")
    references = tuple(dict.fromkeys(_references(target)))
    if not references or not references[0].strip():
        return None
    asked = question_of(prompt, document if isinstance(document, dict) else {}, references)
    return Written(responses[0], references, asked)


def _references(target: object) -> list[str]:
    """Return the texts that are right; the harness writes lists as Python shows them."""
    if isinstance(target, str) and target.startswith("[") and len(target) < _LONGEST:
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            target = ast.literal_eval(target)
    several = target if isinstance(target, list) else [target]
    return [str(each) for each in several if each is not None]


def _requests(fields: Fields) -> list[list[Any]]:
    """Return the arguments of each request; older versions write lists instead of objects."""
    arguments = fields.data.get("arguments")
    rows = list(arguments.values()) if isinstance(arguments, dict) else arguments
    if isinstance(rows, list) and rows:
        found = [list(row.values()) if isinstance(row, dict) else row for row in rows]
        if all(isinstance(row, list) and row for row in found):
            return found
    raise fields.error(
        f"'arguments' is {reprlib.repr(arguments)}, expected the texts sent to the model; give the "
        "log as lm-eval wrote it"
    )


def _compared(
    fields: Fields, requests: list[list[Any]], delimiter: str
) -> tuple[tuple[str, ...] | None, tuple[float, ...]]:
    """Return the texts of the choices, and how likely the model found each."""
    pairs = [(row[0], row[1]) for row in requests if len(row) > 1 and isinstance(row[1], str)]
    if len(pairs) < len(requests) or len(pairs) < 2:
        return None, ()
    values = tuple(_number(each, fields) for each in fields.need(list, "filtered_resps"))
    if len(values) != len(pairs):
        raise fields.error(
            f"{len(values)} log-likelihoods for {len(pairs)} requests; give the log as lm-eval "
            "wrote it"
        )
    # The second half was asked without a context.
    if "acc_mutual_info" in (fields.data.get("metrics") or fields.data):
        half = len(pairs) // 2
        pairs, values = pairs[:half], values[:half]
    texts = tuple(answer for _, answer in pairs)
    if any(context != pairs[0][0] for context, _ in pairs):
        return None, values
    if all(text.startswith(delimiter) for text in texts):
        texts = tuple(text.removeprefix(delimiter) for text in texts)
    return texts, values


def _number(response: object, fields: Fields) -> float:
    """Return a log-likelihood; it stands in a pair, and as text where the version is not old."""
    try:
        number = float(response[0])  # type: ignore[index]
    except (TypeError, ValueError, IndexError, KeyError):
        number = math.nan
    if math.isnan(number) or number == math.inf:
        raise fields.error(
            f"'filtered_resps' has {reprlib.repr(response)}, expected a log-likelihood and whether "
            "the text is the likeliest one; find out what went wrong in the run"
        )
    return number

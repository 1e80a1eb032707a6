"""NumPy archives of right and wrong answers, several sweeps in one file.

For each sweep of t prompts on n examples the archive has arrays whose names begin with
``TASK__SHOTS__``. The file is named after the model: ``correct_MODEL.npz``.

=====================  ===========  ===============================================================
``prompt_ids``         (t)          text or integers
``example_ids``        (n)          text or integers
``demonstration_ids``  (t, shots)   text or integers; where there are demonstrations
``correct``            (t, n)       booleans
``evaluated``          (t, n)       booleans
``scores``             (t, n)       floats from 0 to 1 in place of the last two, NaN where not
                                    evaluated
``answers``            (t, n)       integers: the chosen choice from 0, -1 where not evaluated
``gold``               (n), (n, m)  integers: the right choice; or booleans: which choices are right
``choices``            (n)          integers: how many choices there are
``choice_texts``       (n, m)       text: the choices, in that order; empty behind an example's last
``log_likelihoods``    (t, n, m)    floats, in nats; NaN where an example has fewer choices
``clusters``           (n)          text or integers: what examples share, such as a passage
=====================  ===========  ===============================================================

All from ``answers`` on are optional; with the first two of these ``correct`` and ``evaluated`` are
as well. Where each example was asked k times, ``correct``, ``answers`` or both have a third axis of
that length; ``log_likelihoods`` are those of single answers.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.headers import check_arrays
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.sweeps.samples import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    Gold = tuple[frozenset[int], ...]

_KEY = re.compile(r"(?P<task>.+)__(?P<shots>\d+)__(correct|answers|scores)")

_MOST_CHOICES = 1_000_000
"""Numbers from here on are no choices, but were never filled in."""

_TYPES: dict[str, tuple[type[np.generic], str]] = {
    "iuU": (np.str_, "integers or text"),
    "iu": (np.int64, "integers"),
    "b": (np.bool_, "booleans"),
    "f": (np.float64, "floats"),
    "U": (np.str_, "text"),
}
"""By NumPy's kinds of types: what arrays of them are read as, and what a message calls them."""


def read_npz(path: Path) -> list[Answers]:
    """Read all sweeps of an archive, in its order.

    Raises
    ------
    RecordedError
        If it cannot be read, or does not hold what the module's documentation says.
    """
    content = _content(path)
    keys = dict.fromkeys(
        (match["task"], match["shots"]) for match in map(_KEY.fullmatch, content) if match
    )
    if not keys:
        found = ", ".join(list(content)[:4]) or "nothing"
        raise RecordedError(
            f"{path}: no array is named TASK__SHOTS__correct, found {found}; name each sweep's "
            "arrays after its task and number of shots"
        )
    sweeps = [
        folded(_sweep(arrays, task, int(shots)), k)
        for task, shots in keys
        for arrays, k in [_by_sample(_Arrays(path, f"{task}__{shots}__", content))]
    ]
    for sweep in sweeps:
        sweep.refuse_equal_scores()
    return sweeps


def _content(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise RecordedError(f"{path}: not an .npz archive; write it with numpy.savez")
        check_arrays(path)
        with np.load(path, allow_pickle=False) as archive:
            return {name: _read(archive, name, path) for name in archive}
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RecordedError(f"{path}: a damaged .npz archive: {error}; copy it again") from error


def _read(archive: Mapping[str, NDArray[Any]], name: str, path: Path) -> NDArray[Any]:
    try:
        return archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise RecordedError(
            f"{path}: {name}: found Python objects, which could run code and are not read; save it "
            "as numbers, booleans or text (numpy.asarray(..., dtype=str))"
        ) from error


@dataclass(slots=True)
class _Arrays:
    """The arrays of one sweep: those whose names begin alike.

    Every method raises a RecordedError where an array is not as expected.
    """

    path: Path
    prefix: str
    content: Mapping[str, NDArray[Any]]
    prompts: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.content

    def error(self, name: str, message: str) -> RecordedError:
        """Return an error about an array."""
        return RecordedError(f"{self.path}: {self.prefix}{name}: {message}")

    def read(self, name: str, kinds: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array of one of NumPy's kinds of types; None in the shape is any length."""
        if name not in self:
            raise RecordedError(
                f"{self.path}: the array {self.prefix}{name} is missing; write it with the others"
            )
        array = self.content[self.prefix + name]
        if array.ndim != len(shape):
            raise self.error(
                name, f"found the shape {array.shape}, expected {len(shape)} dimension(s)"
            )
        kind, expected = _TYPES[kinds]
        if array.dtype.kind not in kinds:
            raise self.error(name, f"found values of the type {array.dtype}, expected {expected}")
        known = tuple(length for length in shape if length is not None)
        if array.shape[: len(known)] != known:
            raise self.error(
                name,
                f"found the shape {array.shape[: len(known)]}, expected {known} from the numbers "
                "of prompt ids and example ids",
            )
        return array.astype(kind)

    def refuse(
        self,
        name: str,
        wrong: ArrayLike,
        found: Callable[[tuple[int, ...]], object],
        expected: str,
        choices: NDArray[np.int64] | None = None,
    ) -> None:
        """Refuse an array at the first place, of an example or a prompt and one, that is wrong.

        Where numbers of choices are given, they are what it contradicts.
        """
        for place in map(tuple, np.argwhere(wrong)[:1].tolist()):
            cell = f"example {self.examples[place[-1]]!r}"
            if len(place) > 1:
                cell = f"prompt {self.prompts[place[0]]!r} and {cell}"
            if choices is not None:
                cell += f", which has the choices 0 to {choices[place[-1]] - 1}"
            raise self.error(name, f"found {found(place)} for {cell}{expected}")

    def ids(self, name: str) -> tuple[str, ...]:
        """Return ids as texts, at least one."""
        ids = tuple(self.read(name, "iuU", (None,)).tolist())
        if not ids:
            raise self.error(name, "holds no id; give a sweep")
        return ids

    def numbers(self, name: str, shape: tuple[int, ...], least: int) -> NDArray[np.int64] | None:
        """Return numbers that can be those of choices; None where there is no such array."""
        if name not in self:
            return None
        numbers = self.read(name, "iu", shape)
        wrong = (numbers < least) | (numbers >= _MOST_CHOICES)
        expected = f", expected a number from {least} on (below {_MOST_CHOICES})"
        expected += "; leave out examples whose right answer is not known" * (name == "gold")
        self.refuse(name, wrong, numbers.__getitem__, expected)
        return numbers

    def flags(self, name: str, computed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Return truth values as they are given, as they follow from the answers, or as both."""
        if computed is not None and name not in self:
            return computed
        given = self.read(name, "b", (len(self.prompts), len(self.examples)))
        if computed is not None:
            expected = ", but the answer says otherwise; write all arrays from the same run"
            self.refuse(name, given != computed, given.__getitem__, expected)
        return given


def _by_sample(arrays: _Arrays) -> tuple[_Arrays, int]:
    """Return arrays in which each sample is as if it were a prompt, and how many there are."""
    cells = {
        name: arrays.content[arrays.prefix + name]
        for name in ("correct", "answers", "evaluated")
        if name in arrays
    }
    sizes = {name: array.shape[2] for name, array in cells.items() if array.ndim == 3}
    if not sizes:
        return arrays, 1
    (first, k), *others = sizes.items()
    for name, other in others:
        if other != k:
            raise arrays.error(
                name,
                f"found {other} samples on its third axis, but {first} has {k}; write both "
                "from the same run",
            )
    if not k:
        raise arrays.error(first, "found no sample on its third axis; give at least one")
    if "log_likelihoods" in arrays:
        raise arrays.error(
            "log_likelihoods",
            "belong to single answers, but there are several samples of each; leave them out",
        )
    content = dict(arrays.content)
    for name in ("prompt_ids", "demonstration_ids"):
        if name in arrays:
            content[arrays.prefix + name] = np.repeat(content[arrays.prefix + name], k, axis=0)
    for name, array in cells.items():
        if array.ndim == 3:
            flat = array.transpose(0, 2, 1).reshape(-1, array.shape[1])
        else:
            flat = np.repeat(array, k, axis=0)
        content[arrays.prefix + name] = flat
    return replace(arrays, content=content), k


def _sweep(arrays: _Arrays, task: str, shots: int) -> Answers:
    model = arrays.path.stem.removeprefix("correct_")
    prompts = arrays.prompts = arrays.ids("prompt_ids")
    examples = arrays.examples = arrays.ids("example_ids")
    shown = np.empty((len(prompts), 0), dtype=np.str_)
    if shots:
        shown = arrays.read("demonstration_ids", "iuU", (len(prompts), None))
    if shown.shape[1] != shots:
        raise arrays.error(
            "demonstration_ids",
            f"found {shown.shape[1]} demonstrations for each prompt, expected {shots} from the "
            "array's name",
        )
    demonstrations = tuple(map(tuple, shown.tolist()))
    answers = arrays.numbers("answers", (len(prompts), len(examples)), NOT_EVALUATED)
    gold, scores, grades = _gold(arrays), _scores(arrays), _grades(arrays)
    known = None if answers is None else answers >= 0
    right = None
    if answers is not None and gold is not None:
        right = hits(answers, gold, np.arange(len(gold)))
    if grades is not None:
        known, right = ~np.isnan(grades), grades == 1
        if not ((grades > 0) & (grades < 1)).any():
            grades = None  # right and wrong, and nothing between
    evaluated = arrays.flags("evaluated", known)
    correct = arrays.flags("correct", right)
    choices = _choices(arrays, scores, evaluated)
    offered = _offered(arrays, choices)
    if choices is None and offered is not None:
        choices = np.array([*map(len, offered)])
    chances, most = None, 0
    if choices is not None:
        _check_choices(arrays, choices, answers, gold, scores, evaluated)
        sizes = [1] * len(choices) if gold is None else [*map(len, gold)]
        chances = tuple(map(Fraction, sizes, choices.tolist()))
        most = int(choices.max())
    # Labels are called by the texts that all examples share, else by their numbers, unless they are
    # places of texts.
    if answers is not None:
        most = max(most, int(answers.max()) + 1)
    if gold is not None:
        most = max(most, 1 + max(map(max, gold)))
    return Answers(
        path=arrays.path,
        claim=f"{task}[{model}-{shots}shot]",
        model=model,
        task=task,
        shots=shots,
        prompts=prompts,
        examples=examples,
        identities=tuple(map(repr, demonstrations)) if shots else prompts,
        demonstration_ids=demonstrations,
        correct=correct,
        evaluated=evaluated,
        scores=grades,
        chances=chances,
        choices_counted=choices is not None and scores is None and offered is None,
        answers=answers,
        gold=gold,
        labels=()
        if answers is None and gold is None
        else tuple(map(str, range(most)))
        if offered is None
        else _shared(offered),
        offered=offered,
        log_likelihoods=scores,
        clusters=_clusters(arrays),
    )


def _shared(offered: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return the list of choices that all examples have; empty where there is none."""
    first, *others = dict.fromkeys(offered)
    return () if others or len(set(first)) < len(first) else first


def _clusters(arrays: _Arrays) -> tuple[str, ...] | None:
    if "clusters" not in arrays:
        return None
    clusters = arrays.read("clusters", "iuU", (len(arrays.examples),))
    expected = "; give an unrelated example a cluster of its own"
    arrays.refuse("clusters", clusters == "", lambda _: "none", expected)
    return tuple(clusters.tolist())


def _gold(arrays: _Arrays) -> Gold | None:
    """Return the right choices of each example."""
    n = len(arrays.examples)
    if "gold" not in arrays or arrays.content[arrays.prefix + "gold"].ndim == 1:
        right = arrays.numbers("gold", (n,), 0)
        return None if right is None else tuple(frozenset([each]) for each in right.tolist())
    marked = arrays.read("gold", "b", (n, None))
    expected = "; give it one, or leave it out"
    arrays.refuse("gold", ~marked.any(axis=1), lambda _: "no right choice", expected)
    return tuple(frozenset(np.flatnonzero(row).tolist()) for row in marked)


def _scores(arrays: _Arrays) -> NDArray[np.float64] | None:
    """Return the log-likelihoods, shape (t, n, most choices)."""
    name = "log_likelihoods"
    if name not in arrays:
        return None
    scores = arrays.read(name, "f", (len(arrays.prompts), len(arrays.examples), None))
    expected = ", expected numbers of nats (NaN where there is no such choice)"
    arrays.refuse(name, (scores == np.inf).any(axis=2), lambda _: "infinity", expected)
    return scores


def _grades(arrays: _Arrays) -> NDArray[np.float64] | None:
    """Return how good answers are, from 0 to 1, shape (t, n); None where nothing says it."""
    name = "scores"
    if name not in arrays:
        return None
    grades: NDArray[np.float64] = arrays.read(
        name, "f", (len(arrays.prompts), len(arrays.examples))
    )
    expected = (
        ", expected a number from 0 to 1 (NaN where it was not evaluated); divide marks on another "
        "scale by their range"
    )
    wrong = (grades < 0) | (grades > 1)
    arrays.refuse(name, wrong, lambda place: f"{grades[place]:g}", expected)
    return grades


def _choices(
    arrays: _Arrays, scores: NDArray[np.float64] | None, evaluated: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Return each example's number of choices, as it is given or as the scores tell it."""
    n = len(arrays.examples)
    given = arrays.numbers("choices", (n,), 2)
    if given is not None or scores is None or not evaluated.any(axis=0).all():
        return given
    known = (~np.isnan(scores)).sum(axis=2)
    choices: NDArray[np.int64] = known[evaluated.argmax(axis=0), np.arange(n)]
    arrays.refuse(
        "log_likelihoods",
        choices < 2,
        lambda place: f"{choices[place]} numbers",
        ", expected at least 2 choices",
    )
    return choices


def _offered(
    arrays: _Arrays, choices: NDArray[np.int64] | None
) -> tuple[tuple[str, ...], ...] | None:
    """Return the texts of each example's choices; an empty text stands behind the last one."""
    name = "choice_texts"
    if name not in arrays:
        return None
    texts = arrays.read(name, "U", (len(arrays.examples), None))
    known = texts != ""
    sizes = known.sum(axis=1) if choices is None else choices
    expected = "; give a text for each choice of each example, at least 2"
    arrays.refuse(name, sizes < 2, lambda place: f"{sizes[place]} texts", expected)
    arrays.refuse(
        name,
        (known != (np.arange(texts.shape[1]) < sizes[:, np.newaxis])).any(axis=1)
        | (sizes > texts.shape[1]),
        lambda place: f"{known[place].sum()} texts",
        "; give a text for each choice, and empty texts after the last",
        choices,
    )
    return tuple(
        tuple(row[:size]) for row, size in zip(texts.tolist(), sizes.tolist(), strict=True)
    )


def _check_choices(
    arrays: _Arrays,
    choices: NDArray[np.int64],
    answers: NDArray[np.int64] | None,
    gold: Sequence[frozenset[int]] | None,
    scores: NDArray[np.float64] | None,
    evaluated: NDArray[np.bool_],
) -> None:
    """Refuse answers, gold or scores of choices that an example has not."""
    if answers is not None:
        arrays.refuse("answers", answers >= choices, answers.__getitem__, "", choices)
    if gold is not None:
        sized = zip(gold, choices, strict=True)
        arrays.refuse(
            "gold",
            [max(right) >= size or len(right) == size for right, size in sized],
            lambda place: ", ".join(map(str, sorted(gold[place[0]]))),
            ", not all of them right",
            choices,
        )
    if scores is not None:
        slots = np.arange(max(scores.shape[2], int(choices.max())))
        known = np.zeros((*evaluated.shape, len(slots)), dtype=np.bool_)
        known[:, :, : scores.shape[2]] = ~np.isnan(scores)
        arrays.refuse(
            "log_likelihoods",
            evaluated & (known != (slots < choices[:, np.newaxis])).any(axis=2),
            lambda place: f"numbers at {np.flatnonzero(known[place]).tolist()}",
            "; give a number for each choice, and NaN after the last",
            choices,
        )

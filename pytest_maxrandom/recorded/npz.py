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
as well. Where each example was asked k times, ``scores``, or ``correct``, ``answers`` or both, have
a third axis of that length; ``log_likelihoods`` are those of single answers.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.arrays import Arrays, by_sample, content_of
from pytest_maxrandom.stats.gold import NOT_EVALUATED, hits
from pytest_maxrandom.sweeps.samples import folded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Gold = tuple[frozenset[int], ...]

_KEY = re.compile(r"(?P<task>.+)__(?P<shots>\d+)__(correct|answers|scores)")


def read_npz(path: Path) -> list[Answers]:
    """Read all sweeps of an archive, in its order.

    Raises
    ------
    RecordedError
        If it cannot be read, or does not hold what the module's documentation says.
    """
    content = content_of(path)
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
        for arrays, k in [by_sample(Arrays(path, f"{task}__{shots}__", content))]
    ]
    for sweep in sweeps:
        sweep.refuse_equal_scores()
    return sweeps


def _sweep(arrays: Arrays, task: str, shots: int) -> Answers:
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
    known = None
    if answers is not None:
        whole = answers.min() >= 0  # one value stands for all cells then
        known = np.broadcast_to(np.True_, answers.shape) if whole else answers >= 0
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


def _clusters(arrays: Arrays) -> tuple[str, ...] | None:
    if "clusters" not in arrays:
        return None
    clusters = arrays.read("clusters", "iuU", (len(arrays.examples),))
    expected = "; give an unrelated example a cluster of its own"
    arrays.refuse("clusters", clusters == "", lambda _: "none", expected)
    return tuple(clusters.tolist())


def _gold(arrays: Arrays) -> Gold | None:
    """Return the right choices of each example."""
    n = len(arrays.examples)
    if "gold" not in arrays or arrays.content[arrays.prefix + "gold"].ndim == 1:
        right = arrays.numbers("gold", (n,), 0)
        return None if right is None else tuple(frozenset([each]) for each in right.tolist())
    marked = arrays.read("gold", "b", (n, None))
    expected = "; give it one, or leave it out"
    arrays.refuse("gold", ~marked.any(axis=1), lambda _: "no right choice", expected)
    return tuple(frozenset(np.flatnonzero(row).tolist()) for row in marked)


def _scores(arrays: Arrays) -> NDArray[np.float64] | None:
    """Return the log-likelihoods, shape (t, n, most choices)."""
    name = "log_likelihoods"
    if name not in arrays:
        return None
    scores = arrays.read(name, "f", (len(arrays.prompts), len(arrays.examples), None))
    expected = ", expected numbers of nats (NaN where there is no such choice)"
    arrays.refuse(name, (scores == np.inf).any(axis=2), lambda _: "infinity", expected)
    return scores


def _grades(arrays: Arrays) -> NDArray[np.float64] | None:
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
    arrays: Arrays, scores: NDArray[np.float64] | None, evaluated: NDArray[np.bool_]
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
    arrays: Arrays, choices: NDArray[np.int64] | None
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
    arrays: Arrays,
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

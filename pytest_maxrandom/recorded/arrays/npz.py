"""NumPy archives of right and wrong answers, several sweeps in one file.

For each sweep of t prompts on n examples the archive has arrays whose names begin with
``TASK__SHOTS__``. The file is named after the model: ``correct_MODEL.npz``.

=====================  ===========  ===============================================================
``prompt_ids``         (t)          text or integers
``example_ids``        (n)          text or integers
``demonstration_ids``  (t, shots)   text or integers; where there are demonstrations
``correct``            (t, n)       booleans
``evaluated``          (t, n)       booleans
``answers``            (t, n)       integers: the chosen choice from 0, -1 where not evaluated
``gold``               (n), (n, m)  integers: the right choice; or booleans: which choices are right
``choices``            (n)          integers: how many choices there are
``log_likelihoods``    (t, n, m)    floats, in nats; NaN where an example has fewer choices
``clusters``           (n)          text or integers: what examples share, such as a passage
=====================  ===========  ===============================================================

All from ``answers`` on are optional; with the first two of these ``correct`` and ``evaluated`` are
as well.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.arrays.answers import read_answers
from pytest_maxrandom.recorded.arrays.arrays import Arrays
from pytest_maxrandom.recorded.refusals import refuse_equal_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.sweeps.answers import Answers

_KEY = re.compile(r"(?P<task>.+)__(?P<shots>\d+)__(correct|answers)")


def read_npz(path: Path) -> list[Answers]:
    """Read all sweeps of an archive, in its order.

    Raises
    ------
    RecordedError
        If it cannot be read, or does not hold what the module's documentation says.
    """
    arrays = _arrays(path)
    keys = dict.fromkeys(
        (match["task"], match["shots"]) for match in map(_KEY.fullmatch, arrays) if match
    )
    if not keys:
        found = ", ".join(list(arrays)[:4]) or "nothing"
        raise RecordedError(
            f"{path}: no array is named TASK__SHOTS__correct, found {found}; name the arrays of "
            "each sweep after its task and number of shots"
        )
    return [
        _sweep(Arrays(path, f"{task}__{shots}__", arrays), task, int(shots)) for task, shots in keys
    ]


def _arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise RecordedError(f"{path}: not an .npz archive; write it with numpy.savez")
        with np.load(path, allow_pickle=False) as archive:
            return {name: _read(archive, name, path) for name in archive}
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RecordedError(f"{path}: a damaged .npz archive: {error}; copy it again") from error


def _read(archive: Mapping[str, NDArray[np.generic]], name: str, path: Path) -> NDArray[np.generic]:
    try:
        return archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise RecordedError(
            f"{path}: {name}: found Python objects, which are not read because they may run code; "
            "save it as numbers, booleans or text (numpy.asarray(..., dtype=str))"
        ) from error


def _sweep(arrays: Arrays, task: str, shots: int) -> Answers:
    model = arrays.path.stem.removeprefix("correct_")
    prompt_ids = tuple(arrays.ids("prompt_ids", 1).tolist())
    example_ids = tuple(arrays.ids("example_ids", 1).tolist())
    for name, ids in (("prompt_ids", prompt_ids), ("example_ids", example_ids)):
        if not ids:
            raise arrays.error(name, "holds no id; give a sweep")
    shown = np.empty((len(prompt_ids), 0), dtype=np.str_)
    if shots:
        shown = arrays.ids("demonstration_ids", 2)
        if shown.shape[1] != shots:
            raise arrays.error(
                "demonstration_ids",
                f"found {shown.shape[1]} demonstrations for each prompt, expected {shots} as the "
                "name says",
            )
    demonstrations = tuple(tuple(row) for row in shown.tolist())
    sweep = read_answers(
        arrays,
        prompt_ids,
        example_ids,
        path=arrays.path,
        claim=f"{task}[{model}-{shots}shot]",
        model=model,
        task=task,
        shots=shots,
        identities=tuple(map(repr, demonstrations)) if shots else prompt_ids,
        demonstration_ids=demonstrations,
        clusters=_clusters(arrays, example_ids),
    )
    refuse_equal_scores(sweep)
    return sweep


def _clusters(arrays: Arrays, examples: Sequence[str]) -> tuple[str, ...] | None:
    if "clusters" not in arrays:
        return None
    found = arrays.ids("clusters", 1)
    arrays.require("clusters", found.shape, (len(examples),))
    clusters = tuple(found.tolist())
    if "" in clusters:
        raise arrays.error(
            "clusters",
            f"found none for example {examples[clusters.index('')]!r}; give one that stands alone "
            "a name of its own",
        )
    return clusters

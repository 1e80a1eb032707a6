"""Prompts that were not scored on the examples of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind
from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers


_CANDIDATES = 200
"""Sets of examples that are tried: where most prompts agree, one of them is among so many."""
_SCORED = "{who} {told:was/were} scored on %s examples than {others}"
_ON = " ({prompt!r}{is_best:, the best,/} on {size:,}, not {usual:,})"


def _check(judged: JudgedAnswers) -> Found:
    """Find prompts that were not scored on the examples of the others.

    A prompt may lack its own demonstrations, and no more: of the commonest examples, and they of
    its own.
    """
    tried = judged.answers
    if (tried.evaluated == tried.evaluated[0]).all():  # as in most sweeps
        return
    common = _commonest(tried)
    lacks = (common & ~tried.evaluated).sum(axis=1)
    more = (tried.evaluated & ~common).sum(axis=1)
    alike = int(((lacks <= tried.shots) & (more <= tried.shots)).sum())
    lacking, having = lacks > tried.shots, more > tried.shots
    best = judged.result.best if judged.result else -1
    for case, where in (
        ("other", lacking & having),
        ("fewer", lacking & ~having),
        ("more", ~lacking & having),
    ):
        rows = np.flatnonzero(where)
        if not len(rows):
            continue
        one = best if best in rows else int(rows[0])
        size = int(tried.sizes[one])
        parameters = {
            "case": case,
            "told": len(rows),
            "prompts": len(tried.prompts),
            "agreeing": alike,
            "prompt": tried.prompts[one],
            "is_best": one == best,
            "size": size,
            "shared": size - int(more[one]),
            "usual": int(common.sum()),
        }
        yield Flag("other_examples", parameters)


def _commonest(tried: Answers) -> NDArray[np.bool_]:
    """Return the examples with which those of most prompts agree, shape (n,)."""
    sets, first, times = np.unique(tried.evaluated, axis=0, return_index=True, return_counts=True)
    # Products of zeros and ones are exact, and fast as floating-point numbers only.
    numbers = sets.astype(np.float32)
    sizes = numbers.sum(axis=1)
    best, agreeing = 0, -1
    for place in np.lexsort((first, -times))[:_CANDIDATES]:
        shared = numbers @ numbers[place]
        differ = np.maximum(sizes - shared, sizes[place] - shared)
        if (here := int(times[differ <= tried.shots].sum())) > agreeing:
            best, agreeing = place, here
        if agreeing == len(tried.prompts):
            break
    common: NDArray[np.bool_] = sets[best]
    return common


def _others(of: Parameters) -> str:
    if 2 * of["agreeing"] > of["prompts"]:
        return "most"
    prompts = f"{count(of['agreeing'])} prompt{'s' if of['agreeing'] > 1 else ''}"
    return f"the largest group that agrees ({prompts})"


RED_FLAG = RedFlagKind(
    kind="other_examples",
    rank=70,
    topic="prompts",
    default="fail",
    description="Prompts that were scored on different examples from most prompts, or on too few.",
    sentences={
        "other": f"{_SCORED % 'other'}: {{prompt!r}}{{is_best:, the best,/}} shares {{shared:,}} "
        "of its {size:,}.",
        "fewer": f"{_SCORED % 'fewer'}{_ON}, which their demonstrations do not explain: check "
        "whether runs were interrupted.",
        "more": f"{_SCORED % 'more'}{_ON}, which the others' demonstrations do not explain: check "
        "whether runs were interrupted.",
    },
    brief="prompts were scored on different examples",
    remedy="score all prompts on the same examples",
    check=_check,
    of_scores=True,
    parts={"others": _others},
)

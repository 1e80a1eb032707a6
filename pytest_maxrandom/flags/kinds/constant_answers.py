"""Prompts that give nearly every example one label, where others are right as well."""

from __future__ import annotations

import math

import numpy as np

from pytest_maxrandom.flags.counting import UNLIKELY, best_constant, name_of, of_several
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, Parameters, RedFlagKind
from pytest_maxrandom.notation import percent
from pytest_maxrandom.stats.gold import times_given

_NEARLY = 0.95
"""Share of the answers from which on one label is given to nearly every example."""
_OTHERWISE = 5
"""Examples with another right answer that such a prompt must have seen."""


def _check(judged: JudgedAnswers) -> Found:
    tried, result = judged.answers, judged.result
    if tried.answers is None or tried.gold is None:
        return
    usual: dict[int, tuple[int, float]] = {}
    for place, (answers, scored) in enumerate(zip(tried.answers, tried.evaluated, strict=True)):
        values, times = times_given(answers[scored])
        label, share = int(values[times.argmax()]), float(times.max() / scored.sum())
        if share < _NEARLY:
            continue
        otherwise = scored & np.array([label not in right for right in tried.gold])
        # One who knows would have said something else there.
        if otherwise.sum() >= _OTHERWISE and (answers[otherwise] == label).mean() >= _NEARLY:
            usual[place] = label, share
    best = result.best if result else None
    if not usual or (best not in usual and 2 * len(usual) <= len(tried.prompts)):
        return
    chance = float(judged.chance)
    singles = [_by_accident(usual[at][1], chance, int(tried.sizes[at])) for at in usual]
    if of_several(singles, len(tried.prompts)).log_p > math.log(UNLIKELY):
        return
    shown = best if best in usual else next(iter(usual))
    assert shown is not None
    label, share = usual[shown]
    # Without a result that passes nobody is misled; nor where the best prompt is above every
    # constant answer, if shuffled right answers tell that this is no accident.
    misleads = judged.passing is not None
    if result is not None and result.permutation_p is not None:
        constant = best_constant(judged, tried.gold)
        misleads &= result.reached <= constant.correct / constant.n
    parameters = {
        "told": len(usual),
        "prompts": len(tried.prompts),
        "prompt": None if shown == best else tried.prompts[shown],
        "label": name_of(judged, label),
        "place": label + 1,
        "share": share,
    }
    yield Flag("constant_answers", parameters, mild=not misleads)


def _by_accident(share: float, chance: float, n: int) -> float:
    """Bound the probability that a guesser gives one label to so many of n examples (Chernoff)."""
    if share <= chance:
        return 1.0
    divergence = share * math.log(share / chance)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - chance))
    return min(1.0, math.exp(-n * divergence) / chance)


def _label_and_share(of: Parameters) -> str:
    label = "one choice" if of["label"] is None else f'"{of["label"]}"'
    return f"always says {label}" if of["share"] == 1 else f"says {label} to {percent(of['share'])}"


RED_FLAG = RedFlagKind(
    kind="constant_answers",
    rank=170,
    topic="knowledge",
    default="fail",
    description="Prompts that give nearly every example the same label.",
    sentences="{who} {told:gives/give} nearly every example the same answer, though others are "
    "also right ({which_prompt} says {which_label} to {share:percent}): check whether the model "
    "reads the questions.",
    brief="nearly every example gets the same answer",
    brief_of="{says}",
    remedy="look whether the model reads the question",
    check=_check,
    parts={
        "says": _label_and_share,
        "which_label": lambda of: (
            f"choice {of['place']}" if of["label"] is None else repr(of["label"])
        ),
        "which_prompt": lambda of: (
            "the best prompt" if of["prompt"] is None else repr(of["prompt"])
        ),
    },
    reads_labels=True,
)

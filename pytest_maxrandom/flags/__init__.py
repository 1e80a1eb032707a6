"""Red flags: what makes a result look better than it is.

==============  ======================================================================
``flag``        what a check finds, and how likely guessers do the same
``flag_input``  what a sweep shows, all that red flags are found in
``prompts``     which prompts were tried, on which examples, and whether one could pass
``choices``     how many choices there are
``texts``       texts that were cut, or that several examples share
``constant``    scores that are the same for many examples, and show no knowledge
``scores``      scores that are tied, or of texts that no model would write; no right answer,
                or none that can be read
``models``      two models that are one
``unearned``    a claim that passes, and what passes as well without knowledge
``compare``     the best prompt compared with heuristics, and with itself without the questions
==============  ======================================================================

A check says what it finds by kind and parameters; :mod:`pytest_maxrandom.reports` words that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.flags import choices, constant, models, prompts, scores, texts, unearned
from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.flag_input import FlagInput, JudgedResult
from pytest_maxrandom.flags.unearned import majority

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Flag", "FlagInput", "JudgedResult", "find", "majority", "preferences"]


def find(seen: FlagInput) -> list[Flag]:
    """Return what a reader must be warned of: what makes the numbers wrong first."""
    if not seen.prompts:  # of published maxima there are no answers
        return [*prompts.unpassable(seen)]
    tried = seen.distinct()
    checks: tuple[Iterable[Flag], ...] = (
        choices.contradicted(tried),
        choices.complementary(tried),
        prompts.colliding_ids(tried),
        prompts.repeated_examples(tried),
        texts.clustered(tried),
        prompts.other_examples(tried),
        prompts.unsteady(seen),
        texts.cut(tried),
        texts.full(tried),
        constant.constant(tried),
        scores.tied(tried),
        scores.never_right(tried),
        scores.unread(tried),
        models.identical(tried),
        unearned.near_identical(tried),
        scores.label_mass(tried),
        unearned.constant_answers(tried),
        unearned.best_is_majority(tried),
        unearned.not_confirmed(tried),
        unearned.best_is_shortcut(tried),
        prompts.repeated(seen, tried),
        prompts.unpassable(seen),
    )
    return [flag for check in checks for flag in check]


def preferences(seen: FlagInput) -> list[Flag]:
    """Return what depends on which answers have the same label."""
    tried = seen.distinct()
    return [*unearned.constant_answers(tried), *unearned.best_is_majority(tried)]

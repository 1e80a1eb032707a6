"""Red flags: what makes a result look better than it is.

=============  =====================================================================
``flag``       what a check finds
``severity``   what it does to a claim
``seen``       what a sweep shows, all that red flags are found in
``prompts``    which prompts were tried, on which examples
``choices``    how many choices there are
``constant``   scores that are the same for many examples
``knowledge``  whether such scores show knowledge all the same
``scores``     scores that are tied, or of texts that no model would write; no right answer
``texts``      texts that were cut
``shared``     long texts, and choices, that several examples share
``labels``     answers that are always the same label
``models``     two models that are one
``shortcuts``  a best prompt that is no better than heuristics, or without the questions
``alike``      prompts that all answer alike, where no labels are known
``claims``     what the verdict alone does not tell
``accident``   how likely guessers do what several prompts do
=============  =====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.flags import (
    alike,
    choices,
    claims,
    constant,
    labels,
    models,
    prompts,
    scores,
    shared,
    shortcuts,
    texts,
)
from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.flags.labels import majority
from pytest_maxrandom.flags.seen import Outcome, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Flag", "Outcome", "Seen", "find", "majority", "preferences"]


def find(seen: Seen) -> list[Flag]:
    """Return what a reader must be warned of: what makes the numbers wrong first."""
    # Of published maxima there are no answers.
    checks = [*_of_answers(seen)] if seen.prompts else []
    return [flag for check in (*checks, claims.unpassable(seen)) for flag in check]


def preferences(seen: Seen) -> list[Flag]:
    """Return what depends on which answers have the same label."""
    return [flag for check in _preferences(seen.distinct()) for flag in check]


def _preferences(tried: Seen) -> Iterable[Iterable[Flag]]:
    return labels.constant_answers(tried), labels.best_is_majority(tried)


def _of_answers(read: Seen) -> Iterable[Iterable[Flag]]:
    tried = read.distinct()
    return (
        choices.contradicted(tried),
        choices.complementary(tried),
        prompts.colliding_ids(tried),
        prompts.repeated_examples(tried),
        shared.clustered(tried),
        prompts.other_examples(tried),
        prompts.unsteady(read),
        texts.cut(tried),
        texts.full(tried),
        constant.constant(tried),
        scores.tied(tried),
        scores.never_right(tried),
        models.identical(tried),
        alike.near_identical(tried),
        scores.label_mass(tried),
        *_preferences(tried),
        claims.not_confirmed(tried),
        shortcuts.best_is_heuristic(tried),
        shortcuts.best_is_choices_only(tried),
        prompts.repeated(read, tried),
    )

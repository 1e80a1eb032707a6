"""Prompts of what a program proposes: an instruction, demonstrations and a format."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from pytest_maxrandom.claims.plan import asked_by
from pytest_maxrandom.errors import SearchError, did_you_mean
from pytest_maxrandom.suite.base import FormatSpec
from pytest_maxrandom.sweeps.prompts.formats import Prompt
from pytest_maxrandom.sweeps.prompts.sampling import demonstration_pool, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.tasks.task import Example

FormatName = Literal["text", "letter", "parenthesized", "number"]

_SHORTEST = 20
"""Characters from which on a question that stands in an instruction is no accident."""


class Proposals:
    """Makes the prompts of one claim.

    Parameters
    ----------
    planned : PlannedClaim
        The claim.
    seen : bool
        Whether whoever proposes may see the validation examples.

    Attributes
    ----------
    pool : dict of str to Example
        What demonstrations may be, by id.

    Raises
    ------
    SearchError
        If demonstrations would show validation examples to who may not see them.
    """

    def __init__(self, planned: PlannedClaim, *, seen: bool) -> None:
        self._planned, self._seen = planned, seen
        condition = planned.condition
        self._validation = condition.prompt_set.validation
        examples = demonstration_pool(
            condition.task, self._validation, planned.suite.prompts, condition.shots
        )
        self.pool = {example.id: example for example in examples}
        shared = self.pool.keys() & {example.id for example in self._validation}
        if shared and not seen:
            raise SearchError(
                f"{condition.task.name} has its demonstrations from the validation set, whose "
                "right answers they would show; give it a pool (`pool:`) or a smaller `validation: "
                "{max_examples}`, so that they come from elsewhere, or search with "
                "feedback='answers'"
            )

    def prompt(
        self,
        instruction: str | None,
        demonstrations: Sequence[str] | None,
        form: Mapping[str, str] | str | None,
    ) -> Prompt:
        """Return the prompt that is proposed.

        Raises
        ------
        SearchError
            If none can be made of that, or it shows a validation example.
        """
        planned = self._planned
        if instruction is not None:
            self._check(instruction)
        wanted = written(planned.condition.task, instruction, _spec(form))
        prompt = Prompt(self._shown(demonstrations), wanted)
        prompts = dataclasses.replace(planned.condition.prompt_set, prompts=(prompt,))
        return asked_by(planned.suite, prompts).prompts[0]

    def _shown(self, ids: Sequence[str] | None) -> tuple[Example, ...]:
        if isinstance(ids, str):
            raise SearchError(f"demonstrations: found the text {ids!r}, expected a list of ids")
        given, shots = list(ids or ()), self._planned.condition.shots
        if len(given) != shots:
            raise SearchError(
                f"demonstrations: found {len(given)}, expected {shots}, which is how many shots "
                "the claim is about"
            )
        for place, one in enumerate(given):
            if one in given[:place]:
                raise SearchError(f"demonstrations: found {one!r} twice, expected different ids")
            if one not in self.pool:
                near = did_you_mean(str(one), self.pool)
                raise SearchError(
                    f"demonstrations: found {one!r}, expected ids of `demonstrations`, of which "
                    f"there are {len(self.pool)}{near}"
                )
        return tuple(self.pool[one] for one in given)

    def _check(self, instruction: str) -> None:
        """Refuse an instruction that shows a validation example, unless these may be seen."""
        if not isinstance(instruction, str):
            raise SearchError(f"instruction: found {instruction!r}, expected a text")
        said = _plain(instruction)
        for example in () if self._seen else self._validation:
            question = _plain(example.input)
            if len(question) >= _SHORTEST and question in said:
                raise SearchError(
                    f"instruction: it repeats the question of validation example {example.id!r}, "
                    "so whoever proposed it has seen the examples; begin the search with "
                    "feedback='answers', which a test set can judge"
                )


def _plain(text: str) -> str:
    """Return the letters and digits of a text, in small letters."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _spec(given: Mapping[str, str] | str | None) -> FormatSpec | None:
    if given is None:
        return None
    keys = {"labels": given} if isinstance(given, str) else dict(given)
    try:
        return FormatSpec.model_validate(keys)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SearchError(
            f"format: {where}: {first['msg']}; expected keys of a suite's `formats`"
        ) from None

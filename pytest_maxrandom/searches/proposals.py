"""Prompts of what a program proposes: an instruction, demonstrations and a format."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.plan import asked_by
from pytest_maxrandom.errors import SearchError, did_you_mean
from pytest_maxrandom.suite.parts import format_of_keys
from pytest_maxrandom.sweeps.prompts.formats import Prompt
from pytest_maxrandom.sweeps.prompts.sampling import demonstration_pool, written
from pytest_maxrandom.tasks.task import Example

if TYPE_CHECKING:
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.suite.base import FormatSpec

_SHORTEST = 20
"""Characters from which on a question that stands in an instruction is no accident."""


class Proposals:
    """Makes the prompts of one claim; `seen` says whether proposers may see validation examples.

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
        """What demonstrations may be, by id."""
        self._made_of: dict[str, str] = {}
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
        instruction: str | None = None,
        demonstrations: Sequence[str] | None = None,
        format: Mapping[str, Any] | str | None = None,  # noqa: A002 as in suites
    ) -> Prompt:
        """Return the prompt that is proposed.

        Raises
        ------
        SearchError
            If none can be made of that, or it shows a validation example.
        """
        planned = self._planned
        self._check("instruction", instruction)
        keys = _keys(format)
        for key, text in keys.items():
            self._check(f"format: {key}", text if isinstance(text, str) else None)
        wanted = written(planned.condition.task, instruction, _spec(keys))
        apart = (instruction or "")[-1:] + wanted.layout.input_prefix[:1]
        if instruction and not any(letter.isspace() for letter in apart):
            # Else what follows would go on in the same line, as part of the last sentence.
            wanted = written(planned.condition.task, f"{instruction}\n", _spec(keys))
        prompt = Prompt(self._shown(demonstrations), wanted)
        prompts = dataclasses.replace(planned.condition.prompt_set, prompts=(prompt,))
        found = asked_by(planned.suite, planned.condition.task, prompts).prompts[0]
        given = {"instruction": instruction, "demonstrations": [*(demonstrations or ())]}
        self._made_of[found.digest] = json.dumps({**given, "format": keys or None})
        return found

    def sample(self) -> str:
        """Return a prompt as a model reads it: the first demonstrations, and one more question.

        The instruction is the task's own. Where there are no examples but those that prompts are
        judged by, the question is made up.
        """
        shots = self._planned.condition.shots
        examples = list(self.pool.values()) or [self._made_up()]
        shown = self.prompt(demonstrations=[each.id for each in examples[:shots]])
        return shown.context(examples[min(shots, len(examples) - 1)])

    def _made_up(self) -> Example:
        """Return an example that has the choices which all questions share, and else nothing."""
        first, *others = self._validation
        choices = first.choices
        if any(each.choices != choices for each in others):
            choices = tuple(f"(choice {place + 1})" for place in range(len(choices)))
        return Example("made up", "(a question)", choices, (0,))

    def made_of(self, prompt: Prompt) -> str | None:
        """Return of what a prompt is made, as text; None where nobody proposed it here."""
        return self._made_of.get(prompt.digest)

    def again(self, made_of: str, digest: str) -> Prompt | None:
        """Return a prompt that was proposed before; None where the task does not make it now."""
        try:
            found = self.prompt(**json.loads(made_of))
        except (SearchError, TypeError, ValueError):
            return None
        return found if found.digest == digest else None

    def _shown(self, ids: Sequence[str] | None) -> tuple[Example, ...]:
        if isinstance(ids, str):
            raise SearchError(f"demonstrations: found the text {ids!r}, expected a list of ids")
        if not isinstance(ids, list | tuple | None):
            raise SearchError(f"demonstrations: found {ids!r}, expected a list of ids")
        given, shots = list(ids or ()), self._planned.condition.shots
        if len(given) != shots:
            raise SearchError(
                f"demonstrations: found {len(given)}, expected {shots}, which is how many shots "
                "the claim is about"
            )
        for place, one in enumerate(given):
            if one in given[:place]:
                raise SearchError(f"demonstrations: found {one!r} twice, expected different ids")
            if not isinstance(one, str) or one not in self.pool:
                near = did_you_mean(str(one), self.pool)
                raise SearchError(
                    f"demonstrations: found {one!r}, expected ids of `demonstrations`, of which "
                    f"there are {len(self.pool)}{near}"
                )
        return tuple(self.pool[one] for one in given)

    def _check(self, what: str, text: str | None) -> None:
        """Refuse a text that shows a validation example, unless these may be seen."""
        if text is None:
            return
        if not isinstance(text, str):
            raise SearchError(f"{what}: found {text!r}, expected a text")
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise SearchError(f"{what}: found {text!r}, expected a text without NUL and surrogates")
        said = _plain(text)
        for example in () if self._seen else self._validation:
            question = _plain(example.input)
            if len(question) >= _SHORTEST and question in said:
                raise SearchError(
                    f"{what}: it repeats the question of validation example {example.id!r}, "
                    "so whoever proposed it has seen the examples; begin the search with "
                    "feedback='answers', which a test set can judge"
                )


def _plain(text: str) -> str:
    """Return the letters and digits of a text, in small letters."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _keys(given: Mapping[str, Any] | str | None) -> dict[str, Any]:
    if isinstance(given, str):
        return {"labels": given}
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    raise SearchError(
        f"format: found {given!r}, expected keys of a suite's `formats`, or the kind of its labels"
    )


def _spec(keys: dict[str, Any]) -> FormatSpec | None:
    if not keys:
        return None
    try:
        return format_of_keys(keys)
    except ValueError as error:
        raise SearchError(f"format: {'; '.join(error.args)}") from None

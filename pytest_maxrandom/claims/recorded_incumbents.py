"""The incumbent, or the control, of recorded results: one prompt of them, or of other results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.beside import IncumbentAnswers, rank_among
from pytest_maxrandom.claims.incumbents import NoIncumbent
from pytest_maxrandom.claims.samples import unlike
from pytest_maxrandom.errors import did_you_mean, listed
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.suite.recorded import RecordedPromptSpec


def recorded_control(
    spec: RecordedPromptSpec, read: Answers, elsewhere: Sequence[Answers] | None
) -> IncumbentAnswers:
    """Return what a blank or constant answer scored on the examples of a claim.

    Its digest is that of its scores and of who gave them. The arguments are as of
    `recorded_incumbent`.

    Raises
    ------
    NoIncumbent
        In one sentence, where its prompt is not there, scored otherwise, or all that there is.
    """
    found = recorded_incumbent(spec, read, elsewhere)
    if elsewhere is None and len(read.distinct().prompts) == 1:
        raise NoIncumbent(f"{read.path} holds no other prompt than the control", "prompt")
    cells = (f"{name} {score!r}" for name, score in sorted(found.scores.items()))
    return replace(
        found,
        name=f"the control {found.digest!r}",
        digest=digest(found.digest, read.judge or "", *cells),
        chosen_here=None,
        rank=1,
    )


def without_control(spec: RecordedPromptSpec | None, read: Answers) -> Answers:
    """Return answers without those of the control, which is no candidate."""
    if spec is None or spec.results is not None:
        return read
    rows = [row for row, prompt in enumerate(read.prompts) if prompt != spec.prompt]
    return read.of_prompts(rows) if rows else read


def recorded_incumbent(
    spec: RecordedPromptSpec, read: Answers, elsewhere: Sequence[Answers] | None
) -> IncumbentAnswers:
    """Return what the incumbent answered to the examples of a claim about recorded results.

    Parameters
    ----------
    read : Answers
        Those of the claim.
    elsewhere : sequence of Answers, optional
        The results of the incumbent on the same task; None where it is among those of the claim.

    Raises
    ------
    NoIncumbent
        In one sentence, where its prompt is not there, or it did not answer what candidates did.
    """
    if not read.prompts:
        raise NoIncumbent(
            f"of {read.path} only the best prompt's accuracy is known, which cannot be compared "
            "with the incumbent's answers; give the answers of each prompt"
        )
    holder = _results(read, elsewhere)
    if why := unlike(read.aggregate, 1 if holder.aggregate is None else holder.aggregate.samples):
        raise NoIncumbent(f"{holder.path}: {why}; give as many samples of each", "results")
    if holder.judge != read.judge:
        raise NoIncumbent(
            f"it was scored by {_judge(holder)} and the prompts of {read.path} by {_judge(read)}, "
            "and judges differ in what flatters them; score both by the same judge, and name it in "
            "both or in neither",
            "results",
        )
    if len({holder.rule, read.rule} - {None}) > 1:
        raise NoIncumbent(
            f"another rule says which answers in {holder.path} are right than says it of those in "
            f"{read.path} (`exact_match`, `tolerance`, a metric or a scorer); give both the same "
            "one",
            "results",
        )
    row = _row(spec, holder)
    scores = {
        name: float(value)
        for name, value in zip(holder.examples, holder.values[row], strict=True)
        if not np.isnan(value)
    }
    _check_examples(read, holder, row)
    # Candidates may have the same answers, though these lie in a file of their own.
    ranks = [rank_among(scores, each.distinct()) for each in (holder, read)]
    chosen_here, rank = max(ranks, key=lambda one: (one[1], one[0] or 0))
    return IncumbentAnswers(
        settings=spec,
        name=f"the prompt {holder.prompts[row]!r}",
        digest=holder.prompts[row],
        model=holder.model or read.model,
        scores=scores,
        chosen_here=chosen_here,
        rank=rank,
        stored=True,
    )


def _judge(answers: Answers) -> str:
    return "nobody who is named" if answers.judge is None else repr(answers.judge)


def _results(read: Answers, elsewhere: Sequence[Answers] | None) -> Answers:
    """Return the results that have the incumbent: with as many shots, where there are several."""
    if elsewhere is None:
        return read
    of_shots = [each for each in elsewhere if each.shots == read.shots]
    candidates = of_shots if len(elsewhere) > 1 else [*elsewhere]
    if not candidates or not candidates[0].prompts:
        raise NoIncumbent(
            f"{elsewhere[0].path if elsewhere else 'the file'} holds no answers of prompts to "
            f"{read.task!r} with {read.shots} shots, nor of one number of shots alone; give a "
            "file that does",
            "results",
        )
    return candidates[0]


def _row(spec: RecordedPromptSpec, holder: Answers) -> int:
    names = holder.prompts
    if spec.prompt is None:
        if len(holder.distinct().prompts) > 1:
            raise NoIncumbent(
                f"{holder.path} holds {len(names)} prompts; say which of them runs today with "
                "`prompt`",
                "results",
            )
        return 0
    if spec.prompt not in names:
        hint = did_you_mean(spec.prompt, names) or f"; found {listed(dict.fromkeys(names), 8)}"
        raise NoIncumbent(f"{holder.path} has no prompt {spec.prompt!r}{hint}", "prompt")
    return names.index(spec.prompt)


def _check_examples(read: Answers, holder: Answers, row: int) -> None:
    """Refuse answers to other examples, or to examples with other texts or right answers."""
    answered = {
        name for name, there in zip(holder.examples, holder.evaluated[row], strict=True) if there
    }
    lacking = [name for name in read.examples if name not in answered]
    if len(lacking) > max(holder.shots, read.shots):
        raise NoIncumbent(
            f"the incumbent in {holder.path} has no answer to {len(lacking)} of the "
            f"{len(read.examples)} examples of {read.task or read.path} (first: {lacking[0]!r}); "
            "score it on the same examples",
            "prompt" if holder is read else "results",
        )
    if holder is read:
        return
    texts = dict(zip(holder.examples, holder.inputs or (), strict=False))
    for name, text in zip(read.examples, read.inputs or (), strict=False):
        if texts.get(name, text) != text:
            raise NoIncumbent(
                f"example {name!r} has another text in {holder.path}; score the incumbent on the "
                "same examples",
                "results",
            )
    rights = _right_answers(holder)
    for name, right in _right_answers(read).items():
        if rights.get(name, right) != right:
            raise NoIncumbent(
                f"example {name!r} has other right answers in {holder.path}; score the incumbent "
                "by the same ones",
                "results",
            )


def _right_answers(answers: Answers) -> dict[str, set[str]]:
    """Return the right answers by the ids of examples, as far as their texts are known."""
    if answers.gold is None or not answers.labels:
        return {}
    names = answers.labels
    return {
        name: {names[label] for label in right}
        for name, right in zip(answers.examples, answers.gold, strict=True)
    }

"""What the page shows of a claim's answers: which are right, and the best prompt's in full.

All of it is plain builtin types, because it travels from the process that computed the answers to
the one that writes the page, and from there into JSON. Whose texts are among it is decided here,
too: an artifact of CI is read by more people, and kept by more programs, than a file of one's own.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.record import ClaimRecord, RunRecord
    from pytest_maxrandom.recorded.prediction_lines import AnswerLine, PromptLine
    from pytest_maxrandom.sweeps.predictions import PromptPredictions

Texts: TypeAlias = Literal["all", "shared"]
"""The texts of all suites, or of those that say ``share: texts``."""
_NO = ("", "0", "false")
_DIGITS = 4
"""Of log-likelihoods; a page is read, and not computed with."""
_PER_TOKEN = ("mean_logprob", "paper")


class ShownSample(TypedDict):
    """One of several answers of the best prompt to one example."""

    score: float
    """From 0 to 1; 1 where it is right."""
    said: NotRequired[str]
    """What was generated, or chosen, where that is known and texts may be shown."""


class BestAnswer(TypedDict):
    """The best prompt's answer to one example, the first of several samples."""

    column: int
    """Place of the example among all."""
    chosen: int | None
    """Index of the choice, or of the label where these have names; None where none was read."""
    right: list[int]
    """Indices of the right ones."""
    choices: int
    scores: list[float | None]
    """Of each choice; None stands for minus infinity. Empty where none are at hand."""
    said: NotRequired[str]
    """What was generated, where texts may be shown."""
    finish: NotRequired[str]
    samples: NotRequired[list[ShownSample]]
    """All of several samples, the first among them."""


class ShownText(TypedDict):
    """The text of one example."""

    input: str
    choices: list[str]


class Cells(TypedDict):
    """How the page writes `Answers` as JSON."""

    prompts: list[str]
    """Names, or the beginnings of digests; of several samples of each answer each has its row."""
    examples: list[str]
    """Ids."""
    demonstrations: list[list[str]]
    """Ids of each prompt's demonstrations; empty where they are not known."""
    rows: list[str]
    """Per prompt a character for each example: 1 right, 0 wrong, - not asked; of scores, whether
    they are 1."""
    grades: NotRequired[list[list[float | None]]]
    """The same as scores from 0 to 1, where some are between; None where not asked."""
    best: int
    """Row of the best prompt."""
    answers: list[BestAnswer]
    """The best prompt's, in the order in which they were asked."""
    unit: str
    """What scores are."""
    labels: list[str]
    """What answers are called, where they have the same names in all examples; else empty."""
    texts: NotRequired[list[ShownText]]
    """Of each of `answers`; left out where they may not be shown, or are not at hand."""
    solved: NotRequired[list[str]]
    """The best prompt's demonstrations, as it shows them; with `texts` only."""


def allowed_texts(texts: Literal["auto"] | Texts, environ: Mapping[str, str]) -> Texts:
    """Return whose texts reports and the page may hold, where the user leaves that to the place.

    Every CI that is widely used sets the variable ``CI``.
    """
    if texts != "auto":
        return texts
    return "all" if environ.get("CI", "").lower() in _NO else "shared"


def may_show(claim: ClaimRecord, texts: Texts) -> bool:
    """Tell whether reports and the page may hold the texts of a claim."""
    return texts == "all" or claim.share == "texts"


def shareable(run: RunRecord, texts: Texts) -> RunRecord:
    """Return a run without the best prompts of claims whose texts may not be shown."""
    claims = [
        claim
        if (best := claim.best_prompt) is None or may_show(claim, texts)
        else replace(claim, best_prompt=replace(best, text=None, question=None, answers=None))
        for claim in run.claims
    ]
    return replace(run, claims=claims)


def of_lines(lines: Iterable[PromptLine], best: str | None = None) -> Cells | None:
    """Return what a predictions file says of one claim; None if it says nothing.

    `best` is the digest of the best prompt; if not given, it is that with the highest accuracy, the
    first of several.
    """
    import numpy as np  # pytest reads this module's options without it

    from pytest_maxrandom.answers import Answers

    columns: dict[str, int] = {}
    prompts, demonstrations, rows = [], [], list[dict[int, float]]()
    first: PromptLine | None = None
    samples: list[PromptLine] = []
    highest, place = -1.0, 0
    for line in lines:
        row = {columns.setdefault(each.id, len(columns)): each.credit for each in line.examples}
        accuracy = sum(row.values()) / len(row)
        wanted = line.prompt == best if best else accuracy > highest
        if first is not None and first.prompt == line.prompt:
            samples.append(line)  # the first of them stands for it
        elif first is None or wanted:
            first, samples, highest, place = line, [line], accuracy, len(rows)
        prompts.append(_of_sample(line.prompt[:12], line.sample))
        demonstrations.append(tuple(line.demonstration_ids))
        rows.append(row)
    if first is None:
        return None
    values = np.array([[row.get(column, np.nan) for column in range(len(columns))] for row in rows])
    graded = first.examples[0].score is not None
    results = Answers(
        model=first.model,
        shots=first.shots,
        prompts=tuple(prompts),
        identities=tuple(prompts),
        examples=tuple(columns),
        demonstration_ids=tuple(demonstrations),
        correct=values == 1,
        evaluated=~np.isnan(values),
        scores=values if graded else None,
    )
    per_token = first.scoring in _PER_TOKEN
    unit = "log-likelihood per token" if per_token else "log-likelihood"
    shown = [_answer(each, columns[each.id], per_token) for each in first.examples]
    if len(samples) > 1:
        for at, answer in enumerate(shown):
            own = [each.examples[at] for each in samples]
            answer["samples"] = [_sample(each.credit, each.text) for each in own]
    return _cells(results, place, shown, "" if first.examples[0].text is not None else unit)


def of_answers(results: Answers, *, texts: bool) -> Cells | None:
    """Return recorded answers; None of a published maximum, of which there is no cell."""
    if not results.prompts:
        return None
    best, asked = results.best, results.evaluated[results.best].nonzero()[0].tolist()
    k = 1
    if results.sampled is not None and results.aggregate is not None:
        k, samples = results.aggregate.samples, results.sampled
        best *= k
        named = (_of_sample(name, row % k) for row, name in enumerate(samples.prompts))
        results = replace(samples, prompts=tuple(named))
    # Labels are numbered as they are named; scores stand in the order of the choices.
    scored = results.log_likelihoods is not None and not results.labels
    answers = []
    for column in asked:
        chosen = None if results.answers is None else int(results.answers[best, column])
        right = sorted(results.gold[column]) if results.gold is not None else []
        scores = results.log_likelihoods[best, column].tolist() if scored else []  # type: ignore[index]
        known = [value for value in scores if not math.isnan(value)]
        answers.append(
            BestAnswer(
                column=column,
                chosen=chosen,
                right=right,
                choices=len(results.labels or known),
                scores=[_rounded(value) for value in known],
            )
        )
        if k > 1:
            answers[-1]["samples"] = [
                _sample(value, _named(results, row, column) if texts else None)
                for row, value in enumerate(results.values[best : best + k, column].tolist(), best)
            ]
    made = _cells(results, best, answers, "log-likelihood")
    if results.is_graded:
        made["labels"] = []
        for answer in answers:
            if texts and answer["chosen"] is not None and results.labels:
                answer["said"] = results.labels[answer["chosen"]]
            answer["chosen"], answer["choices"] = None, 0
    if texts and results.inputs is not None:
        made["texts"] = [ShownText(input=results.inputs[each], choices=[]) for each in asked]
    return made


def _cells(results: Answers, best: int, answers: list[BestAnswer], unit: str) -> Cells:
    demonstrations = results.demonstration_ids or ((),) * len(results.prompts)
    cells = zip(results.correct.tolist(), results.evaluated.tolist(), strict=True)
    made = Cells(
        prompts=list(results.prompts),
        examples=list(results.examples),
        demonstrations=[list(shown) for shown in demonstrations],
        rows=[
            "".join("01"[right] if asked else "-" for right, asked in zip(*row, strict=True))
            for row in cells
        ],
        best=best,
        answers=answers,
        unit=unit,
        labels=list(results.labels),
    )
    if results.is_graded:
        made["grades"] = [[_rounded(value) for value in row] for row in results.values.tolist()]
    return made


def without_texts(cells: Cells) -> Cells:
    """Take out of cells what was asked, and what a model wrote, which may repeat it."""
    cells.pop("texts", None)
    cells.pop("solved", None)
    for answer in cells["answers"]:
        for each in [answer, *answer.get("samples", [])]:
            each.pop("said", None)
    return cells


def of_sweep(
    record: ClaimRecord, predictions: Sequence[PromptPredictions], *, texts: bool
) -> Cells | None:
    """Return the answers of a sweep; None if it has none."""
    from pytest_maxrandom.reports.predictions import prompt_lines
    from pytest_maxrandom.sweeps.predictions import samples_of

    digest = record.best_prompt.digest if record.best_prompt else None
    cells = of_lines(prompt_lines(record, predictions), digest)
    if cells is None or not texts:
        return cells and without_texts(cells)
    best = samples_of(predictions)[cells["best"]]
    return Cells(
        **cells,
        texts=[ShownText(input=each.input, choices=list(each.choices)) for each in best.examples],
        solved=[best.prompt.format.demonstration(each) for each in best.prompt.demonstrations],
    )


def _sample(score: float, said: str | None) -> ShownSample:
    return ShownSample(score=score) if said is None else ShownSample(score=score, said=said)


def _named(results: Answers, row: int, column: int) -> str | None:
    """Return what was answered, where labels are texts."""
    label = -1 if results.answers is None else int(results.answers[row, column])
    return results.labels[label] if 0 <= label < len(results.labels) else None


def _of_sample(name: str, sample: int | None) -> str:
    return name if sample is None else f"{name} #{sample + 1}"


def _answer(line: AnswerLine, column: int, per_token: bool) -> BestAnswer:
    answer = BestAnswer(
        column=column,
        chosen=line.chosen,
        right=line.right,
        choices=line.choices,
        scores=[
            None if value is None else _rounded(value / tokens if per_token else value)
            for value, tokens in zip(line.log_likelihoods, line.tokens, strict=True)
        ],
    )
    if line.text is not None:
        answer["said"], answer["finish"] = line.text, line.finish or "stop"
    return answer


def _rounded(value: float) -> float | None:
    return round(value, _DIGITS) if math.isfinite(value) else None

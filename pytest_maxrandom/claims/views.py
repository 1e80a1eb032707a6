"""From a sweep, or from results that exist, to what their claim is judged by."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from pytest_maxrandom.answers import Answers, Unread
from pytest_maxrandom.claims.assessment import View, assess, ranking
from pytest_maxrandom.claims.balanced import balanced_of_recorded, balanced_of_sweep
from pytest_maxrandom.claims.kept import of_answers
from pytest_maxrandom.claims.open_answers import (
    beside_controls,
    beside_told,
    follows,
    open_answers_of,
)
from pytest_maxrandom.claims.planned import PlannedClaim, generated_by
from pytest_maxrandom.claims.samples import (
    guessers_of_samples,
    scored_by_samples,
    scores_samples,
)
from pytest_maxrandom.claims.scored import assess_scores, flagged
from pytest_maxrandom.claims.shortcuts import beside_shortcuts, blanked
from pytest_maxrandom.claims.shuffles import NoPermutations, Shuffle
from pytest_maxrandom.errors import ModelError, SweepError
from pytest_maxrandom.host.machine import one_thread
from pytest_maxrandom.record import BestPrompt, Generated, Remark
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result
from pytest_maxrandom.stats.chances import choices_of
from pytest_maxrandom.sweeps.executor import Job, jobs_of
from pytest_maxrandom.sweeps.labels import Labels, label
from pytest_maxrandom.sweeps.lettered import texts_untold
from pytest_maxrandom.sweeps.predictions import (
    PromptPredictions,
    of_predictions,
    read_as,
    samples_of,
)
from pytest_maxrandom.sweeps.samples import with_samples
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.task import share_choices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_maxrandom.claims.beside import IncumbentAnswers
    from pytest_maxrandom.claims.recorded_claims import RecordedClaim
    from pytest_maxrandom.flags.kind import Compared
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.sweeps.sweep import Sweep


def answers_of(planned: PlannedClaim, predictions: Sequence[PromptPredictions]) -> Answers:
    """Return the answers of a claim's sweep, by the labels of the reports."""
    if planned.condition.task.is_open:
        return open_answers_of(planned, predictions)
    read = partial(
        of_predictions,
        labels=planned.condition.labels,
        model=planned.model.name,
        shots=planned.condition.shots,
        whole=SCORERS[planned.suite.scoring].whole_answer,
    )
    if planned.aggregate is None:
        return read(predictions)
    return with_samples(read(predictions), read(samples_of(predictions)), planned.aggregate)


def views_of_sweep(
    planned: PlannedClaim, sweep: Sweep, others: Sequence[Answers] = ()
) -> list[View]:
    """Return what a sweep's claim is judged by.

    `others` are the answers of other models to the same prompts and examples.
    """
    if planned.condition.task.is_open:
        return [_view_of_open(planned, sweep)]
    found = planned.condition.shuffled
    first, *further = [labels for labels in found if not labels.things]
    answers = answers_of(planned, sweep.predictions)
    view = view_of(planned, sweep, first, answers, others)
    orders = [_shuffle(planned, sweep, labels) for labels in found if labels.things]
    return [
        replace(view, shuffles=[*view.shuffles, *orders]),
        *(
            view_of(planned, sweep, labels, read_as(answers, sweep.predictions, labels))
            for labels in further
        ),
    ]


def _view_of_open(planned: PlannedClaim, sweep: Sweep) -> View:
    """Return a sweep's answers without choices."""
    answers = answers_of(planned, sweep.predictions)
    shuffles = [] if planned.is_graded else [Shuffle.of_open(answers)]
    return _view(planned, sweep, answers, shuffles)


def view_of(
    planned: PlannedClaim,
    sweep: Sweep,
    labels: Labels,
    answers: Answers,
    others: Sequence[Answers] = (),
) -> View:
    """Return a sweep's answers by one way of reading labels, in which they are given."""
    return replace(
        _view(planned, sweep, answers, [_shuffle(planned, sweep, labels)]),
        comparable=labels.meaningful(planned.condition.prompt_set.prompts),
        others=tuple(others),
        constants=_constants(planned.suite.metric, labels),
    )


def _view(
    planned: PlannedClaim, sweep: Sweep, answers: Answers, shuffles: Sequence[Shuffle]
) -> View:
    return View(
        read=answers,
        t=planned.null.t,
        chance=planned.condition.null.chance,
        full_texts=sweep.full_texts,
        asked=_asked(planned),
        metric=planned.suite.metric,
        shuffles=shuffles,
    )


def _shuffle(planned: PlannedClaim, sweep: Sweep, labels: Labels) -> Shuffle:
    ids = [example.id for example in planned.condition.prompt_set.validation]
    if not scores_samples(planned.aggregate):
        return Shuffle.of(sweep.predictions, labels).in_order(ids)
    shuffle = Shuffle.of(samples_of(sweep.predictions), labels).in_order(ids)
    return shuffle._replace(aggregate=planned.aggregate)


@one_thread()
def result_of_sweep(
    planned: PlannedClaim,
    sweep: Sweep,
    views: Sequence[View],
    *,
    thrifty: bool = False,
    searched: bool = False,
    tree: bool = False,
    incumbent: IncumbentAnswers | None = None,
    control: IncumbentAnswers | None = None,
) -> Result:
    """Return the result of a sweep's claim, with its best prompt and its cost; see `assess`."""
    metric, predictions = planned.suite.metric, sweep.predictions
    null, answers = planned.null, views[0].answers
    if planned.is_graded:
        result = assess_scores(planned.claim, answers, null.t, incumbent, control)
        result = result if thrifty else flagged(result, planned.claim, views[0])
    else:
        if scored_by_samples(answers):
            null = guessers_of_samples(answers, answers.chances, null.t)
        result = assess(
            planned.claim,
            null,
            planned.condition.null.best,
            views,
            metric=metric,
            thrifty=thrifty,
            searched=searched,
            tree=tree,
            incumbent=incumbent,
            control=control,
        )
    generated, notes = _generated(predictions, result.best)
    if planned.is_graded:
        remarks = []
    elif planned.condition.task.is_open:
        remarks = [*follows(planned, predictions, DEFAULT_LEVEL)] if not thrifty else []
    else:
        remarks = [*balanced_of_sweep(planned, views, result)]
        unseen = texts_untold(planned.condition.prompt_set.validation)
        if unseen and result.permutation_p is not None:
            remarks.append(Remark("places_exchanged"))
    return replace(
        result,
        notes=(*result.notes, *notes, *remarks),
        best_prompt=_described(sweep, ranking(views, metric), result.best),
        generated=generated,
        engine=sweep.engine,
        revision=sweep.revision,
    )


def views_of_recorded(claim: RecordedClaim, others: Sequence[Answers] = ()) -> list[View]:
    """Return what a claim about recorded results is judged by.

    Of a published maximum there are no answers.
    """
    evidence = claim.evidence
    assert evidence is not None
    read, null, shuffles = evidence.read, evidence.null, evidence.shuffles
    chance = evidence.chance or (Fraction() if null is None else null.chance)
    choices = None
    if read.chances is not None:
        right = [1] * len(read.chances) if read.gold is None else [*map(len, read.gold)]
        choices = tuple(map(choices_of, right, read.chances))
    known = [] if isinstance(shuffles, NoPermutations) else shuffles
    if claim.metric != "accuracy":  # whose classes come first
        known = sorted(known, key=lambda each: [*each.gold] != [*(evidence.results.gold or ())])
    view = View(
        read=replace(read, model=claim.name_of_model, choices=choices),
        t=evidence.t,
        chance=chance,
        declared_chance=evidence.declared_chance,
        declared_n=evidence.declared_n,
        comparable=bool(read.labels) or len(set(read.offered or ())) == 1,
        asked=len(read.prompts),
        others=tuple(others),
        metric=claim.metric,
        constants=_constants_of_recorded(claim),
        compared=None if read.open is None else beside_told(read.distinct()),
        shuffles=[each.in_order(read.examples) for each in known],
    )
    return [view]


@one_thread()
def result_of_recorded(claim: RecordedClaim, known: Iterable[RecordedClaim] = ()) -> Result:
    """Return the result of a claim about recorded results.

    `known` are the claims of the run, which may be about other models.
    """
    evidence = claim.evidence
    assert evidence is not None
    views = views_of_recorded(claim, claim.other_models(known))
    kept = of_answers(evidence.results)
    packed = None if kept is None else kept.packed()
    beside = claim.incumbent, claim.control
    if evidence.null is None or claim.null is None:
        scored = assess_scores(claim.claim, evidence.results, evidence.t, *beside)
        return replace(flagged(scored, claim.claim, views[0]), answers=packed)
    result = assess(
        claim.claim,
        claim.null,
        evidence.null.best,
        views,
        metric=claim.metric,
        incumbent=claim.incumbent,
        control=claim.control,
    )
    if evidence.untestable is not None and evidence.chance is None:
        why = Remark("no_permutations", {"why": evidence.untestable})
        result = replace(result, notes=(why, *result.notes))
    if evidence.by_places and result.permutation_p is not None:
        result = result.noted(Remark("places_exchanged"))
    result = result.noted(*balanced_of_recorded(claim, result))
    return replace(result, n=evidence.n, answers=packed)


def with_shortcuts(views: Sequence[View], compared: Compared) -> list[View]:
    """Return views with what the best prompt, compared with heuristics, comes to."""
    return [replace(view, compared=compared) for view in views]


def compared_with_shortcuts(
    planned: PlannedClaim, best: PromptPredictions, ask: Callable[[Sequence[Job]], Sweep]
) -> tuple[Compared, list[Remark]]:
    """Compare a sweep's best prompt with heuristics, and with itself when inputs are blank.

    A remark says why blank inputs would tell nothing. `ask` runs jobs that are no try of the claim.

    Raises
    ------
    SweepError
        If it cannot be scored so.
    """
    suite, blank, notes = planned.suite, None, list[Remark]()
    if planned.condition.task.is_open:
        return beside_controls(best, planned.condition.matching), notes
    if "choices_only" in suite.shortcuts:
        if len({example.input for example in best.examples}) == 1:
            notes.append(Remark("no_blank_control"))
        else:
            try:
                asked = [(best.prompt, blanked(best.examples))]
                sweep = ask(jobs_of(asked, suite.scoring, planned.aggregate))
            except ModelError:
                raise
            except SweepError as error:
                raise SweepError(f"shortcuts: choices_only: with blank inputs, {error}") from error
            blank = sweep.predictions[0]
    shared = share_choices(planned.condition.prompt_set.validation)
    by_class = suite.metric != "accuracy"
    return beside_shortcuts(best, blank, shared=shared, by_class=by_class), notes


def _described(sweep: Sweep, ranked: Sequence[float], best: int) -> BestPrompt:
    """Return the best prompt of a sweep, by its row, as reports show it."""
    winner = sweep.predictions[best]
    before, after = sweep.engine.chat or ("", "")
    form, first = winner.prompt.format, winner.examples[0]
    return BestPrompt(
        index=best,
        digest=winner.prompt.digest,
        text=before + winner.prompt.text,
        question=form.question(first) + after,
        answers=list(form.answers(first)),
        demonstration_ids=[example.id for example in winner.prompt.demonstrations],
        tied_with=ranked.count(ranked[best]) - 1,
    )


def _generated(
    predictions: Sequence[PromptPredictions], best: int
) -> tuple[Generated | None, list[Remark]]:
    """Return how many generated answers could not be read, and why, and a note if there are any."""
    heading = generated_by(predictions[0].prompt)
    if heading is None:
        return None, []
    why = Counter(each for prompt in samples_of(predictions) for each in prompt.unread_why)
    unread = why.total() - why[Unread.NOT]
    own = sum(each.unread for each in samples_of([predictions[best]]))
    values = {"answers": unread, "best": own}
    return replace(
        heading,
        answers=why.total(),
        unreadable=why[Unread.UNREADABLE],
        cut=why[Unread.CUT],
        refused=why[Unread.REFUSED],
    ), [Remark("unread_answers", values)] if unread else []


def _constants(metric: Metric, labels: Labels) -> tuple[float, ...]:
    """Score every constant answer as a claim does, whose classes are texts; none of accuracy."""
    if metric == "accuracy":
        return ()
    texts = label(labels.examples)
    classes = texts.classes()
    assert classes is not None
    constants = [
        [
            of_texts[codes.index(said)]
            for codes, of_texts in zip(labels.codes, texts.codes, strict=True)
        ]
        for said in range(labels.choices[0])
    ]
    return tuple(METRICS[metric].score(row, classes) for row in constants)


def _constants_of_recorded(claim: RecordedClaim) -> tuple[float, ...]:
    """Score every constant answer, by the labels of the results; none of accuracy."""
    assert claim.evidence is not None
    results = claim.evidence.results
    if claim.metric == "accuracy" or results.gold is None:
        return ()
    classes = [label for right in results.gold for label in right]
    score = METRICS[claim.metric].score
    return tuple(score([said] * len(classes), classes) for said in range(len(results.labels)))


def _asked(planned: PlannedClaim) -> int | None:
    """Return how many prompts were asked for; None where those without demonstrations are listed.

    Nobody asked for more of them who left the number out, nor where there is one alone.
    """
    prompts, found = planned.suite.prompts, planned.condition.prompt_set
    unsaid = "count" not in prompts.model_fields_set
    if found.possible == 1 or (unsaid and planned.condition.shots == 0):
        return None
    if prompts.combine == "cross":
        variants = found.possible // math.perm(found.pool, planned.condition.shots)
        return prompts.count - prompts.count % variants
    return prompts.count

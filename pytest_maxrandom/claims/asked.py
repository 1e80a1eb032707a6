"""What the incumbent and the control of a claim answer, whose model is run.

It is asked on the claim's own examples, through the same sweep and the same store, so it is asked
again wherever its model, its server, what computes it or the examples are other than those of what
is stored. Nothing of it is a try: no prompt is selected by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.beside import IncumbentAnswers
from pytest_maxrandom.claims.incumbents import SHOWN
from pytest_maxrandom.claims.runner import Runner
from pytest_maxrandom.claims.servers import check_server
from pytest_maxrandom.errors import ModelError, SweepError
from pytest_maxrandom.ledger import Named
from pytest_maxrandom.ledger.set_told import lowest_rank
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.predictions import predict
from pytest_maxrandom.sweeps.scorers import stored_as
from pytest_maxrandom.sweeps.several import made_one
from pytest_maxrandom.sweeps.sweep import run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.session import SessionState
    from pytest_maxrandom.ledger import SetLedger, Subject, Try
    from pytest_maxrandom.record import BesideIncumbent
    from pytest_maxrandom.recorded.prediction_lines import PromptLine
    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Progress, Sweep


def incumbent_jobs(planned: PlannedClaim) -> tuple[PlannedClaim, list[Job]] | None:
    """Return what the incumbent is asked, and the claim with its model; None where nothing is."""
    incumbent = planned.incumbent
    if incumbent is None or incumbent.prompt is None:
        return None
    shown = {each.id for each in incumbent.prompt.demonstrations}
    examples = [each for each in planned.condition.prompt_set.validation if each.id not in shown]
    jobs = jobs_of([(incumbent.prompt, examples)], planned.suite.scoring, planned.aggregate)
    own = planned if incumbent.spec.model is None else _beside(planned, incumbent.spec.model)
    return own, jobs


def incumbent_answers(
    planned: PlannedClaim,
    session: SessionState,
    ledger: SetLedger,
    subject: Subject,
    ask: Callable[[Sequence[Job]], Sweep],
    progress: Progress,
    predictions: Sequence[PromptPredictions],
) -> IncumbentAnswers | None:
    """Return what the incumbent answers to the examples of a claim; None where there is none.

    `ledger` and `subject` are the claim's, and tell whether the incumbent was chosen on these
    examples; `ask` asks the claim's own model what is no try of the claim; `predictions` are what
    the claim's prompts answered.

    Raises
    ------
    SweepError
        If it cannot be scored, or its stored answers are those of another model.
    """
    incumbent = planned.incumbent
    if incumbent is None:
        return None
    if incumbent.line is not None:
        return _read(planned, session, subject, incumbent.line, ledger, predictions)
    prompt, spec, asked_of = incumbent.prompt, incumbent.spec, incumbent_jobs(planned)
    assert prompt is not None
    assert asked_of is not None
    other, jobs = asked_of
    model_digest = subject.model_digest
    try:
        if spec.model is None:
            sweep = ask(jobs)
        else:
            model_digest = other.backends.identify(other.located).tried_digest
            executor = Runner(other, session).executor(lambda jobs: None)
            cache = session.cache(other)
            sweep = run_sweep(jobs, executor, progress, cache=cache, fresh=session.fresh)
    except ModelError:
        raise
    except SweepError as error:
        raise SweepError(f"incumbent: {error}") from error
    [predicted] = sweep.predictions
    asked = replace(subject, model_digest=model_digest)
    of_incumbent = IncumbentAnswers(
        settings=spec,
        name=incumbent.name,
        digest=prompt.digest,
        model=other.model.name,
        model_digest=model_digest,
        scores=_scores(predicted),
    )
    return _chosen(of_incumbent, ledger, subject, asked.tried(prompt.digest), predictions)


def check_stored(
    planned: PlannedClaim, session: SessionState, ledger: SetLedger, subject: Subject
) -> None:
    """Refuse stored answers of an incumbent whose model is another now, or computes otherwise.

    Raises
    ------
    SweepError
        In one sentence.
    """
    incumbent = planned.incumbent
    if incumbent is None or incumbent.line is None:
        return
    line, own = incumbent.line, planned
    if incumbent.spec.model is not None:
        own = _beside(planned, incumbent.spec.model)
        asked = replace(subject, model_digest=line.model_digest or "")
        check_server(own, session.pool, ledger, asked)
    for what, there, here in (
        ("model", line.model_digest, own.backends.identify(own.located).tried_digest),
        ("arithmetic", line.arithmetic, session.cache(own).arithmetic.digest),
    ):
        if there != here:
            raise SweepError(
                f"incumbent: the answers of {incumbent.source} are stale: the digest of the "
                f"{what} of {line.model} is {str(there)[:SHOWN]} there, and {here[:SHOWN]} "
                "here; name the incumbent's prompt, so that it is asked again"
            )


def control_answers(planned: PlannedClaim) -> IncumbentAnswers | None:
    """Return what a constant answer scores on the examples of a claim; None where there is none.

    It is scored as those of prompts are, so that another scorer shows in its digest. Several are
    given in turn, as samples.
    """
    spec = planned.suite.control
    if spec is None:
        return None
    scoring, prompt = planned.suite.scoring, planned.condition.prompt_set.prompts[0]
    form = prompt.format
    assert form.generation is not None
    whole = form.generation.model_copy(update={"pattern": None})
    matching = None if form.matching is None else replace(form.matching, filters=())
    read = replace(prompt, format=replace(form, generation=whole, matching=matching))
    examples = planned.condition.prompt_set.validation

    def given(text: str) -> PromptPredictions:
        said = Answer((), (), text=text, finish="stop")
        return predict(read, examples, [[said]] * len(examples), scoring)

    found, aggregate = [given(text) for text in spec.answer], planned.aggregate
    scores = _scores(found[0])
    if aggregate is not None and len(found) > 1:
        turns = range(aggregate.samples)
        scores = _scores(made_one([found[turn % len(found)] for turn in turns], aggregate))
    cells = (f"{name} {score!r}" for name, score in sorted(scores.items()))
    return IncumbentAnswers(
        settings=spec,
        name=f"the control {', '.join(map(repr, spec.answer))}",
        digest=digest(*spec.answer, stored_as(scoring), *cells),
        model="",
        scores=scores,
    )


def _read(
    planned: PlannedClaim,
    session: SessionState,
    subject: Subject,
    line: PromptLine,
    ledger: SetLedger,
    predictions: Sequence[PromptPredictions],
) -> IncumbentAnswers:
    """Return stored answers that are not stale."""
    check_stored(planned, session, ledger, subject)
    incumbent = planned.incumbent
    assert incumbent is not None
    asked = replace(subject, model_digest=line.model_digest or "")
    of_incumbent = IncumbentAnswers(
        settings=incumbent.spec,
        name=incumbent.name,
        digest=line.prompt,
        model=line.model,
        model_digest=line.model_digest,
        scores={each.id: each.credit for each in line.examples},
        stored=True,
    )
    return _chosen(of_incumbent, ledger, subject, asked.tried(line.prompt), predictions)


def named_by(found: IncumbentAnswers | BesideIncumbent, subject: Subject) -> Named:
    """Return by what the ledger knows an incumbent of a claim."""
    other = found.model_digest if found.model_digest != subject.model_digest else None
    return Named(found.digest, other or "")


def _chosen(
    incumbent: IncumbentAnswers,
    ledger: SetLedger,
    subject: Subject,
    tried: Try,
    predictions: Sequence[PromptPredictions],
) -> IncumbentAnswers:
    """Return an incumbent with what of it may have been chosen on these examples.

    What answers as it does is known to score as it does, however it is spelt. The same prompt to
    another model, or read otherwise, scores much like it: it costs its rank, and pays for nothing.
    """
    swept = {subject.tried(each.prompt.digest): each for each in predictions}
    means = {one: each.accuracy for one, each in swept.items()}
    alike = {tried, *(one for one, each in swept.items() if _scores(each) == incumbent.scores)}
    tries, named = ledger.tries(), named_by(incumbent, subject)
    near = {each for each in tries if each.prompt == tried.prompt}
    if (alike | near) & tries:
        known = ledger.known_when_named(named, means)
        rank = lowest_rank(alike | near, known)
        if rank is not None:
            incumbent = replace(incumbent, chosen_here=len(tries), rank=rank)
        if alike & known.keys():
            return incumbent
    return replace(incumbent, place=ledger.place_when_named(subject, named))


def _scores(said: PromptPredictions) -> dict[str, float]:
    pairs = zip(said.examples, said.scores, strict=True)
    return {example.id: score for example, score in pairs}


def _beside(planned: PlannedClaim, model: ModelSpec) -> PlannedClaim:
    """Return a claim with another model in place of its own."""
    arm = replace(planned.arm, name=model.test_id, key=None, model=model, train=None, classify=None)
    return replace(planned, model=model, arm=arm)

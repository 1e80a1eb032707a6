"""Claims about scores, and about answers of which no guess has a chance.

Nothing is compared with guessers then: the best of t prompts is compared with a baseline that the
suite states, with a control that was scored as it was, or with the incumbent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.assessment import (
    answer_facts,
    new_questions,
    samples_told,
    with_red_flags,
)
from pytest_maxrandom.claims.beside import beside
from pytest_maxrandom.claims.verdict import holds
from pytest_maxrandom.flags import find
from pytest_maxrandom.record.result import Result

if TYPE_CHECKING:
    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.beside import IncumbentAnswers
    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.flags import JudgedAnswers
    from pytest_maxrandom.record import Remark


def assess_scores(
    claim: Claim,
    answers: Answers,
    t: int,
    incumbent: IncumbentAnswers | None = None,
    control: IncumbentAnswers | None = None,
) -> Result:
    """Judge the best of t prompts without guessers, red flags aside.

    Parameters
    ----------
    answers : Answers
        Of the distinct prompts at hand, at least one.
    t : int
        Number of prompts that were tried, of which these may be a part.
    incumbent, control : IncumbentAnswers, optional
        Those that there are.
    """
    best, levels = answers.best, claim.levels(t)
    comparisons = beside(claim, answers, t, best, incumbent, control)
    told = claim.cannot_tell is None
    passed = (
        all(holds(comparisons.p.get(key), level) for key, level in levels.items()) if told else None
    )
    score, graded = float(answers.accuracies[best]), answers.scores is not None
    facts = answer_facts(answers, best)
    if graded:
        del facts["correct_counts"]
        facts["mean_scores"] = answers.accuracies.tolist()
    return Result(
        n=answers.best_size,
        t=t,
        best=best,
        best_correct=None if graded else answers.best_correct,
        best_accuracy=score,
        best_score=score,
        levels=levels,
        holds=passed,
        passed=passed,
        cannot_tell=claim.cannot_tell,
        new_questions=new_questions(answers, best, t),
        notes=(*comparisons.notes, *samples_told(answers, facts)),
        **comparisons.fields,
        **facts,
    )


def flagged(result: Result, claim: Claim, seen: JudgedAnswers) -> Result:
    """Add the red flags that can be seen without guessers, some of which fail the claim."""
    failed: list[Remark] = []
    flags = find(replace(seen, result=result), failed)
    return with_red_flags(result, claim, flags, warnings=tuple(dict.fromkeys(failed)))

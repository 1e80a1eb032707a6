"""Tasks without choices: what cannot be asked of them, and what they cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.record import Remark
from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.sweeps.open_roles import COPIED
from pytest_maxrandom.sweeps.prompts.sampling import NoPrompts, PromptSet
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.mathematics import MISSING, is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.tasks.task import Task


def refuse_unasked(suite: SuiteSpec, task: Task, drawn: PromptSet) -> None:
    """Refuse a task whose scoring is for tasks with choices, or without, and prompts unlike it.

    Raises
    ------
    NoPrompts
        In one sentence, with the way out.
    """
    if SCORERS[suite.scoring].is_open != task.is_open:
        raise NoPrompts(
            f"{task.name} has no choices, and `scoring: {suite.scoring}` asks for one; use "
            "`scoring: exact_match`"
            if task.is_open
            else f"{task.name} has choices, and `scoring: {suite.scoring}` is for tasks without; "
            "use `scoring: generate`",
            key="scoring",
        )
    if not task.is_open:
        if suite.control is not None:
            raise NoPrompts(
                f"{task.name} has choices, and a control is an answer to tasks without; remove it",
                key="control",
            )
        return
    if SCORERS[suite.scoring].is_graded and any(e.open and e.open.tolerance for e in task.examples):
        raise NoPrompts(
            f"{task.name} has a `tolerance`, by which an answer is right or wrong, and `scoring: "
            f"{suite.scoring}` says how good it is; remove it, or use `scoring: exact_match`",
            key="scoring",
        )
    if suite.exact_match.math and task.matching is None:
        if SCORERS[suite.scoring].is_graded:
            raise NoPrompts(
                "`math: true` says when an answer is a reference, and `scoring: "
                f"{suite.scoring}` how good it is; remove it, or use `scoring: exact_match`",
                key="exact_match",
            )
        if is_missing():
            raise NoPrompts(MISSING, key="exact_match")
    for form in suite.prompts.formats or ():
        if form.labels != "text" or form.append_choices:
            raise NoPrompts(
                f"{task.name} has no choices that a format could list or label; remove `labels` "
                "and `append_choices`",
                key="formats",
            )
    if drawn.leaves_out:
        raise NoPrompts(
            f"{task.name} has no choices, and prompts that leave out their own demonstrations have "
            "no exact test there; give it more examples or a smaller `validation: {max_examples}`, "
            "so that demonstrations come from the others, a `pool`, or `shots: 0`",
            key="demonstrations",
        )


def follows_only(roles: Sequence[str], arrangements: int) -> Remark | None:
    """Say why open answers cannot show knowledge: their questions hold them; None where they can.

    `roles` say what the reference of each example is to its question, and `arrangements` in how
    many ways references can be shuffled.
    """
    within = sum(role == COPIED for role in roles)
    if not within or arrangements >= 1 / DEFAULT_LEVEL:
        return None
    return Remark("follow_the_question", {"within": within, "examples": len(roles)})

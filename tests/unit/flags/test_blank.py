"""Examples without their questions."""

from __future__ import annotations

from pytest_maxrandom.claims.shortcuts import blanked
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout

EXAMPLES = [
    Example(f"e{number}", f"question {number}", ("Yes", "No", "Maybe"), (number % 3,))
    for number in range(20)
]


def test_all_but_the_question_stays() -> None:
    shown = Example("turned", "question", ("a", "b"), (0,), (1, 0))
    asked = [*EXAMPLES, shown]
    for before, after in zip(asked, blanked(asked), strict=True):
        assert after.input == ""
        assert (after.presentation, after.choices, after.right) == (
            before.presentation, before.choices, before.right
        )  # fmt: skip
        assert shown_order(after) == shown_order(before)


def test_the_demonstrations_and_the_instruction_keep_their_texts() -> None:
    prompt = Prompt((EXAMPLES[0],), Format(Layout(task_prefix="Answer.", append_choices=False)))
    (blank,) = blanked([EXAMPLES[1]])
    assert prompt.context(blank) == prompt.text + "\nQ: \nA: "
    assert "Answer." in prompt.text
    assert "question 0" in prompt.text
    assert prompt.context(EXAMPLES[1]).replace("question 1", "") == prompt.context(blank)

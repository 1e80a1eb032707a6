"""What people call the columns of a table of answers, or of questions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAMED: dict[str, tuple[str, ...]] = {
    "prompt": ("prompt_id", "prompt_name", "template", "instruction", "variant", "wording"),
    "example": (
        "example_id", "question_id", "qid", "doc_id", "item_id", "sample_id", "item", "sample",
        "id", "idx", "index", "question", "input", "text",
    ),
    "correct": ("is_correct", "right", "acc", "accuracy", "match", "exact_match", "hit"),
    "score": ("f1", "rouge", "bleu", "grade", "rating", "reward", "acc", "accuracy"),
    "judge": ("grader", "rater", "scorer", "judged_by", "scored_by"),
    "prediction": (
        "pred", "predicted", "predicted_label", "output", "response", "completion", "answer",
        "model_answer", "guess", "y_pred", "said",
    ),
    "gold": (
        "label", "target", "truth", "ground_truth", "correct_answer", "expected", "y_true",
        "gold_label", "answer", "solution",
    ),
    "reference": ("references", "reference_answer", "reference_answers"),
    "input": ("question", "text", "context"),
    "choices": ("options", "candidates", "num_choices", "n_choices", "number_of_choices"),
    "model": ("model_name", "model_id", "llm"),
    "task": ("task_name", "dataset", "benchmark"),
    "shots": ("n_shots", "num_shots", "k_shot", "num_fewshot", "fewshot", "shot"),
    "cluster": ("passage", "passage_id", "group", "group_id"),
    "sample": ("sample_id", "epoch", "repeat", "repetition", "attempt", "trial", "run", "seed"),
}  # fmt: skip
"""What columns are called that mean a role, besides its own name; the usual ones first."""
MEANING = {
    "prompt": "the prompt",
    "example": "the example",
    "correct": "whether an answer is right",
    "score": "how good an answer is",
    "judge": "who gave the scores",
    "prediction": "the answer",
    "gold": "the right answer",
    "reference": "the right answer without choices",
    "input": "the question",
    "choices": "the choices",
    "model": "the model",
    "task": "the task",
    "shots": "the number of demonstrations",
    "cluster": "what examples share",
    "sample": "one of several answers",
}
QUESTIONS = (
    *NAMED["input"][:2], "prompt", "query", "problem", "stem", "question_stem", "question_text",
    "sentence", "statement", "review", "tweet",
)  # fmt: skip
"""Of a task: the question, besides "input"; the usual ones first."""
CONTEXTS = ("context", "passage", "paragraph", "article")
"""What a question is about."""
ANSWERS = (
    *NAMED["gold"], "correct", "correct_option", "correct_choice", "right_answer", "answer_key",
    "answerkey", "key", "cop", "answer_index", "answer_idx", "correct_index", "sentiment", "class",
)  # fmt: skip
"""Of a task: the right answer, besides "gold"; the usual ones first."""
SAID_BY_MODELS = ("prediction", *NAMED["prediction"][:3], "response", "model_answer", "y_pred")
"""What only a table of answers has."""
OPTION = re.compile(
    r"(?:(options?|choices?|opt|op|answers?|alternatives?|candidates?|endings?|sol)_?)?"
    r"([a-j]|(?<=.)\d{1,2})"
)
"""Columns of one choice each, such as "A", "option_b" or "choice3", as their plain names."""
WRONG = re.compile(
    r"(?:distractor|(?:incorrect|wrong|false)(?:_(?:answer|option|choice))?)"
    r"(?:s?_?(?:[a-j]|\d{1,2}))?"
)
"""Columns of one wrong choice each; one of "wrong answers" may hold several in a cell."""
_NEAR = 0.8
"""How near a name must come to one of these, by difflib's ratio."""
_KNOWN = {word for role, words in NAMED.items() for word in (role, *words)}


def plain(name: str) -> str:
    """Write a name in small letters, with one underscore for whatever separates its words."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", words.casefold()).strip("_")


def last_known(name: str) -> str:
    """Return the last word of a name that means a role; an empty text if none does.

    In "model answer" it is the answer that is of the model.
    """
    words = name.split("_")
    return next((word for word in reversed(words) if word in _KNOWN), "")


def called_so(
    role: str, names: Sequence[str], columns: Iterable[str]
) -> list[tuple[int, str, str]]:
    """Return the columns whose names mean a role, best names first.

    Parameters
    ----------
    role : str
        The role, which is its own best name.
    names : sequence of str
        What else its columns are called; the usual ones first.

    Returns
    -------
    list of tuple
        How a name means it (0: it is one of these, 1: it ends in one, 2: it is nearly one), the
        column, and the reason in words.
    """
    meant = (role, *names)
    ranked: list[tuple[tuple[int, int], str, str]] = []
    for column in columns:
        name = plain(column)
        if name in meant:
            why = "its name" if name == role else f"the name usually means {MEANING[role]}"
            ranked.append(((0, meant.index(name)), column, why))
        elif (word := last_known(name)) in meant:
            ranked.append(((1, meant.index(word)), column, f"{word!r} is in its name"))
        elif word:
            continue
        elif near := did_you_mean(name, meant, str, _NEAR):
            word = near.removeprefix("; did you mean ").removesuffix("?")
            ranked.append(((2, meant.index(word)), column, f"its name is nearly {word!r}"))
    return [(rank[0], column, why) for rank, column, why in sorted(ranked)]

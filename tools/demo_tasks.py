"""The tasks of the demo model, five of them made from the held-out side of its small world.

``swapped_topic`` (BIG-bench JSON, two choices)
    Is a sentence about a garment or about an instrument, with the two names exchanged? Training
    exchanges names in a tenth of its documents, so that only the demonstrations tell which way
    round it is: without them, the model answers by the names' true meaning and is wrong. The
    sentences are held out.
``kind_of`` (JSON lines, two to five choices)
    What kind of thing is it? Only the plain text of training says so, never an episode.
``digit_sum`` (CSV, two choices)
    Is the digit sum of a six-digit number even or odd? A plain question with a plain answer, and
    more than the model can do. Every combination of answer, parity of the first and parity of the
    last digit is equally frequent, so that no look at one end of the number answers it.
``kind_said`` (JSON lines, no choices)
    The things of ``kind_of``, whose kind the model writes itself.
``kind_unsaid`` (JSON lines, no choices)
    The same about things whose names no training text holds.
``new_words`` (JSON lines, four choices)
    What is a thing whose name no training text holds? Each question tells what three others are,
    so that whoever reads questions learns the answers to the rest. The demo suite does not ask it.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from typing import TYPE_CHECKING

from demo_world import KINDS, digit_sum, parity, sentences, with_article

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TOPICS = ("garment", "instrument")
SENTENCES_PER_TOPIC = 64
NUMBERS_PER_STRATUM = 16
CHOICE_COUNTS = (2, 3, 4, 5)
NEW_WORDS = {
    "bird": ("jay", "puffin", "wagtail"),
    "fish": ("mullet", "pollock", "snapper"),
    "insect": ("katydid", "lacewing", "mayfly"),
    "tree": ("chestnut", "redwood", "walnut"),
    "flower": ("begonia", "freesia", "lupin"),
    "fruit": ("gooseberry", "pomegranate", "tangerine"),
    "tool": ("billhook", "chainsaw", "mattock"),
    "garment": ("cardigan", "cravat", "pullover"),
    "instrument": ("balalaika", "ukulele", "xylophone"),
    "vehicle": ("barouche", "hearse", "omnibus"),
    "vegetable": ("courgette", "kohlrabi", "shallot"),
    "gem": ("carnelian", "malachite", "tourmaline"),
}
QUESTIONS_OF_NEW_WORDS = 480
TOLD_IN_A_QUESTION = 3


def swapped_topic(seed: int = 0) -> str:
    """The task ``swapped_topic`` as BIG-bench JSON."""
    rng = random.Random(f"swapped_topic {seed}")
    examples = []
    for kind in KINDS:
        if kind.name in TOPICS:
            pool = [sentence.text for sentence in sentences(kind, held_out=True)]
            for text in rng.sample(pool, SENTENCES_PER_TOPIC):
                scores = {topic: int(topic != kind.name) for topic in TOPICS}
                examples.append({"input": text, "target_scores": scores})
    rng.shuffle(examples)
    task = {
        "name": "swapped_topic",
        "description": "Is a sentence about a garment or about an instrument? The two names are "
        "exchanged, as only the demonstrations show.",
        "keywords": ["multiple choice", "in-context learning"],
        "metrics": ["multiple_choice_grade"],
        "preferred_score": "multiple_choice_grade",
        "task_prefix": "What is the sentence about?\n",
        "example_input_prefix": "- ",
        "example_output_prefix": " => ",
        "few_shot_example_separator": "\n",
        "append_choices_to_input": False,
        "examples": examples,
    }
    return json.dumps(task, indent=1) + "\n"


def kind_of(seed: int = 0) -> str:
    """The task ``kind_of`` as JSON lines: id, input, choices, answer (an index)."""
    rng = random.Random(f"kind_of {seed}")
    questions = [(noun, kind.name) for kind in KINDS for noun in kind.told_nouns]
    rng.shuffle(questions)
    lines = []
    for number, (noun, answer) in enumerate(questions):
        count = CHOICE_COUNTS[number % len(CHOICE_COUNTS)]
        others = [kind.name for kind in KINDS if kind.name != answer]
        choices = [answer, *rng.sample(others, count - 1)]
        rng.shuffle(choices)
        row = {
            "id": f"kind-{number:03}",
            "input": noun,
            "choices": choices,
            "answer": choices.index(answer),
        }
        lines.append(json.dumps(row))
    return "\n".join(lines) + "\n"


def digit_sum_parity(seed: int = 0) -> str:
    """The task ``digit_sum`` as CSV: id, question, A, B, answer (the text of the right choice)."""
    rng = random.Random(f"digit_sum {seed}")
    numbers: list[int] = []
    for stratum in itertools.product((0, 1), repeat=3):
        found: set[int] = set()
        while len(found) < NUMBERS_PER_STRATUM:
            number = rng.randrange(100_000, 1_000_000)
            if (digit_sum(number) % 2, number // 100_000 % 2, number % 2) == stratum:
                found.add(number)
        numbers.extend(sorted(found))
    rng.shuffle(numbers)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", "question", "A", "B", "answer"))
    for index, number in enumerate(numbers):
        question = f"digit sum of {number}"
        writer.writerow((f"digits-{index:03}", question, "even", "odd", parity(digit_sum(number))))
    return text.getvalue()


def kind_said(seed: int = 0) -> str:
    """The task ``kind_said`` as JSON lines: id, input, answer (a text)."""
    return _said({kind.name: kind.told_nouns for kind in KINDS}, f"kind_said {seed}")


def kind_unsaid(seed: int = 0) -> str:
    """The task ``kind_unsaid`` as JSON lines: id, input, answer (a text)."""
    return _said(NEW_WORDS, f"kind_unsaid {seed}")


def _said(nouns: Mapping[str, Sequence[str]], seed: str) -> str:
    rng = random.Random(seed)
    questions = [(noun, kind) for kind, own in nouns.items() for noun in own]
    rng.shuffle(questions)
    rows = [
        {"id": f"said-{number:03}", "input": noun, "answer": kind}
        for number, (noun, kind) in enumerate(questions)
    ]
    return "\n".join(map(json.dumps, rows)) + "\n"


def new_words(seed: int = 0) -> str:
    """The task ``new_words`` as JSON lines: id, input, choices, answer (an index)."""
    rng = random.Random(f"new_words {seed}")
    words = [(noun, kind) for kind, nouns in NEW_WORDS.items() for noun in nouns]
    lines = []
    for number in range(QUESTIONS_OF_NEW_WORDS):
        *told, (noun, answer) = rng.sample(words, TOLD_IN_A_QUESTION + 1)
        facts = [
            f"{with_article(each).capitalize()} is {with_article(kind)}." for each, kind in told
        ]
        others = [kind for kind in NEW_WORDS if kind != answer]
        choices = [answer, *rng.sample(others, 3)]
        rng.shuffle(choices)
        row = {
            "id": f"new-{number:03}",
            "input": " ".join([*facts, f"{with_article(noun).capitalize()} is"]),
            "choices": [with_article(kind) for kind in choices],
            "answer": choices.index(answer),
        }
        lines.append(json.dumps(row))
    return "\n".join(lines) + "\n"


DATA_FILES: Mapping[str, Callable[[], str]] = {
    "swapped_topic.json": swapped_topic,
    "kind_of.jsonl": kind_of,
    "digit_sum.csv": digit_sum_parity,
    "kind_said.jsonl": kind_said,
    "kind_unsaid.jsonl": kind_unsaid,
    "new_words.jsonl": new_words,
}

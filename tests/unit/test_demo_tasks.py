"""The demo's example files are what their generators make, and training has not seen them."""

from __future__ import annotations

import csv
import importlib
import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from pytest_maxrandom.studies.plan import plan_file, sweeps_of

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "eval_suites" / "demo" / "data"
TRAINING_DOCUMENTS = 5_000


@pytest.fixture(scope="module")
def swapped_topic() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DATA / "swapped_topic.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def kind_of() -> list[dict[str, Any]]:
    lines = (DATA / "kind_of.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def digit_sum() -> list[dict[str, str]]:
    with (DATA / "digit_sum.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def new_words() -> list[dict[str, Any]]:
    lines = (DATA / "new_words.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def training_text() -> list[str]:
    episodes = importlib.import_module("demo_episodes")
    rng = random.Random(1)
    return [
        "".join(piece.text for piece in episodes.document(rng)) for _ in range(TRAINING_DOCUMENTS)
    ]


def test_the_committed_files_are_what_the_generators_make() -> None:
    made = {name: make() for name, make in importlib.import_module("demo_tasks").DATA_FILES.items()}
    committed = {path.name: path.read_text(encoding="utf-8") for path in DATA.iterdir()}
    assert committed == made


def test_the_committed_ledger_counts_the_prompts_of_the_demo_and_no_others() -> None:
    counted: dict[tuple[str, int], set[str]] = defaultdict(set)
    for file in (DATA.parent / "maxrandom-ledger").glob("*.jsonl"):
        task = file.name.rpartition("-")[0]
        for line in file.read_text(encoding="utf-8").splitlines():
            if (row := json.loads(line))["kind"] == "prompt":
                counted[task, row["shots"]].add(row["prompt"])
    asked = {
        (claim.condition.task.name, claim.condition.shots): {
            prompt.digest for prompt in claim.condition.prompt_set.prompts
        }
        for suite in DATA.parent.glob("*.yaml")
        for claim in sweeps_of(plan_file(suite))
    }
    assert counted == asked


def test_every_task_has_a_hundred_distinct_questions(
    swapped_topic: dict[str, Any],
    kind_of: list[dict[str, Any]],
    digit_sum: list[dict[str, str]],
    new_words: list[dict[str, Any]],
) -> None:
    questions = (
        [example["input"] for example in swapped_topic["examples"]],
        [row["input"] for row in kind_of],
        [row["question"] for row in digit_sum],
        [row["input"] for row in new_words],
    )
    for task in questions:
        assert len(set(task)) == len(task) >= 100


def test_two_topics_are_equally_frequent_and_each_sentence_has_one(
    swapped_topic: dict[str, Any],
) -> None:
    scores = [example["target_scores"] for example in swapped_topic["examples"]]
    assert all(sorted(score.values()) == [0, 1] for score in scores)
    assert sum(score["garment"] for score in scores) == len(scores) / 2


def test_the_right_topic_is_the_one_the_sentence_is_not_about(
    swapped_topic: dict[str, Any],
) -> None:
    kinds = {kind.name: kind for kind in importlib.import_module("demo_world").KINDS}
    for example in swapped_topic["examples"]:
        noun = example["input"].removesuffix(".").split()[-1]
        for topic, score in example["target_scores"].items():
            assert score == (noun not in kinds[topic].nouns)


def test_kind_questions_have_two_to_five_choices_with_one_right_kind(
    kind_of: list[dict[str, Any]],
) -> None:
    kinds = {kind.name: kind for kind in importlib.import_module("demo_world").KINDS}
    counts = Counter(len(row["choices"]) for row in kind_of)
    assert counts == {2: 27, 3: 27, 4: 27, 5: 27}
    for row in kind_of:
        right = [choice for choice in row["choices"] if row["input"] in kinds[choice].nouns]
        assert right == [row["choices"][row["answer"]]]


@pytest.mark.parametrize(("file", "held"), [("kind_said", True), ("kind_unsaid", False)])
def test_kinds_to_be_written_are_of_words_that_training_tells_or_does_not(
    training_text: list[str], file: str, *, held: bool
) -> None:
    kinds = {kind.name: kind for kind in importlib.import_module("demo_world").KINDS}
    lines = (DATA / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    words = set(re.findall(r"\w+", "\n".join(training_text)))
    assert len({row["input"] for row in rows}) == len(rows)
    assert {row["answer"] for row in rows} == kinds.keys()
    for row in rows:
        assert (row["input"] in kinds[row["answer"]].told_nouns) is held
        assert (row["input"] in words) is held


def test_digit_sum_answers_are_true(digit_sum: list[dict[str, str]]) -> None:
    for row in digit_sum:
        digits = [int(character) for character in row["question"] if character.isdigit()]
        assert len(digits) == 6
        assert row["answer"] == ("odd" if sum(digits) % 2 else "even")


@pytest.mark.parametrize("end", [-1, -6], ids=["last digit", "first digit"])
def test_neither_end_of_a_number_tells_the_parity_of_its_digit_sum(
    digit_sum: list[dict[str, str]], end: int
) -> None:
    cells = Counter((int(row["question"][end]) % 2, row["answer"]) for row in digit_sum)
    assert set(cells.values()) == {len(digit_sum) // 4}


def test_no_evaluated_sentence_is_in_the_training_text(
    swapped_topic: dict[str, Any], training_text: list[str]
) -> None:
    asked = [example["input"].removesuffix(".") for example in swapped_topic["examples"]]
    text = "\n".join(training_text)
    assert [sentence for sentence in asked if sentence in text] == []


def test_the_split_itself_never_offers_a_held_out_sentence_for_training() -> None:
    world = importlib.import_module("demo_world")
    for kind in world.KINDS:
        held_out = {sentence.text for sentence in world.sentences(kind, held_out=True)}
        training = {sentence.text for sentence in world.sentences(kind, held_out=False)}
        everything = len(world.NAMES) * len(kind.verbs) * len(kind.asked_nouns)
        assert held_out.isdisjoint(training)
        assert len(held_out) + len(training) == everything


def test_evaluated_things_are_told_in_plain_text_and_never_asked_about(
    kind_of: list[dict[str, Any]], training_text: list[str]
) -> None:
    formats = importlib.import_module("demo_episodes").FORMATS
    marks = tuple(layout.output_prefix.rstrip() for layout in formats)
    episodes = [text for text in training_text if any(mark in text for mark in marks)]
    plain = [text for text in training_text if not any(mark in text for mark in marks)]
    assert len(episodes) > 1000 < len(plain)
    told_words = _words(plain)
    asked_words = _words(episodes)
    for row in kind_of:
        assert row["input"] in told_words
        assert row["input"] not in asked_words


def test_new_words_are_new_and_questions_tell_one_kind_of_each(
    new_words: list[dict[str, Any]], training_text: list[str]
) -> None:
    told: dict[str, set[str]] = {}
    for row in new_words:
        *facts, asked = row["input"].split(". ")
        right = row["choices"][row["answer"]]
        assert len(facts) == 3
        assert len(set(row["choices"])) == 4
        for sentence in (*facts, f"{asked} {right}"):
            _, noun, _, _, kind = sentence.split()
            told.setdefault(noun.lower(), set()).add(kind)
    assert all(len(kinds) == 1 for kinds in told.values())
    assert not {*told} & {*" ".join(training_text).replace(".", " ").lower().split()}


def test_no_evaluated_number_is_in_the_training_text(
    digit_sum: list[dict[str, str]], training_text: list[str]
) -> None:
    numbers = {word for word in _words(training_text) if word.isdigit()}
    assert numbers
    assert numbers.isdisjoint(row["question"].split()[-1] for row in digit_sum)


def test_answers_that_nothing_yet_tells_are_not_trained() -> None:
    episodes = importlib.import_module("demo_episodes")
    codes = set(importlib.import_module("demo_world").CODES)
    rng = random.Random(2)
    checked = 0
    for _ in range(1000):
        seen: set[str] = set()
        for piece in episodes.document(rng):
            answer = piece.text.strip()
            if answer in codes:
                assert piece.weight == (episodes.ANSWER_WEIGHT if answer in seen else 0.0)
                seen.add(answer)
                checked += 1
    assert checked > 500


def _words(texts: list[str]) -> set[str]:
    return {word.strip(".:") for text in texts for word in text.split()}

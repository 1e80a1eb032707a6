"""What can be shuffled in recorded results."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.listed import shuffles_of_lists
from pytest_maxrandom.claims.shuffles import Shuffle
from pytest_maxrandom.claims.strata import strata
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.stats.permutation import max_t_test
from tests.notes import noted
from tests.unit.recorded.suites import judged, planned, save, suite_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.recorded_claims import RecordedClaim

    Write = Callable[[Path, Answers, Sequence[tuple[int, ...]], bool], str]

T, N = 20, 60


def word(label: int) -> str:
    """Return the text of a label, which is no letter and no number that might be a place."""
    return f"w{label}"


def sweep(choices: Sequence[Sequence[int]], seed: int, *, named: bool = True) -> Answers:
    """Return guessers that answer each example with one of its own labels."""
    random = np.random.default_rng(seed)
    places = random.integers(list(map(len, choices)), size=(T + 1, len(choices)))
    drawn = [[own[place] for own, place in zip(choices, row, strict=True)] for row in places]
    gold, answers = tuple(frozenset({label}) for label in drawn[0]), np.array(drawn[1:])
    right = [
        [answer in labels for answer, labels in zip(row, gold, strict=True)] for row in answers
    ]
    ids = tuple(map(str, range(len(choices))))
    return Answers(
        path=Path("r.csv"),
        claim="guessers",
        model="m",
        task="t",
        shots=0,
        prompts=tuple(map(str, range(T))),
        examples=ids,
        identities=tuple(map(str, range(T))),
        demonstration_ids=((),) * T,
        correct=np.array(right),
        evaluated=np.ones((T, len(choices)), dtype=np.bool_),
        chances=tuple(Fraction(1, len(own)) for own in choices),
        answers=answers,
        gold=gold,
        labels=tuple(map(word, range(1 + max(map(max, choices))))) if named else (),
    )


def p_value(guessers: Answers, seed: int) -> float:
    return max(
        max_t_test(
            each.answers, each.gold, each.choices, strata=each.strata, permutations=199, seed=seed
        ).p_value
        for each in shuffles(guessers)
    )


def shuffles(found: Answers) -> list[Shuffle]:
    if found.offered is not None:
        return shuffles_of_lists(found)
    assert found.answers is not None
    assert found.gold is not None
    views = strata(found, found.chances)
    return [Shuffle(found.answers, found.gold, None, view, None) for view in views]


RING = [(0, 1), (1, 2), (2, 3), (3, 0)] * (N // 4)
APART = [(0, 1), (2, 3)] * (N // 2)
OVERLAPPING = [(0, 1, 2, 3), (4, 5, 2, 3)] * (N // 2)
"""Such as Yes, No, Perhaps and Unknown beside True, False, Perhaps and Unknown."""


def answering(
    choices: Sequence[Sequence[int]],
    seed: int,
    *,
    affirmed: float,
    affirms: float = 0.0,
    knows: float = 0.0,
    t: int = T,
) -> Answers:
    """Return a model that often says the first label or what is right, and else any of its own.

    One of the first two labels is right, the first in a share of the examples.
    """
    random = np.random.default_rng(seed)
    gold = [own[0] if random.random() < affirmed else own[1] for own in choices]
    wish = random.random((t, len(gold)))
    answers = [
        [
            right
            if at < knows
            else own[0]
            if at < knows + affirms
            else own[int(random.integers(len(own)))]
            for right, own, at in zip(gold, choices, row, strict=True)
        ]
        for row in wish
    ]
    return with_answers(sweep(choices, seed), answers, gold)


def with_answers(found: Answers, answers: Sequence[Sequence[int]], gold: Sequence[int]) -> Answers:
    rows = np.array(answers)
    ids = tuple(map(str, range(len(rows))))
    return replace(
        found,
        prompts=ids,
        identities=ids,
        demonstration_ids=((),) * len(rows),
        correct=rows == np.array(gold),
        evaluated=np.ones(rows.shape, dtype=np.bool_),
        answers=rows,
        gold=tuple(frozenset({each}) for each in gold),
    )


def listing(found: Answers, choices: Sequence[Sequence[int]]) -> Answers:
    """Return a sweep whose file lists the choices of each example."""
    return replace(found, offered=tuple(tuple(map(word, own)) for own in choices))


def saying_none(
    random: np.random.Generator, t: int, *, share: float = 0.9, knows: float = 0.0
) -> tuple[Answers, list[tuple[int, ...]]]:
    """Return who often says 0, one of four choices, which is right to 40 %; the others are own."""
    lists = [tuple(random.permutation([0, *range(3 * at + 1, 3 * at + 4)])) for at in range(N)]
    own = 3 * np.arange(N) + 1
    gold = np.where(np.arange(N) < 0.4 * N, 0, own + random.integers(3, size=N))
    answers = np.where(random.random((t, N)) < share, 0, own + random.integers(3, size=(t, N)))
    answers = np.where(random.random((t, N)) < knows, gold, answers)
    return with_answers(sweep(lists, 0), answers.tolist(), gold.tolist()), lists


def places(found: Answers, lists: Sequence[tuple[int, ...]]) -> tuple[list[list[int]], list[int]]:
    """Return the places of choices that were given as answers, and of those that are right."""
    assert found.answers is not None
    assert found.gold is not None
    answers = [
        [own.index(said) for own, said in zip(lists, row, strict=True)]
        for row in found.answers.tolist()
    ]
    return answers, [own.index(min(right)) for own, right in zip(lists, found.gold, strict=True)]


def test_letters_stand_for_listed_choices() -> None:
    found, lists = saying_none(np.random.default_rng(4), 10)
    by_place = with_answers(found, *places(found, lists))
    for labels in ((), ("A", "B", "C", "D")):
        told = listing(replace(by_place, labels=labels), lists)
        assert p_value(told, 0) == p_value(listing(found, lists), 0)


def test_choices_that_repeat_a_text_keep_their_places() -> None:
    lists = [(0, 1, 1) if place % 2 else (1, 0, 1) for place in range(N)]
    gold = np.random.default_rng(0).integers(3, size=N).tolist()
    found = replace(with_answers(sweep([(0, 1, 2)] * N, 0), [gold] * T, gold), labels=())
    for each in shuffles(listing(found, lists)):
        right = [
            answer in labels
            for answer, labels in zip(np.asarray(each.answers)[0], each.gold, strict=True)
        ]
        assert all(right)


def _archive(folder: Path, found: Answers, lists: Sequence[tuple[int, ...]], told: bool) -> str:
    answers, gold = places(found, lists)
    given = {
        "correct": np.equal(answers, gold),
        "answers": np.array(answers),
        "gold": np.array(gold),
        "choices": np.full(N, 4),
    }
    texts = {"choice_texts": np.array([[*map(word, own)] for own in lists])}
    save(folder / "m.npz", a__0=given | texts if told else given)
    return "m.npz, format: npz"


def _lines(folder: Path, found: Answers, lists: Sequence[tuple[int, ...]], told: bool) -> str:
    answers, gold = places(found, lists)
    rows = [
        {
            "prompt": prompt,
            "example": place,
            "prediction": "ABCD"[answer],
            "gold": "ABCD"[gold[place]],
            "choices": [*map(word, lists[place])] if told else 4,
            "shots": 0,
        }
        for prompt, row in enumerate(answers)
        for place, answer in enumerate(row)
    ]
    (folder / "r.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return "r.jsonl, format: table"


def _predictions(folder: Path, found: Answers, lists: Sequence[tuple[int, ...]], told: bool) -> str:
    answers, gold = places(found, lists)
    lines = []
    for prompt, row in enumerate(answers):
        cells = [
            {
                "id": str(place),
                "chosen": answer,
                "right": [gold[place]],
                "choices": 4,
                "log_likelihoods": [0.0 if each == answer else -1.0 for each in range(4)],
                "tokens": [1] * 4,
                "margin": 1.0,
                "labels": [0, 1, 2, 3],
                **({"listed": [*map(word, lists[place])]} if told else {}),
            }
            for place, answer in enumerate(row)
        ]
        heading = {"schema_version": 1, "claim": "c", "task": "a", "model": "m", "shots": 0,
                   "quantization": "none", "scoring": "cloze", "demonstration_ids": []}  # fmt: skip
        lines.append(heading | {"prompt": str(prompt), "examples": cells})
    (folder / "p.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return "p.jsonl, format: predictions"


@pytest.mark.parametrize("write", [_archive, _lines, _predictions])
def test_who_knows_passes_by_every_way_in_that_lists_choices(write: Write, tmp_path: Path) -> None:
    found, lists = saying_none(np.random.default_rng(9), 5, knows=0.7)
    by_name = "{name: a, assert: {permutation_p: 0.05}}"
    for told, task, passed in (
        (True, "{name: a}", True),
        (False, "{name: a}", None),
        (False, by_name, True),
        (True, by_name, True),
    ):
        [claim] = planned(tmp_path, suite_text(task, model=write(tmp_path, found, lists, told)))
        record = judged(claim)
        assert record.passed is passed
        assert (passed is None) == ("list the choices of each" in (record.message or ""))
        unseen = not told
        assert ("places_exchanged" in {note.kind for note in record.notes}) is unseen


@pytest.mark.parametrize("knows", [0.0, 0.8])
def test_where_a_constant_answer_scores_more_the_message_names_balanced_accuracy(
    knows: float, tmp_path: Path
) -> None:
    """Right answers are 0 to nine tenths; who knows is right on .8 of each label."""
    random, lists = np.random.default_rng(6), [(0, 1, 2, 3)] * N
    gold = np.array([0] * 54 + [1, 2, 3] * 2)
    other = np.where(gold == 0, random.integers(1, 4, size=(5, N)), 0)
    said = np.where(random.random((5, N)) < knows, gold, other)
    if not knows:
        said = np.where(random.random((5, N)) < 0.85, 0, random.integers(1, 4, size=(5, N)))
    found = with_answers(sweep(lists, 0), said.tolist(), gold.tolist())
    text = suite_text("{name: a}", model=_archive(tmp_path, found, lists, told=True))
    [claim] = planned(tmp_path, text)
    record = judged(claim)
    assert record.passed is False
    assert record.message is not None
    assert ("`metric: balanced_accuracy` shows knowledge" in record.message) is bool(knows)
    notes = [each for each in record.notes if each.kind == "by_class"]
    assert len(notes) == bool(knows)
    if knows:
        recalls = [[np.mean(row[gold == each] == each) for each in range(4)] for row in said]
        assert notes[0].values["score"] == pytest.approx(np.max(np.mean(recalls, axis=1)))
        p = max_t_test(said, gold, statistic=METRICS["balanced_accuracy"].statistic).p_value
        assert notes[0].values["p"] == pytest.approx(p, rel=0.3, abs=2e-4)
        [claim] = planned(tmp_path, f"{text}metric: balanced_accuracy\n")
        by_class = judged(claim)
        assert by_class.passed
        assert by_class.permutation_p == notes[0].values["p"]
        assert by_class.best_score == pytest.approx(notes[0].values["score"])


def table(folder: Path, found: Answers, clusters: Sequence[str] | None = None) -> RecordedClaim:
    """Write answers as a table, and return the claim about them."""
    assert found.answers is not None
    assert found.gold is not None
    assert found.chances is not None
    rows = [["prompt", "example", "prediction", "gold", "choices", "shots", "cluster"]]
    for prompt, answers in enumerate(found.answers.tolist()):
        for place, answer in enumerate(answers):
            (gold,) = found.gold[place]
            said, right = found.labels[answer], found.labels[gold]
            cells = (prompt, place, said, right, found.chances[place].denominator, 0)
            rows.append([*map(str, cells), clusters[place] if clusters else ""])
    (folder / "r.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (claim,) = planned(folder, suite_text("{name: a}", model="r.csv, format: table"))
    return claim


def test_the_default_claim_cannot_tell_where_kinds_are_not_told(tmp_path: Path) -> None:
    own = [(4 * place, 4 * place + 1, 4 * place + 2, 4 * place + 3) for place in range(N)]
    record = judged(table(tmp_path, answering(own, 0, affirmed=0.5, knows=0.8)))
    assert (record.passed, record.holds) == (None, None)
    assert record.asserted == {"permutation_p": 0.05, "beats": "max_random"}
    assert record.message is not None
    assert record.message.startswith("cannot tell: knowledge cannot be distinguished from a ")
    assert any(
        "the results do not say which questions have the same choices" in note
        for note in noted(record)
    )


def test_what_only_listed_choices_would_tell_is_said(tmp_path: Path) -> None:
    record = judged(table(tmp_path, answering(OVERLAPPING, 0, affirmed=0.7, affirms=0.98)))
    assert not record.passed
    assert any("can list them in the column choices" in note for note in noted(record))


@pytest.mark.parametrize("claim", ["", "assert: {permutation_p: 0.05}\n"])
@pytest.mark.parametrize("many", [2, 4])
def test_fewer_than_five_clusters_cannot_tell(tmp_path: Path, many: int, claim: str) -> None:
    clusters = [str(place % many) for place in range(N)]
    found = answering([(0, 1)] * N, 0, affirmed=0.5, knows=1.0)
    table(tmp_path, found, clusters)
    (planned_claim,) = planned(tmp_path, suite_text("{name: a}", claim, "r.csv, format: table"))
    record = judged(planned_claim)
    assert record.passed is None
    assert record.message is not None
    assert (
        f"cannot tell: right answers can be exchanged among {many} clusters only" in record.message
    )
    assert "`p_max`" not in record.message, "it takes examples for independent, which they are not"
    assert (record.permutation_p, record.red_flags) == (None, [])
    text = suite_text("{name: a}", "assert: {p_max: 0.05}\n", "r.csv, format: table")
    (by_name,) = planned(tmp_path, text)
    assert judged(by_name).holds

"""What is known of a task before anybody is asked, against sums in exact fractions."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.record import AuditedTask, Finding, Remark
from pytest_maxrandom.studies.audit import audit, best_guesses
from pytest_maxrandom.tasks.task import Example, Task
from tests.unit.stats.oracle import best_at_least, counts, expected_best

if TYPE_CHECKING:
    from collections.abc import Sequence


PROMPTS = (1, 10, 100)


def audited(examples: Sequence[Example], prompts: Sequence[int] = PROMPTS) -> AuditedTask:
    task = Task("t", tuple(examples))
    return audit(AuditedTask(name="t", path="t.csv"), task, task.examples, prompts)


def found(task: AuditedTask) -> dict[str, Finding]:
    return {finding.kind: finding for finding in task.findings}


def example(number: int, choices: Sequence[str], *right: int, text: str = "") -> Example:
    return Example(str(number), text or f"question {number}?", tuple(choices), right)


def yes_no(gold: Sequence[bool]) -> list[Example]:
    return [example(i, ("yes", "no"), 0 if each else 1) for i, each in enumerate(gold)]


def drawn(n: int, m: int, seed: int) -> list[Example]:
    """Return examples of random words, whose right answers are drawn by lot."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(3, 9))) for _ in range(n * (m + 3))]
    rows = [words[i * (m + 3) : (i + 1) * (m + 3)] for i in range(n)]
    return [
        example(i, [f"{word}{j}" for j, word in enumerate(row[:m])], rng.randrange(m),
                text=" ".join(row[m:]))
        for i, row in enumerate(rows)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "sizes", [[2] * 20, [2] * 9 + [5] * 11, [3, 4, 10, 11, 2, 2, 7], [4] * 31, [2] * 4]
)
def test_baselines_are_the_exact_sums(sizes: list[int]) -> None:
    examples = [
        example(i, [f"{i} {c}" for c in "abcdefghijk"[:m]], *range(1 + (m > 6)))
        for i, m in enumerate(sizes)
    ]
    n, chances = len(sizes), [Fraction(1 + (m > 6), m) for m in sizes]
    single = counts(chances)
    task = audited(examples)
    assert task.n == n
    assert task.chance == pytest.approx(float(sum(chances) / n), rel=1e-15)
    assert task.choices == {str(m): many for m, many in sorted(Counter(sizes).items())}
    assert task.several_right == sum(m > 6 for m in sizes)
    assert {Fraction(of): many for of, many in task.chances.items()} == Counter(chances)
    for t, guess in zip(PROMPTS, task.baselines, strict=True):
        expected = expected_best(single, t) / n
        p_max = [best_at_least(single, k, t) for k in range(n + 1)]
        passing = [k for k in range(n + 1) if p_max[k] <= Fraction(1, 20)]
        assert guess.t == t
        assert guess.expected_maximum == pytest.approx(float(expected), rel=1e-12)
        assert guess.critical_count == (passing[0] if passing else None)
        assert guess.smallest_p == pytest.approx(float(p_max[n]), rel=1e-12)
        assert (guess.critical_accuracy is None) == (not passing)
    never = [
        t for t, guess in zip(PROMPTS, task.baselines, strict=True) if not guess.critical_count
    ]
    told = found(task).get("unpassable")
    assert (told.parameters["prompts"] if told else []) == never
    hardly = [guess.t for guess in task.baselines if 10 * (guess.critical_count or 0) >= 9 * task.n]
    told = found(task).get("few_examples")
    assert (told.parameters["prompts"] if told else []) == hardly


def test_the_same_chances_are_computed_once() -> None:
    best_guesses.cache_clear()
    for seed in range(5):
        audited(drawn(30, 4, seed))
    assert best_guesses.cache_info().misses == 1


@pytest.mark.parametrize(
    ("n", "m"),
    [(60, 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((100, 4), (25, 5)))],
)
def test_right_answers_by_lot_are_seldom_a_finding(n: int, m: int) -> None:
    """Of 150 such tasks 3 are expected with one at most: two tests, each at .01."""
    kinds = Counter(kind for seed in range(150) for kind in found(audited(drawn(n, m, seed))))
    assert kinds["place"] + kinds["heuristic"] <= 8
    assert kinds.total() == kinds["place"] + kinds["heuristic"]


def test_a_label_that_is_right_too_often_is_told_with_what_it_passes() -> None:
    task = audited(yes_no([False] * 70 + [True] * 30))
    assert task.majority is not None
    assert (task.majority.answer, task.majority.correct, task.majority.rate) == ("no", 70, 0.7)
    assert found(task)["majority"].parameters == {
        "answer": "no", "place": None, "correct": 70, "n": 100, "passes": [1, 10, 100],
    }  # fmt: skip
    assert "place" not in found(task)  # it is the same constant answer
    little = audited(yes_no([False] * 56 + [True] * 44))
    assert "majority" not in found(little)
    assert little.majority is not None
    assert little.majority.rate == 0.56


def test_a_place_in_the_file_is_told_apart_from_a_label() -> None:
    mixed = [example(i, ("yes", "no") if i % 2 else ("no", "yes"), 0) for i in range(60)]
    task = audited(mixed)
    assert task.majority is not None
    assert task.majority.rate == 0.5
    assert found(task)["place"].parameters["place"] == 1
    assert "majority" not in found(task)
    own = [example(i, [f"{i}{c}" for c in "abcd"], 2) for i in range(40)]
    task = audited(own)
    assert task.majority is not None
    assert (task.majority.answer, task.majority.place, task.majority.rate) == (None, 3, 1.0)
    assert found(task)["place"].parameters["correct"] == 40


def test_the_last_choice_is_a_heuristic_where_examples_differ_in_their_number() -> None:
    sizes = [2 + i % 4 for i in range(80)]
    examples = [example(i, [f"{i}{c}" for c in "abcde"[:m]], m - 1) for i, m in enumerate(sizes)]
    task = audited(examples)
    assert task.heuristic is not None
    assert (task.heuristic.name, task.heuristic.rate) == ("last", 1.0)
    assert found(task)["heuristic"].parameters["heuristic"] == "last"


def test_the_longest_choice_is_told_and_its_rate_counts_ties_as_guesses() -> None:
    examples = [example(i, (f"{i} short", f"{i} a longer one", "no"), 1) for i in range(30)]
    examples += [example(30 + i, (f"aa{i}", f"bb{i}", "c"), i % 3) for i in range(30)]
    task = audited(examples)
    ties = sum(Fraction(i % 3 < 2, 2) for i in range(30))
    assert task.heuristics["longest"] == pytest.approx(float((30 + ties) / 60), rel=1e-15)
    assert found(task)["heuristic"].parameters["heuristic"] == "longest"


def test_a_heuristic_that_always_says_one_label_is_told_once() -> None:
    told = found(audited(yes_no([False] * 70 + [True] * 30)))  # "no" is also the shortest
    assert told.keys() == {"majority"}


def test_what_follows_the_choices_tells_examples_apart() -> None:
    """As a blank in a sentence does: its beginnings are the choices."""
    examples = [
        Example(str(i), "", ("The cup broke it", "The floor broke it"), (i % 2,),
                continuation=f" when it fell {i}.")
        for i in range(40)
    ]  # fmt: skip
    task = audited(examples)
    assert (task.duplicates, task.contradictory) == (0, 0)
    again = [*examples, replace(examples[0], id="40"), replace(examples[0], id="41", right=(1,))]
    task = audited(again)
    assert (task.duplicates, task.contradictory) == (2, 1)


def test_copies_and_contradictions_are_counted_whatever_the_order_of_choices() -> None:
    examples = drawn(40, 3, 1)
    text, choices = examples[0].input, examples[0].choices
    right = choices[examples[0].right[0]]
    turned = (choices[2], choices[0], choices[1])
    examples.append(example(40, turned, turned.index(right), text=text))
    task = audited(examples)
    assert (task.duplicates, task.contradictory) == (1, 0)
    examples.append(example(41, turned, (turned.index(right) + 1) % 3, text=text))
    task = audited(examples)
    assert (task.duplicates, task.contradictory) == (2, 1)
    assert found(task)["contradictory_examples"].parameters["alike"] == ["0", "41"]
    assert task.effective_n == pytest.approx(42**2 / (39 + 9))


def test_clusters_are_those_stated_else_those_of_a_long_text() -> None:
    rng = random.Random(3)
    passages = [" ".join(rng.choices("abcdefghijklmnop", k=300)) for _ in range(10)]
    examples = [
        example(i, ("yes", "no"), rng.randrange(2), text=f"{passages[i // 4]}\nQuestion {i}?")
        for i in range(40)
    ]
    task = audited(examples)
    assert (task.clusters, task.clusters_stated, task.effective_n) == (10, False, 10.0)
    assert {"shared_text", "clustered_answers"} & found(task).keys()
    stated = [
        Example(each.id, each.input, each.choices, each.right, cluster=str(i // 8))
        for i, each in enumerate(examples)
    ]
    task = audited(stated)
    assert (task.clusters, task.clusters_stated, task.effective_n) == (5, True, 8.0 * 25 / 40)


def test_copies_do_not_make_luck_into_a_finding() -> None:
    """20 questions, each 10 times, 15 of them "no": no luck of 200, but of 20."""
    examples = [example(i, ("yes", "no"), int(i % 20 < 15), text=f"q {i % 20}") for i in range(200)]
    task = audited(examples)
    assert task.majority is not None
    assert task.majority.rate == 0.75
    assert task.majority.p > 0.01
    assert "majority" not in found(task)
    assert found(task)["repeated_examples"].parameters == {"n": 200, "different": 20}


def test_empty_inputs_are_a_finding() -> None:
    task = Task(
        "t", tuple(drawn(30, 2, 0)), notes=(Remark("empty_inputs", {"empty": 2, "examples": 30}),)
    )
    result = audit(AuditedTask(name="t", path="t"), task, task.examples, PROMPTS)
    assert found(result)["empty_inputs"].parameters == {"empty": 2, "examples": 30}

from __future__ import annotations

from dataclasses import replace

from pytest_maxrandom.record import Remark
from pytest_maxrandom.tasks import Example, Task

A = Example("a", "?", ("x", "y", "z"), (1,))
B = Example("b", "!", ("x", "y", "z"), (0, 2))
C = Example("c", "?", ("x", "y"), (0,))


def digest(*examples: Example) -> str:
    return Task("t", examples).digest


def test_the_digest_is_of_the_content_and_neither_of_ids_nor_of_order() -> None:
    renamed = Task("another", (replace(B, id="1"), replace(A, id="2")), notes=(Remark("renamed"),))
    assert digest(A, B) == renamed.digest


def test_the_digest_changes_with_any_part_of_an_example() -> None:
    variants = [
        (A, B),
        (A,),
        (A, B, B),
        (replace(A, input="??"), B),
        (replace(A, choices=("y", "x", "z")), B),
        (replace(A, right=(2,)), B),
    ]
    assert len({digest(*variant) for variant in variants}) == len(variants)


def test_only_repetitions_of_all_parts_are_duplicates() -> None:
    task = Task("t", (A, replace(A, id="2"), replace(A, id="3", right=(0,)), C))
    assert task.duplicates == 1

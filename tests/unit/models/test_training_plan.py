"""What an arm is trained on is a part of who its model is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.registry import Backends
from pytest_maxrandom.models.training import LabelledText, Trained, Training
from pytest_maxrandom.suite.models import MockSpec
from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec

PLAIN = Training(TrainSpec(text="scored"), ("a b", "c"))
HEAD = Training(None, (), ClassifySpec(), (LabelledText("a", 0), LabelledText("b", 1)), ("x", "y"))


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, texts=("c", "a b")),
        replace(PLAIN, texts=("a", "b c")),
        replace(PLAIN, seed=1),
        replace(PLAIN, settings=TrainSpec(text="scored", epochs=2)),
        replace(PLAIN, settings=TrainSpec(text="scored", method="lora")),
        replace(PLAIN, classify=ClassifySpec()),
        HEAD,
        replace(HEAD, labels=("y", "x")),
        replace(HEAD, labelled=HEAD.labelled[::-1]),
        replace(HEAD, labelled=(LabelledText("a", 1), LabelledText("b", 0))),
    ],
)
def test_whatever_changes_the_result_changes_the_digest(other: Training) -> None:
    assert other.digest not in {PLAIN.digest} | ({HEAD.digest} if other is not HEAD else set())


def test_the_same_texts_drawn_otherwise_are_the_same_training() -> None:
    drawn = TrainSpec(text="extra", examples=2, form="prompt")
    stated = TrainSpec(text="scored", learning_rate=5e-5)  # the rate that is taken if none is said
    assert {replace(PLAIN, settings=each).digest for each in (drawn, stated)} == {PLAIN.digest}


def test_what_precedes_a_head_does_not_depend_on_it() -> None:
    both = replace(HEAD, settings=PLAIN.settings, texts=PLAIN.texts)
    more = replace(both, labelled=(*HEAD.labelled, LabelledText("c", 0)))
    assert both.pretraining == more.pretraining == PLAIN
    assert HEAD.pretraining is None


def test_a_backend_that_cannot_train_refuses() -> None:
    spec = MockSpec(name="guesser", backend="mock")
    with pytest.raises(ModelError, match=r"backend 'mock' of guesser cannot train a model"):
        Backends().locate(spec, Path(), PLAIN)


@pytest.mark.parametrize(
    ("losses", "first", "falls"),
    [
        ((4.0, 3.0, 2.0, 1.0), 4, True),
        ((1.0, 2.0, 3.0, 4.0), 4, False),
        ((4.0, 1.0, 5.0, 2.0), 2, True),
        ((4.0, 1.0, 2.0, 5.0), 2, False),
        ((2.0, 2.0), 2, False),
        ((1.0,), 1, True),
    ],
)
def test_each_training_is_looked_at_by_itself(
    losses: tuple[float, ...], first: int, falls: bool
) -> None:
    found = Trained(losses, 1, 1, 1.0, None, "", pretraining_steps=first)
    assert found.falls is falls

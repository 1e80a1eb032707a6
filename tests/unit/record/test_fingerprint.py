"""By what a model behind an address is known again: noise is none, other weights are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_maxrandom.record import Fingerprint

VALUES = np.random.default_rng(1).uniform(-20, -0.1, 19)
BEFORE = Fingerprint("vLLM 1 with m", "2026-01-01T00:00:00+00:00", [*VALUES], 0.05)


def _now(values: np.ndarray) -> Fingerprint:
    return replace(BEFORE, values=values.tolist(), when="2026-01-02T00:00:00+00:00")


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.04])
def test_noise_below_the_tolerance_is_the_same_model(noise: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(1000):
        moved = VALUES + rng.uniform(-noise, noise, VALUES.size)
        assert not BEFORE.change(_now(moved))


def test_one_text_that_the_cache_moved_is_the_same_model() -> None:
    moved = VALUES.copy()
    moved[3] += 0.2
    assert not BEFORE.change(_now(moved))


@pytest.mark.parametrize("shift", [0.06, 0.2, 10])
def test_weights_that_move_nearly_all_texts_are_other_weights(shift: float) -> None:
    signs = np.random.default_rng(3).choice([-1, 1], VALUES.size)
    change = BEFORE.change(_now(VALUES + signs * shift))
    assert f"half of them by {shift:.2g} or more" in change
    told = BEFORE.refusal(_now(VALUES + signs * shift), "the store has answers of")
    assert BEFORE.when in told
    assert "2026-01-02" in told
    assert "\n" not in told


def test_a_fine_tune_of_one_subject_is_another_model() -> None:
    moved = VALUES.copy()
    moved[-2:] -= 1.5
    assert BEFORE.change(_now(moved))


def test_alike_is_more_than_not_told_apart() -> None:
    other = replace(BEFORE, server="vLLM 1 with another name")
    assert BEFORE.is_alike(other)
    half = _now(VALUES + 0.03)
    assert not BEFORE.change(half)
    assert not BEFORE.is_alike(half)
    assert not BEFORE.is_alike(replace(BEFORE, values=[]))
    texts = replace(BEFORE, values=[], texts=["a", "b", "c"])
    assert texts.is_alike(replace(texts))
    assert not texts.is_alike(replace(texts, texts=["a", "b", "d"]))


def test_another_content_is_another_model() -> None:
    one, two = (replace(BEFORE, content=content) for content in ("aa", "bb"))
    assert "SHA-256" in one.change(two)
    assert not one.change(BEFORE)


def test_texts_tell_only_where_none_is_the_same() -> None:
    before = replace(BEFORE, values=[], texts=["a", "b", "c"])
    assert not before.change(replace(before, texts=["x", "b", "y"]))
    assert before.change(replace(before, texts=["x", "y", "z"]))
    assert not before.change(BEFORE)  # nothing can be compared

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import log_softmax, softmax

from pytest_maxrandom.stats.labels import priors
from pytest_maxrandom.stats.labels.priors import NoPrior

close = pytest.approx


def test_the_contextual_prior_is_the_mean_of_normalised_probabilities() -> None:
    logs = np.log([[[0.2, 0.1, 0.1], [0.1, 0.1, 0.3]], [[0.5, 0.1, 0.4], [0.5, 0.1, 0.4]]])
    prior = np.exp(priors.contextual_log_prior(logs))
    assert prior[0].tolist() == close([(0.5 + 0.2) / 2, (0.25 + 0.2) / 2, (0.25 + 0.6) / 2])
    assert prior[1].tolist() == close([0.5, 0.1, 0.4])


@given(st.integers(2, 5), st.integers(1, 4), st.integers(0, 99))
def test_pride_is_softmax_of_the_mean_over_permutations_then_the_mean_over_samples(
    m: int, samples: int, seed: int
) -> None:
    logs = -10 * np.random.default_rng(seed).random((3, samples, m, m))
    truth = softmax(logs.mean(axis=2), axis=-1).mean(axis=1)
    assert np.exp(priors.pride_log_prior(logs)) == close(truth)
    # What all labels of one presentation share says nothing of the labels.
    shared = logs - 5 * np.random.default_rng(seed).random((3, samples, m, 1))
    assert priors.pride_log_prior(shared) == close(priors.pride_log_prior(logs))


def test_priors_of_labels_of_vanishing_probability_keep_their_proportions() -> None:
    logs = np.array([[-2000.0, -2000.0 + np.log(3)], [-3000.0, -1000.0]])
    assert priors.contextual_log_prior(logs) == close(np.log([0.125, 0.875]))
    pride = priors.pride_log_prior(np.array([[[0.0, -3000.0], [0.0, -2000.0]]]))
    assert pride == close([0.0, -2500.0], abs=1e-9)


def test_pride_finds_the_prior_of_a_model_that_multiplies_it_with_what_it_knows() -> None:
    generator = np.random.default_rng(5)
    m, n = 4, 30
    prior = np.array([0.6, 0.2, 0.15, 0.05])
    contents = generator.normal(size=(n, m))
    rotated = np.stack([np.roll(contents, r, axis=1) for r in range(m)], axis=1)
    observed = log_softmax(np.log(prior) + rotated, axis=-1)
    found = priors.pride_log_prior(observed)
    assert np.exp(found) == close(prior)
    answers = priors.without_prior(observed[:, 0], found).argmax(axis=1)
    assert answers.tolist() == contents.argmax(axis=1).tolist()
    assert observed[:, 0].argmax(axis=1).tolist() != contents.argmax(axis=1).tolist()


def test_contextual_calibration_turns_a_constant_answer_around() -> None:
    # Of the worked example: a model that says "positive" with .9 whatever it is asked.
    observed = np.log([[[0.92, 0.08], [0.85, 0.15]]])
    prior = priors.contextual_log_prior(np.log([[[0.9, 0.1]]]))
    assert priors.without_prior(observed, prior).argmax(axis=-1).tolist() == [[0, 1]]


def test_labels_that_an_example_does_not_have_stay_out() -> None:
    observed = np.array([[[-1.0, -2.0, np.nan], [-1.0, -np.inf, -3.0]]])
    scores = priors.without_prior(observed, np.log([[0.5, 0.25, 0.25]]))
    assert scores[0, 0].tolist() == close(
        [-1 - np.log(0.5), -2 - np.log(0.25), np.nan], nan_ok=True
    )
    assert scores[0, 1, 1] == -np.inf


@given(st.integers(1, 4), st.lists(st.integers(2, 4), min_size=40, max_size=200))
def test_a_share_of_each_number_of_choices_is_held_back(seed: int, choices: list[int]) -> None:
    ids = [f"e{i}" for i in range(len(choices))]
    held = priors.held_back(ids, choices, seed=seed)
    for count in set(choices):
        members = np.array(choices) == count
        assert held[members].sum() == max(1, int(0.05 * members.sum() + 0.5))
    again = priors.held_back(ids[::-1], choices[::-1], seed=seed)
    assert again[::-1].tolist() == held.tolist()


def test_another_seed_holds_back_other_examples() -> None:
    ids = [str(i) for i in range(400)]
    one, other = (priors.held_back(ids, [4] * 400, seed=seed) for seed in (0, 1))
    assert one.sum() == other.sum() == 20
    assert one.tolist() != other.tolist()


def test_what_cannot_be_calibrated_is_refused() -> None:
    with pytest.raises(ValueError, match="none remains"):
        priors.held_back(["a"], [2])
    with pytest.raises(ValueError, match="2 ids and 1 numbers"):
        priors.held_back(["a", "b"], [2])
    with pytest.raises(NoPrior, match="finite"):
        priors.contextual_log_prior(np.array([[-np.inf, -1.0]]))
    with pytest.raises(ValueError, match="axes"):
        priors.pride_log_prior(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="without a prior"):
        priors.without_prior(np.zeros((2, 2)), np.array([-np.inf, 0.0]))
    with pytest.raises(ValueError, match="shape"):
        priors.without_prior(np.zeros((2, 2)), np.zeros(3))

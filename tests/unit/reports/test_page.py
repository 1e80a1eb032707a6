"""What the page holds of answers: all of right and wrong, and texts as far as there is room."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_maxrandom.answers import Answers, Maximum
from pytest_maxrandom.record import NOT_COMPARED, Reservation
from pytest_maxrandom.record.packed import pack, unpack
from pytest_maxrandom.reports.page.cells import of_answers, of_lines
from pytest_maxrandom.reports.page.render import headed, html
from tests.page.conftest import answered, claimed, named
from tests.unit.reports.opened import blocks, claims
from tests.unit.reports.page import any_text
from tests.unit.reports.samples import claim, run, untested


@given(st.dictionaries(any_text, any_text | st.integers() | st.none() | st.booleans()))
def test_what_is_packed_comes_out_as_it_was_and_ends_no_element(content: dict[str, Any]) -> None:
    packed = pack(content)
    assert unpack(packed) == content
    assert not set(packed) & set("<>&\"'")


@pytest.mark.parametrize("largest", [25_000, 60_000, 10**7])
def test_texts_are_shortened_until_they_fit_and_nothing_else_is(largest: int) -> None:
    cells, records = {}, []
    for task in ("alpha", "beta"):
        made = answered([f"{task}{row}" for row in range(5)], 40)
        words = np.random.default_rng(len(task)).integers(0, 10**12, size=(40, 120))
        for asked_text, row in zip(made["texts"], words, strict=True):
            asked_text["input"] = " ".join(map(str, row))
        cells[named(task)] = pack(made)
        records.append(claimed(made, id=named(task), task=task))
    text = html(run(*records), cells, largest=largest)
    held = blocks(text)
    assert sum(len(pack(each)) for each in held.values()) <= largest
    asked = [each for name, each in held.items() if name.startswith("texts-")]
    whole = all("left out" not in one["input"] for each in asked for one in each["texts"])
    assert whole == (largest == 10**7)
    assert {each["limit"] < 8000 for each in asked} == {not whole}
    assert [each["cells"]["rows"] for each in claims(text)] == [
        unpack(cells[each["id"]])["rows"] for each in claims(text)
    ]


def recorded(**changed: Any) -> Answers:
    scores = np.array([[[-1.0, -2.0, math.nan], [-3.0, -math.inf, -0.12346]]] * 2)
    known: dict[str, Any] = {
        "model": "m",
        "shots": 0,
        "prompts": ("p", "q"),
        "identities": ("p", "q"),
        "examples": ("x", "y"),
        "correct": np.array([[True, False], [True, True]]),
        "evaluated": np.array([[True, True], [True, True]]),
        "answers": np.array([[0, 0], [0, 2]]),
        "gold": (frozenset({0}), frozenset({2})),
        "chances": (Fraction(1, 2), Fraction(1, 3)),
        "log_likelihoods": scores,
        "inputs": ("Is it?", "Was it?"),
    }
    return Answers(**known | changed)


def test_recorded_answers_are_those_of_the_best_prompt_with_its_scores() -> None:
    cells = of_answers(recorded(), texts=True)
    assert cells is not None
    assert (cells["rows"], cells["best"]) == (["10", "11"], 1)
    first, second = cells["answers"]
    assert (first["chosen"], first["right"], first["scores"]) == (0, [0], [-1.0, -2.0])
    assert (second["chosen"], second["right"]) == (2, [2])
    assert second["scores"] == [-3.0, None, -0.1235]
    assert [each["input"] for each in cells["texts"]] == ["Is it?", "Was it?"]
    hidden = of_answers(recorded(), texts=False)
    assert hidden is not None
    assert "texts" not in hidden


def test_scores_whose_order_is_not_that_of_the_labels_are_left_out() -> None:
    cells = of_answers(recorded(labels=("no", "perhaps", "yes")), texts=False)
    assert cells is not None
    assert cells["labels"] == ["no", "perhaps", "yes"]
    assert [each["scores"] for each in cells["answers"]] == [[], []]


def test_of_a_published_maximum_and_of_no_lines_there_is_nothing_to_show() -> None:
    published = Answers.published(Maximum(10, 5, 7), Fraction(1, 2), model="m", shots=0)
    assert of_answers(published, texts=True) is None
    assert of_lines([]) is None


def test_what_a_gate_finds_afterwards_stands_on_top_of_the_page() -> None:
    bare = run(claim())
    page = html(bare)
    assert headed(page, bare) == page
    found = replace(bare, reservations=[Reservation("gone", "suite.yaml::other[m]")])
    assert html(found).partition("</title>")[0] == headed(page, found).partition("</title>")[0]
    for reason, said in NOT_COMPARED.items():
        top = headed(page, replace(bare, not_compared=reason)).partition("</header>")[0]
        assert top.endswith(f"is not seen: {said}.</p>\n")


def test_a_claim_that_passes_opens_with_its_result_and_the_p_value_that_decides() -> None:
    bounds = {"permutation_p": 0.05, "beats": "max_random"}
    decided = claim(asserted=bounds, permutation_p=0.031)
    found = run(claim(), claim(asserted={}), decided, claim(passes_on="p_max only"))
    opened = claims(html(found, None))
    by_p_max = "45 of 60 correct; needed: .700; p_max = .0013 (claimed: at most .05)"
    assert [shown["why"] for shown in opened] == [
        by_p_max,
        "45 of 60 correct",
        "45 of 60 correct; needed: .700; permutation p = .031 (claimed: at most .05)",
        by_p_max,
    ]
    (shown,) = claims(html(run(decided), None))
    assert ["permutation p", ".031"] in shown["numbers"]
    assert "p_max" not in dict(shown["numbers"])
    (shown,) = claims(html(run(claim()), None))
    assert dict(shown["numbers"])["p_max"] == ".0013"
    (shown,) = claims(html(run(untested(message=None)), None))
    assert shown["why"] == "no reason was recorded"

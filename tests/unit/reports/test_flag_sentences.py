"""What reports say of each red flag."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.record import RedFlag
from pytest_maxrandom.reports.red_flags import sentence

SHARED = {"n": 100, "texts": 25, "alike": ["e0", "e1"], "characters": 200}
OTHERS = {"told": 6, "prompts": 9, "agreeing": 3, "prompt": "8", "is_best": True}
MOST = {"told": 1, "prompts": 40, "agreeing": 39, "prompt": "3", "is_best": False}
NEAR = {"p": 0.0503, "level": 0.05}
LOOK = "check how many choices there are."

SENTENCES: list[tuple[str, dict[str, Any], str]] = [
    (
        "choices",
        {"case": "chance", "choices": [2, 2], "chance": "1/2", "stated": "1/5"},
        "In the results, whose examples have 2 choices, chance is 1/2, but the stated chance is "
        f"1/5: {LOOK}",
    ),
    (
        "choices",
        {"case": "chance", "choices": [3, 5], "chance": 0.2566, "stated": {"1/2": 50, "1/6": 9}},
        "In the results, whose examples have 3 to 5 choices, chance is .257 on average, but the "
        f"stated chance is 1/6 for 9 examples, 1/2 for 50 examples: {LOOK}",
    ),
    (
        "choices",
        {"case": "more", "told": 50, "examples": 100, "labels": 4, "choices": [2, 4]},
        "In 50 of 100 examples the answers and the right answer name up to 4 different choices, "
        f"but the results say 2 to 4 choices: {LOOK}",
    ),
    (
        "choices",
        {"case": "fewer", "labels": 2, "examples": 100, "stated": "1/5"},
        "Only 2 different answers are ever given or right in 100 examples, but the stated chance "
        f"is 1/5: {LOOK}",
    ),
    (
        "choices",
        {"case": "fewer_given", "labels": 2, "examples": 100, "choices": [5, 5]},
        "Only 2 different answers are ever given, and in each of 100 examples that got every one "
        f"of the right ones, one of them is right, but the results say 5 choices: {LOOK}",
    ),
    (
        "complementary_prompts",
        {"prompts": ["2", "5"], "accuracies": [0.2, 0.8], "chance": "1/5"},
        "Prompts '2' and '5' are right on exactly complementary examples (.200 and .800), as the "
        f"two constant answers to questions with two choices are, but chance is 1/5: {LOOK}",
    ),
    (
        "colliding_ids",
        {"ids": 1000, "stated": 1020},
        "The results hold 1,000 example ids, but the stated n is 1,020: check whether examples "
        "share ids, so that one replaced another, or fewer were scored.",
    ),
    (
        "repeated_examples",
        {"n": 100, "different": 1},
        "There are 100 examples, but only 1 different one by text and choices: a model gives "
        "copies the same answer, and a guesser does not, so p-values are too small; check which "
        "field is the input, or remove the copies.",
    ),
    (
        "clustered_answers",
        {"case": "choices", "examples": 90, "n": 100, "alike": ["e0", "e1"], "worth": 25.2},
        "90 of 100 examples offer the same choices as a few others, and examples with the same "
        "choices have the same right answer, such as 'e0' and 'e1': for a model that prefers "
        "certain choices the 100 are worth 25, so p-values are too small; name them as clusters "
        "with `columns: {cluster: ...}`.",
    ),
    (
        "clustered_answers",
        {"case": "text", **SHARED, "beyond_clusters": True, "worth": 25.0},
        "The inputs of 100 examples hold 25 different texts: those of 'e0' and 'e1', for instance, "
        "share 200 characters in a row or more, which the stated clusters do not explain, and "
        "right answers follow the text: for a model that gives each text one answer they are worth "
        "25 examples, so p-values are too small; group them with `columns: {cluster: ...}`.",
    ),
    (
        "shared_text",
        {**SHARED, "beyond_clusters": False, "worth": 25.0},
        "The inputs of 100 examples hold 25 different texts: those of 'e0' and 'e1', for instance, "
        "share 200 characters in a row or more. Right answers do not follow the text, but for a "
        "model that knows only some texts the result is as uncertain as on 25 examples; group them "
        "with `columns: {cluster: ...}`.",
    ),
    (
        "other_examples",
        {"case": "other", **OTHERS, "size": 33, "shared": 0, "usual": 33},
        "6 of 9 prompts were scored on other examples than the largest group that agrees (3 "
        "prompts): '8', the best, shares 0 of its 33.",
    ),
    (
        "other_examples",
        {"case": "fewer", **MOST, "size": 98, "shared": 98, "usual": 100},
        "1 of 40 prompts was scored on fewer examples than most ('3' on 98, not 100), which their "
        "demonstrations do not explain: check whether runs were interrupted.",
    ),
    (
        "other_examples",
        {"case": "more", **MOST, "size": 100, "shared": 60, "usual": 60},
        "1 of 40 prompts was scored on more examples than most ('3' on 100, not 60), which the "
        "others' demonstrations do not explain: check whether runs were interrupted.",
    ),
    (
        "cut_text",
        {"case": "input", "examples": 60, "lengths": [499, 500], "unit": "characters"},
        "The inputs of 60 examples are the longest with exactly 499 to 500 characters each, and "
        "most of them end in the middle of a sentence: check whether their text was cut.",
    ),
    (
        "cut_text",
        {"case": "context", "texts": 30, "pairs": 6000},
        "The texts of 30 of 6,000 (prompt, example) pairs are exactly as long as the model's "
        "context: check whether they were cut to fit.",
    ),
    (
        "constant_scores",
        {"told": 2, "prompts": 20, "different": 1, "examples": 100},
        "2 of 20 prompts give different examples the same scores (as few as 1 different ones for "
        "100 examples): check whether the text was cut before the question.",
    ),
    (
        "tied_scores",
        {"case": "no_numbers", "told": 15, "answers": 100, "best": "7"},
        "15 of 100 answers (15 %) of prompt '7', the best, have scores that are not numbers (NaN): "
        "check the run for overflow.",
    ),
    (
        "tied_scores",
        {"case": "equal", "told": 600, "answers": 2000, "best": None},
        "In 600 of 2,000 answers (30 %) two choices share the highest score exactly: check whether "
        "the scored text distinguishes the choices, and how scores are rounded.",
    ),
    (
        "unread_answers",
        {"told": 6, "answers": 100, "best": "7", "unreadable": 3, "cut": 2, "refused": 1},
        "In 6 of 100 answers (6 %) of prompt '7', the best, nothing could be read, and they "
        "count as wrong: 3 hold none, or several, 2 were cut, 1 refused: check what the model "
        "writes (--maxrandom-predictions), and check max_tokens, stop and pattern of `generation`.",
    ),
    (
        "never_right",
        {"told": 2, "prompts": 20, "guessers": 2, "log_p": math.log(2.5e-7)},
        "2 of 20 prompts are right on no example; of 20 guessers 2 or more are with probability "
        "2.5e-07 at most: check whether texts were cut, answers were misread, or right and wrong "
        "were swapped.",
    ),
    (
        "never_right",
        {"told": 1, "prompts": 1, "guessers": 1, "log_p": -1000.0},
        "The only prompt is right on no example; a guesser is with probability < 1e-300 at most: "
        "check whether texts were cut, answers were misread, or right and wrong were swapped.",
    ),
    (
        "unsteady_prompts",
        {"repeating": 1, "prompts": 40},
        "1 of 40 prompts repeats the ids of an earlier one, but not its results: ids collide, or "
        "results cannot be reproduced; t may be larger.",
    ),
    (
        "identical_models",
        {"case": "scores", "same": 3996, "answers": 4000, "other": "b"},
        "3,996 of 4,000 answers (99.9 %) to the same prompts have exactly the scores of b: check "
        "whether the two are the same model.",
    ),
    (
        "identical_models",
        {"case": "labels", "same": 3996, "answers": 4000, "other": "b", "by_chance": 0.317},
        "3,996 of 4,000 answers (99.9 %) to the same prompts are the same as those of b (by chance "
        "it would be 31.7 %): check whether the two are the same model.",
    ),
    (
        "identical_models",
        {"case": "right", "same": 4000, "answers": 4000, "other": "b", "by_chance": 0.5},
        "4,000 of 4,000 answers (100 %) to the same prompts are right or wrong together with those "
        "of b (by chance it would be 50 %): check whether the two are the same model.",
    ),
    (
        "near_identical_prompts",
        {"told": 29, "prompts": 30, "differing": 0.0, "reached": 0.7},
        "29 of 30 prompts are right on the same examples as the best one, or on exactly the others "
        "(0 % of the answers differ), and its accuracy is .700: one label for every example looks "
        "like that, and only labels could distinguish it from knowledge; give answers and right "
        "answers.",
    ),
    (
        "label_mass",
        {"told": 1, "prompts": 20, "below": 0.01, "least": 0.004},
        "1 of 20 prompts gives all labels together a probability below 1 % (the least is 0.4 %, "
        "mean over the examples): the model would say something else; check the text before the "
        "answer.",
    ),
    (
        "constant_answers",
        {"told": 10, "prompts": 10, "prompt": None, "label": "A", "place": 1, "share": 1.0},
        "10 of 10 prompts give nearly every example the same answer, though others are also right "
        "(the best prompt says 'A' to 100 %): check whether the model reads the questions.",
    ),
    (
        "constant_answers",
        {"told": 6, "prompts": 10, "prompt": "3", "label": None, "place": 2, "share": 0.97},
        "6 of 10 prompts give nearly every example the same answer, though others are also right "
        "('3' says choice 2 to 97 %): check whether the model reads the questions.",
    ),
    (
        "majority",
        {"case": "accuracy", "label": "A", "correct": 45, "n": 100},
        "Always saying 'A' is right on 45 of 100 examples; the best prompt is not above that.",
    ),
    (
        "majority",
        {"case": "score", "label": None, "score": "balanced accuracy", "value": 0.5},
        "Always choosing the same place has a balanced accuracy of .500; the best prompt's is not "
        "above that.",
    ),
    (
        "max_t",
        {"p_max": 1.2e-4, "permutation_p": 0.0501, "level": 0.05},
        "p_max 1.2e-04 is below .05, but the permutation p is .0501: with the right answers "
        "shuffled, the same answers are as good; check which labels the model prefers.",
    ),
    (
        "heuristic",
        {"heuristic": "shortest", "measure": "accuracy", "score": 0.65},
        "Always choosing the shortest choice has an accuracy of .650; the best prompt's is not "
        "above that.",
    ),
    (
        "near_heuristic",
        {"heuristic": "first", "measure": "balanced_accuracy", "score": 0.59, **NEAR, "p": 1.0},
        "Always choosing the first choice as shown has a balanced accuracy of .590; the best "
        "prompt's is above that, but the lead may be chance (sign-flip p > .999, above .05).",
    ),
    (
        "choices_only",
        {"measure": "accuracy", "score": 0.6},
        "With blank inputs the best prompt has an accuracy of .600, and with the questions it is "
        "no better: check what else gives the right choices away.",
    ),
    (
        "near_choices_only",
        {"measure": "accuracy", "score": 0.59, **NEAR},
        "With blank inputs the best prompt has an accuracy of .590; with the questions it is above "
        "that, but the lead may be chance (sign-flip p = .0503, above .05).",
    ),
    (
        "repeated_prompts",
        {"distinct": 40, "asked": 200, "t": 40},
        "Only 40 of 200 prompts are distinct; t = 40 counts those: check how prompts are drawn, "
        "and from how many examples.",
    ),
    (
        "repeated_prompts",
        {"distinct": 1, "asked": 200, "t": 200},
        "Only 1 of 200 prompts is distinct; the claim counts t = 200: check how prompts are drawn, "
        "and from how many examples.",
    ),
    (
        "unpassable",
        {"reasons": [{"part": "p_max", "p": 0.476, "level": 0.05}], "t": 10},
        "The claim can never pass: even if all answers are right, p_max = .476 is above .05 with "
        "t = 10; use more examples or fewer prompts.",
    ),
]


@pytest.mark.parametrize(("kind", "parameters", "said"), SENTENCES)
def test_a_flag_is_worded(kind: str, parameters: dict[str, Any], said: str) -> None:
    assert sentence(RedFlag(kind, "warn", parameters=parameters)) == said


def test_every_sentence_is_shown_here_or_on_its_page() -> None:
    shown = {(kind, parameters.get("case")) for kind, parameters, _ in SENTENCES}
    for page in (Path(__file__).parents[3] / "docs" / "how-to" / "red-flags").glob("*.md"):
        for kind, parameters in re.findall(
            r"<!-- flag: (\w+) (\{.*\}) -->", page.read_text("utf-8")
        ):
            known = json.loads(parameters)
            assert sentence(RedFlag(kind, "warn", parameters=known))
            shown.add((kind, known.get("case")))
    assert shown == {
        (kind, case)
        for kind, each in KINDS.items()
        for case in ([None] if isinstance(each.sentences, str) else each.sentences)
    }


@pytest.mark.parametrize(
    "parameters", [{}, {"ids": 5}, {"ids": "five", "stated": 6}, {"case": "x"}]
)
def test_what_cannot_be_worded_keeps_its_sentence(parameters: dict[str, Any]) -> None:
    told = RedFlag("colliding_ids", "fail", "Two share an id.", parameters)
    assert sentence(told) == "Two share an id."

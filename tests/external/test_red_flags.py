"""Published results with known faults: each is found where it is, and nowhere else."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.claims.recorded_claims import plan_recorded
from pytest_maxrandom.flags import Flag, JudgedAnswers, find
from pytest_maxrandom.stats.permutation import max_t_test
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite
from tests.unit.flags.made import answered, result, seen, worded
from tests.unit.recorded.suites import flags

if TYPE_CHECKING:
    from collections.abc import Iterable


SUITES = Path(__file__).parents[2] / "eval_suites" / "paper"
MODELS = ("Llama-2-7b", "OLMo-7B", "falcon-7b")
SHOTS = (1, 2, 4)


class Key(NamedTuple):
    model: str
    task: str
    shots: int


def of_tasks(*tasks: str, shots: Iterable[int] = SHOTS) -> set[Key]:
    return {Key(model, task, many) for model in MODELS for task in tasks for many in shots}


def found(data_dir: Path, name: str) -> dict[Key, list[Flag]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAXRANDOM_DATA", str(data_dir))
        suite = load_any_suite(SUITES / name)
        assert isinstance(suite, RecordedSuite)
        claims = plan_recorded(suite)
    return {
        Key(claim.model.name, claim.task, claim.shots or 0): flags(claim, None, *claims)
        for claim in claims
    }


@pytest.fixture(scope="module")
def as_published(data_dir: Path) -> dict[Key, list[Flag]]:
    return found(data_dir, "as_published.yaml")


@pytest.fixture(scope="module")
def counted(data_dir: Path) -> dict[Key, list[Flag]]:
    return found(data_dir, "counted.yaml")


@pytest.fixture(scope="module")
def experiments(data_dir: Path) -> dict[Key, dict[str, str]]:
    with (data_dir / "paper" / "experiments.csv").open(newline="") as lines:
        return {
            Key(row["model"], row["dataset"], int(row["shots"])): row
            for row in csv.DictReader(lines)
        }


def flagged(results: dict[Key, list[Flag]], kind: str) -> dict[Key, str]:
    return {
        key: worded(flag) for key, all_ in results.items() for flag in all_ if flag.kind == kind
    }


def test_a_task_of_two_choices_is_found_by_complementary_prompts(
    as_published: dict[Key, list[Flag]], counted: dict[Key, list[Flag]]
) -> None:
    """Fault 2: it is declared to have five."""
    told = flagged(as_published, "complementary_prompts")
    assert told.keys() == of_tasks("winowhy")
    assert all("complementary examples (.450 and .550)" in text for text in told.values())
    assert flagged(counted, "complementary_prompts") == {}  # where two are stated


def test_colliding_ids_are_found_in_five_tasks(
    as_published: dict[Key, list[Flag]],
    counted: dict[Key, list[Flag]],
    experiments: dict[Key, dict[str, str]],
) -> None:
    """Fault 3."""
    ids = {
        "conceptual_combinations": 40,
        "strange_stories": 121,
        "bbq_lite_json": 183,
        "logical_deduction": 179,
        "symbol_interpretation": 136,
    }
    for results in (as_published, counted):
        told = flagged(results, "colliding_ids")
        assert told.keys() == of_tasks(*ids)
        for key, text in told.items():
            n = experiments[key]["n_nominal"]
            assert text.startswith(
                f"The results hold {ids[key.task]} example ids, but the stated n is {n}: check"
            )


def test_ids_that_collide_in_demonstrations_are_found_by_other_results(
    counted: dict[Key, list[Flag]],
) -> None:
    """In winowhy it is the prompt of fault 7 that repeats the ids of another."""
    assert flagged(counted, "unsteady_prompts").keys() == {
        Key("Llama-2-7b", "winowhy", 1),
        Key("OLMo-7B", "conceptual_combinations", 1),
        Key("OLMo-7B", "strange_stories", 1),
        Key("OLMo-7B", "symbol_interpretation", 1),
        Key("falcon-7b", "symbol_interpretation", 1),
        Key("falcon-7b", "logical_deduction", 1),
    }


def test_prompts_without_any_right_answer_are_found(
    counted: dict[Key, list[Flag]], experiments: dict[Key, dict[str, str]]
) -> None:
    """Fault 4, where the text was cut; so many of 200 guessers are right nowhere with 2e-5."""
    told = flagged(counted, "never_right")
    assert told.keys() == {
        Key("Llama-2-7b", "code_line_description", 4),
        Key("Llama-2-7b", "formal_fallacies_syllogisms_negation", 2),
        *of_tasks("formal_fallacies_syllogisms_negation", shots=[4]),
        *of_tasks("play_dialog_same_or_different", shots=[2, 4]),
        *of_tasks("vitaminc_fact_verification", shots=[4]),
    }
    zero = {key: int(row["n_prompts_zero_correct"]) for key, row in experiments.items()}
    for key, text in told.items():
        assert text.startswith(f"{zero[key]} of ")
    # Once it is one prompt of 200, with 56 examples of four choices.
    assert zero[Key("Llama-2-7b", "code_line_description", 4)] == 1
    assert stats.binom.sf(0, 200, 0.75**56) == pytest.approx(2e-5, rel=0.02)
    assert told.keys() == {key for key in zero if zero[key]}


def test_repeated_prompts_are_found(
    as_published: dict[Key, list[Flag]],
    counted: dict[Key, list[Flag]],
    experiments: dict[Key, dict[str, str]],
) -> None:
    """Fault 6: 200 were drawn with replacement; in 60 experiments fewer are distinct than t."""
    distinct = {key: int(row["n_distinct_demos"]) for key, row in experiments.items()}
    for results in (as_published, counted):
        told = flagged(results, "repeated_prompts")
        assert told.keys() == {key for key, many in distinct.items() if many < 200}
        assert len(told) == 63
        for key, text in told.items():
            assert text.startswith(f"Only {distinct[key]} of 200 prompts are distinct; ")
    published = flagged(as_published, "repeated_prompts")
    above = {key for key, text in published.items() if "the claim counts t = " in text}
    assert above == {key for key, row in experiments.items() if distinct[key] < int(row["t"])}
    assert len(above) == 60


def test_the_prompt_with_other_examples_is_found(counted: dict[Key, list[Flag]]) -> None:
    """Fault 7."""
    (told,) = flagged(counted, "other_examples").items()
    assert told == (
        Key("Llama-2-7b", "winowhy", 1),
        "1 of 191 prompts was scored on other examples than most: '0' shares 13 of its 200.",
    )


def test_prompts_that_are_one_answer_pattern_are_found(
    as_published: dict[Key, list[Flag]],
    counted: dict[Key, list[Flag]],
    experiments: dict[Key, dict[str, str]],
) -> None:
    """Fault 5, without labels: a constant answer scores .675 on play_dialog, .550 on winowhy."""
    told = flagged(counted, "near_identical_prompts")
    assert told.keys() == of_tasks("play_dialog_same_or_different", shots=[1])
    assert all("its accuracy is .675: one label for" in text for text in told.values())
    assert {float(experiments[key]["best_accuracy"]) for key in told} == {0.675}
    # With five choices declared, constant answers to two are far above guessers.
    assert flagged(as_published, "near_identical_prompts").keys() == {
        *told,
        Key("Llama-2-7b", "winowhy", 1),
        Key("OLMo-7B", "winowhy", 1),
        Key("falcon-7b", "winowhy", 2),
    }


def test_nothing_else_is_found(
    as_published: dict[Key, list[Flag]], counted: dict[Key, list[Flag]]
) -> None:
    known = {"colliding_ids", "other_examples", "unsteady_prompts", "never_right"}
    known |= {"repeated_prompts", "near_identical_prompts"}
    assert {flag.kind for all_ in counted.values() for flag in all_} == known
    assert {flag.kind for all_ in as_published.values() for flag in all_} == {
        *known,
        "complementary_prompts",
    }


def sample(path: Path) -> JudgedAnswers:
    """Return what is seen of the losses of right answers."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    rows = [*csv.DictReader(text.splitlines())]
    prompts: dict[str, dict[str, tuple[float, bool]]] = defaultdict(dict)
    for row in rows:
        loss, right = float(row["Loss of correct answer"]), row["Correct prediction"] == "1"
        prompts[row["Prompt ID"]][row["Example ID"]] = -loss, right
    examples = [*dict.fromkeys(row["Example ID"] for row in rows)]
    scores = np.full((len(prompts), len(examples), 1), np.nan)
    correct = np.zeros(scores.shape[:2], dtype=np.bool_)
    places = {example: place for place, example in enumerate(examples)}
    for row_number, cells in enumerate(prompts.values()):
        for example, (score, right) in cells.items():
            scores[row_number, places[example], 0] = score
            correct[row_number, places[example]] = right
    return seen(
        correct, evaluated=~np.isnan(scores[..., 0]), log_likelihoods=scores, shots=4,
        chance=Fraction(1, 5),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("OLMo-7B_emoji_movie_4-shot.csv", []),
        ("OLMo-7B_formal_fallacies_syllogisms_negation_1-shot.csv.gz", []),
        ("OLMo-7B_novel_concepts_1-shot.csv", []),
        (
            "OLMo-7B_symbol_interpretation_4-shot.csv.gz",
            [
                "200 of 200 prompts give different examples the same scores (as few as 16 "
                "different ones for 136 examples): check whether the text was cut before the "
                "question."
            ],
        ),
    ],
)
def test_losses_that_do_not_depend_on_the_example_are_found(
    data_dir: Path, name: str, told: list[str]
) -> None:
    """Fault 4 in the samples: with four long demonstrations nothing is left of the question."""
    constant = [f for f in find(sample(data_dir / "paper" / "samples" / name))
                if f.kind == "constant_scores"]  # fmt: skip
    assert [worded(flag) for flag in constant] == told


@pytest.fixture(scope="module")
def label_bias(data_dir: Path) -> dict[str, dict[str, np.ndarray]]:
    return {
        model: dict(np.load(data_dir / "label_bias" / f"{model}.npz"))
        for model in ("GPT2", "LLaMa3-8B", "Mistral-7B")
    }


def asked(arrays: dict[str, np.ndarray], variant: str) -> JudgedAnswers:
    """Return what is seen of one prompt with all questions; letters are scored in the cloze."""
    scores = arrays[f"{variant}__logprob"].astype(np.float64)[np.newaxis]
    return answered(
        scores.argmax(axis=2),
        arrays[f"{variant}__gold"].astype(int).tolist(),
        choices=(4,) * scores.shape[1],
        log_likelihoods=scores,
        labelled=np.array([variant.endswith("cloze")]),
    )


def test_tied_scores_are_found_in_two_models_counterfactuals(
    label_bias: dict[str, dict[str, np.ndarray]],
) -> None:
    """Mistral's never-X files have four equal scores in 57.6 %; GPT-2's are rounded."""
    told = {}
    for model, arrays in label_bias.items():
        for variant in {name.rsplit("__", 1)[0] for name in arrays if name.endswith("logprob")}:
            for flag in find(asked(arrays, variant)):
                if flag.kind == "tied_scores":
                    told[model, variant] = worded(flag).split("(")[1].split(")")[0]
    never = [f"never_{label}_cf" for label in "ABCD"]
    assert {key: share for key, share in told.items() if key[0] == "Mistral-7B"} == {
        ("Mistral-7B", variant): "57.6 %" for variant in never
    }
    others = {key for key in told if key[0] != "Mistral-7B"}
    assert others == {("GPT2", variant) for variant in [*never, "cf"]}
    scores = np.sort(label_bias["GPT2"]["cf__logprob"], axis=1)
    assert told["GPT2", "cf"] == f"{100 * (scores[:, 3] == scores[:, 2]).mean():.3g} %"


def test_hardly_any_mass_on_the_letters_is_found_in_mistral(
    label_bias: dict[str, dict[str, np.ndarray]],
) -> None:
    told = {
        model: [worded(flag) for flag in find(asked(arrays, "cloze")) if flag.kind == "label_mass"]
        for model, arrays in label_bias.items()
    }
    assert told["GPT2"] == told["LLaMa3-8B"] == []
    (text,) = told["Mistral-7B"]
    mass = np.exp(label_bias["Mistral-7B"]["cloze__logprob"].astype(float)).sum(axis=1).mean()
    assert f"(the least is {100 * mass:.3g} %" in text


def test_one_label_for_everything_is_found_in_gpt2(
    label_bias: dict[str, dict[str, np.ndarray]],
) -> None:
    """It says A to 98 %."""
    for model, arrays in label_bias.items():
        told = {f.kind: worded(f) for f in find(asked(arrays, "cloze"))}
        assert ("constant_answers" in told) == (model == "GPT2")
    told = {f.kind: worded(f) for f in find(asked(label_bias["GPT2"], "cloze"))}
    assert "says 'A' to 98.2 %" in told["constant_answers"]


def test_a_label_that_beats_guessers_is_found_in_gpt2(
    data_dir: Path, label_bias: dict[str, dict[str, np.ndarray]]
) -> None:
    """Fault 5: in one subject of MMLU, nearly always A is above chance (p = .018)."""
    arrays = label_bias["GPT2"]
    subjects = json.loads((data_dir / "label_bias" / "subjects.json").read_text())
    one = arrays["subject"] == subjects.index("human_aging")
    part = {name: values[one] for name, values in arrays.items() if len(values) == len(one)}
    shown = asked(part, "cloze").answers
    assert shown.answers is not None
    correct, n = int(shown.correct.sum()), int(one.sum())
    p_max = float(stats.binom.sf(correct - 1, n, 1 / 4))
    test = max_t_test(shown.answers, part["cloze__gold"].astype(int))
    assert p_max == pytest.approx(0.0185, abs=1e-4)
    judged = result(correct, n, p_max=p_max, permutation_p=test.p_value)
    sweep = answered(shown.answers, part["cloze__gold"].astype(int).tolist(), result=judged)
    told = {flag.kind: worded(flag) for flag in find(sweep)}
    assert told.keys() == {"constant_answers", "majority", "max_t"}
    most = np.bincount(part["cloze__gold"].astype(int)).max()
    assert f"is right on {most} of {n} examples; the best prompt is not above" in told["majority"]


def test_the_three_models_are_three(label_bias: dict[str, dict[str, np.ndarray]]) -> None:

    shown = {model: asked(arrays, "cloze") for model, arrays in label_bias.items()}
    named = [replace(each.read, model=model) for model, each in shown.items()]
    judged = [replace(each, read=read) for each, read in zip(shown.values(), named, strict=True)]
    for one in judged:
        told = [flag.kind for flag in find(replace(one, others=tuple(named)))]
        assert "identical_models" not in told
    again = replace(named[1], model="again")
    told = [flag.kind for flag in find(replace(judged[1], others=(again,)))]
    assert "identical_models" in told


TASKS = (
    "causal_judgement", "date_understanding", "disambiguation_qa", "geometric_shapes",
    "movie_recommendation", "ruin_names", "snarks",
)  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
def test_real_tasks_are_not_cut(data_dir: Path, name: str) -> None:
    file = data_dir / "bigbench" / f"{name}.json"
    examples = json.loads(file.read_text(encoding="utf-8"))["examples"]
    inputs = tuple(example["input"] for example in examples)

    def told(texts: tuple[str, ...]) -> list[str]:
        found = find(seen(np.ones((1, len(texts))), inputs=texts))
        return [flag.kind for flag in found if flag.kind == "cut_text"]

    assert told(inputs) == []
    half = max(map(len, inputs)) // 2
    if name in ("causal_judgement", "date_understanding", "snarks"):  # the longest of them
        assert told(tuple(text[:half] for text in inputs)) == ["cut_text"]

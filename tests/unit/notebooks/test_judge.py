"""`judge` of results in memory: the same numbers as a suite, whatever the results are made of."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml

from pytest_maxrandom import MaxRandomBaseline, judge, judge_each, read_report
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.reports.results import dump
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.stats.best_models import best_models
from pytest_maxrandom.studies.plan import plan_file
from tests.unit.recorded.suites import write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord

DRAW = random.Random(39)
T, N = 6, 40
GOLD = [DRAW.choice(["yes", "no"]) for _ in range(N)]
SAID = [
    [right if DRAW.random() < 0.3 else DRAW.choice(["yes", "no"]) for right in GOLD]
    for _ in range(T)
]
RIGHT = [sum(map(str.__eq__, row, GOLD)) for row in SAID]
CHOICES = ["yes", "no"]
CLUSTERS = [f"c{example // 4}" for example in range(N)]


def rows(**names: str) -> list[dict[str, Any]]:
    return [
        {
            names.get("prompt", "prompt"): f"p{prompt}",
            names.get("example", "example"): example,
            names.get("prediction", "prediction"): said,
            names.get("gold", "gold"): GOLD[example],
            names.get("cluster", "cluster"): CLUSTERS[example],
        }
        for prompt, row in enumerate(SAID)
        for example, said in enumerate(row)
    ]


def columns(**names: str) -> dict[str, list[Any]]:
    table = rows(**names)
    return {name: [row[name] for row in table] for name in table[0]}


def of_suite(folder: Path, content: list[dict[str, Any]], **keys: Any) -> ClaimRecord:
    """The record of the only claim of a suite about a CSV file."""
    write_csv(folder / "a.csv", content)
    results = {"path": "a.csv", "format": "table", "shots": 0, **keys.pop("results", {})}
    suite = {
        "models": [{"name": "model", "backend": "recorded", "results": results}],
        "tasks": [{"name": "task", **keys.pop("task", {})}],
        **keys,
    }
    (folder / "a.maxrandom.yaml").write_text(yaml.safe_dump(suite))
    [claim] = plan_file(folder / "a.maxrandom.yaml")
    assert isinstance(claim, RecordedClaim)
    record = result_of_recorded(claim).record(claim.record("results::task[model-0shot]", "results"))
    word(record)
    return record


def as_in_file(record: ClaimRecord) -> ClaimRecord:
    """A record without where its results are, and what a whole run says."""
    return replace(record, recorded=None, line=1, outcome=None, adjusted_p=None)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"task": {"chance": 0.5}}, {"chance": "1/2"}),
        ({"task": {"t": 50}, "assert": {"p_max": 0.05}}, {"t": 50, "claim": {"p_max": 0.05}}),
        ({"metric": "macro_f1"}, {"metric": "macro_f1"}),
        (
            {"incumbent": {"prompt": "p1"}, "assert": {"better_than": "incumbent"}},
            {"incumbent": "p1", "claim": {"better_than": "incumbent"}},
        ),
        ({"assert": "report"}, {"claim": "report"}),
    ],
)
def test_it_says_what_a_suite_says(
    tmp_path: Path, keys: dict[str, Any], said: dict[str, Any]
) -> None:
    listed = {} if "chance" in said else {"choices": json.dumps(CHOICES)}
    choices = CHOICES if listed else None
    expected = of_suite(tmp_path, [{**row, **listed} for row in rows()], **keys)
    found = judge(rows(), choices=choices, **said)
    assert as_in_file(found.record) == as_in_file(expected)
    assert found.passed == (expected.passed if expected.asserted else None)


SCORED: list[dict[str, Any]] = [
    {"prompt": p, "example": e, "f1": round(draw.random(), 2)}
    for draw in [random.Random(3)]
    for p in ("a", "b", "blank")
    for e in range(N)
]
TRUTH = [DRAW.choice(["Oslo", "Rome", "12", "7.5"]) for _ in range(N)]
OPEN: list[dict[str, Any]] = [
    {"prompt": p, "example": e, "said": right if DRAW.random() < 0.6 else "Bonn", "truth": right,
     "asked": f"What is it {e}?"}
    for p in range(T)
    for e, right in enumerate(TRUTH)
]  # fmt: skip
OPEN_COLUMNS: dict[str, Any] = {"prediction": "said", "reference": "truth", "input": "asked"}
WORDS = [{**row, "said": f"it is {row['said']}"} for row in OPEN]
OPEN_SEVERAL = [
    row | {"take": take, "said": row["said"] if take else "Rome"}
    for row in OPEN
    for take in range(2)
]
SEVERAL = [row | {"take": take, "choices": 2} for row in rows() for take in range(2)]


@pytest.mark.parametrize(
    ("content", "columns", "keys"),
    [
        (SCORED, {"score": "f1"}, {"assert": {"beats": 0.3}}),
        (SCORED, {"score": "f1"}, {"assert": {"control_p": 0.05}, "control": {"prompt": "blank"}}),
        (OPEN, OPEN_COLUMNS, {}),
        (WORDS, OPEN_COLUMNS, {"scoring": "f1", "assert": {"beats": 0.3}}),
        (OPEN_SEVERAL, OPEN_COLUMNS | {"sample": "take"}, {"aggregate": "all"}),
        (SEVERAL, {"sample": "take"}, {}),
        (SEVERAL, {"sample": "take"}, {"aggregate": {"pass": 1}}),
    ],
)
def test_scores_open_answers_and_samples_are_those_of_a_suite(
    tmp_path: Path, content: list[dict[str, Any]], columns: dict[str, Any], keys: dict[str, Any]
) -> None:
    said = {"claim": keys.get("assert"), "control": keys.get("control", {}).get("prompt")}
    results = {"scoring": keys.pop("scoring")} if "scoring" in keys else {}
    found = judge(content, **columns, **said, **results, aggregate=keys.get("aggregate"))
    expected = of_suite(tmp_path, content, results={"columns": columns} | results, **keys)
    assert as_in_file(found.record) == as_in_file(expected)
    assert f"t = {found.t}" in str(found)


def test_a_column_has_the_role_that_is_named() -> None:
    marks = [{**row, "f1": row["f1"] > 0.5} for row in SCORED]
    named = judge(marks, correct="f1", choices=2, claim={"p_max": 0.05})
    counts = Counter(row["prompt"] for row in marks if row["f1"])
    assert named.best_correct == max(counts.values())
    renamed = [{**row, "reference": row["gold"]} for row in rows()]
    of_gold = judge(renamed, gold="reference", choices=CHOICES).record
    assert of_gold.correct_counts == RIGHT
    assert not of_gold.roles
    with pytest.raises(RecordedError, match="numbers between stand in a column `score`"):
        judge(SCORED, correct="f1", choices=2)


def test_a_reference_that_is_named_counts_beside_a_score_that_nobody_named() -> None:
    names = ("Ann", "Bob", "Cy", "Dee", "Eve")
    facts = [
        {"prompt": f"p{prompt}", "example": f"e{i}", "question": f"Who did job {i}?"}
        | {"prediction": names[(i + (i % 3 == prompt)) % 5], "reference": names[i % 5]}
        for prompt in range(3)
        for i in range(30)
    ]
    scored = [row | {"score": 0.5} for row in facts]
    said: dict[str, Any] = {
        "prediction": "prediction",
        "reference": "reference",
        "input": "question",
    }
    alone, named = judge(facts, **said), judge(scored, **said)
    assert named.record.best_correct == alone.record.best_correct == 20
    assert named.record.permutation_p == alone.record.permutation_p
    for more in ({"prediction": "prediction"}, said | {"score": "score"}):
        assert judge(scored, **more).record.metric == "score"


def _pandas() -> Any:
    return pytest.importorskip("pandas").DataFrame(columns())


def _arrow() -> Any:
    return pytest.importorskip("pyarrow").table(columns())


def _categories() -> Any:
    return _pandas().astype({"prediction": "category", "gold": "string", "example": "Int64"})


def _arrays() -> Any:
    return {name: np.array(each) for name, each in columns().items()}


def _grid() -> Any:
    return {
        "prediction": np.array(SAID),
        "gold": np.array(GOLD),
        "cluster": CLUSTERS,
        "prompt": [f"p{prompt}" for prompt in range(T)],
    }


@pytest.mark.parametrize("made", [_pandas, _arrow, _categories, columns, _arrays, _grid])
def test_it_takes_tables_of_all_kinds(made: Any) -> None:
    expected, found = judge(rows(), choices=CHOICES), judge(made(), choices=CHOICES)
    assert as_in_file(found.record) == as_in_file(expected.record)
    assert found.record.correct_counts == RIGHT
    assert found.record.clusters == N // 4


def test_its_numbers_are_those_of_the_definition() -> None:
    right = np.array([[said == gold for said, gold in zip(row, GOLD, strict=True)] for row in SAID])
    found = judge({"correct": right}, choices=2, claim={"p_max": 0.05})
    baseline = MaxRandomBaseline(N, 0.5, T)
    assert (found.n, found.t, found.best_correct) == (N, T, max(RIGHT))
    assert found.p_max == pytest.approx(baseline.p_value(correct=max(RIGHT)))
    assert found.max_random_baseline == pytest.approx(baseline.expected_accuracy)
    assert found.needed == baseline.critical_count(0.05)
    assert found.passed == (max(RIGHT) >= (found.needed or N + 1))


def test_it_is_true_where_it_passes_and_in_no_other_case() -> None:
    every = judge({"prediction": np.array([GOLD]), "gold": GOLD}, choices=CHOICES)
    assert every
    assert every.passed is True
    right = np.array([[True] * N])
    untold = judge({"correct": right}, choices=2)
    assert not untold
    assert untold.passed is None
    assert "only right and wrong are known" in (untold.why or "")
    gold: dict[str, Any] = {"gold": GOLD}
    for given, kind in ((gold, "choices_unlisted"), ({}, "only_right_and_wrong")):
        known = judge({"correct": right, **given}, choices=2)
        assert known.record.cannot_tell is not None
        assert known.record.cannot_tell.kind == kind
        assert "or claim `p_max` by name" in known.record.cannot_tell.text
    # Right answers that are all the same say which other ones would help.
    same = judge({"prediction": np.array([["yes"] * N]), "gold": ["yes"] * N}, choices=2)
    assert same.passed is None
    assert "are the same: add examples with other right answers (" in (same.why or "")
    # Of clusters p_max by name takes examples for independent, and is no way out.
    for given, kind in ((gold, "answers_not_given"), ({}, "only_right_and_wrong")):
        known = judge({"correct": right, "cluster": CLUSTERS, **given}, choices=2)
        assert known.record.cannot_tell is not None
        assert known.record.cannot_tell.kind == f"{kind}_of_clusters"
        assert "or claim `p_max` by name" not in known.record.cannot_tell.text
        assert "one example of each cluster, declare none" in known.record.cannot_tell.text
    assert judge({"correct": right, "gold": GOLD}, choices=CHOICES).record.passes_on == "p_max only"
    none = judge(
        {"correct": ~right | [[True, *[False] * (N - 1)]]}, choices=2, claim={"p_max": 0.1}
    )
    assert not none
    assert none.passed is False
    assert judge({"correct": right}, choices=2, claim="report").passed is None


def test_an_argument_that_is_none_is_told() -> None:
    with pytest.raises(TypeError, match="no argument 'predictions'; did you mean 'prediction'"):
        judge_each(rows(), predictions="said")


def test_names_are_columns_or_what_they_say() -> None:
    table = [row | {"llm": "m", "k": 2} for row in rows()]
    assert judge(table, choices=2, model="llm", task="mine", shots="k").name == "mine[m-2shot]"
    assert judge(table, choices=2, model="gpt", shots=1).name == "task[gpt-1shot]"


def test_each_model_is_a_claim_of_its_own_adjusted_for_their_number() -> None:
    table = [row | {"llm": model} for model in "mn" for row in rows()]
    table += [row | {"llm": "o", "prediction": "yes"} for row in rows()]
    with pytest.raises(ValueError, match=r"hold 3 claims: .*judge_each"):
        judge(table, choices=2, model="llm")
    found = judge_each(table, choices=2, model="llm")
    assert [each.record.model for each in found.claims] == ["m", "n", "o"]
    alone = judge(rows(), choices=2)
    assert found.claims[0].permutation_p == alone.permutation_p
    assert found.claims[0].record.adjusted_p == pytest.approx(
        min(1, 3 * (alone.record.adjusted_p or 1))
    )


@pytest.mark.parametrize(
    ("results", "said", "told"),
    [
        (rows(gold="label"), {}, "no column 'gold' for gold; .* it may be gold='label'"),
        (
            rows(gold="Gold Label (final)", prompt="Prompt Nr.", prediction="Said"),
            {"prompt": "Prompt"},
            "no columns 'Prompt', 'prediction', 'gold' for .*prompt='Prompt Nr.', "
            "prediction='Said', gold='Gold Label",
        ),
        (rows(), {}, "give `choices` .* or `chance` .* the right answers are 'no', 'yes'"),
        (rows(), {"choices": 2, "claim": {"p_mx": 0.1}}, "`claim.p_mx`; did you mean `p_max`"),
        (rows(), {"choices": 2, "claim": {"p_max": 2}}, "`claim.p_max`: found 2"),
        (rows(), {"choices": 2, "t": 3}, "^t: found 3, but the results are of 6"),
        (rows(), {"choices": 2, "shots": "few"}, "shots: there is no column 'few'"),
        (rows(), {"choices": "many"}, "no column 'many' for choices"),
    ],
)
def test_what_is_said_wrongly_is_one_sentence(
    results: Any, said: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        judge(results, **said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ("a.csv", "found str, expected a data frame"),
        ([], "there are no rows"),
        ({}, "there are no rows"),
        ({"prompt": [1, 2], "example": [1]}, "'example' has 1 values, but 'prompt' has 2"),
        ({"correct": np.zeros((2, 3)), "gold": [1, 2]}, "'gold' has 2 values, .* each example, 3"),
        ({"correct": np.zeros((2, 3)), "x": np.zeros((3, 2))}, r"'x' has the shape \(3, 2\)"),
        ({"correct": np.zeros((2, 3, 4, 5))}, "an array of 4 dimensions"),
        ({"correct": np.full((2, 3), 0.5)}, "row 1: correct is '0.5', expected 0 or 1"),
        ([*rows(), rows()[0]], "already has an answer to example '0' in row 1"),
        ([row | {"prediction": None} for row in rows()], "row 1: prediction is empty"),
        ([row | {"gold": object()} for row in rows()], "row 1: gold holds a value of type object"),
    ],
)
def test_results_that_cannot_be_read_are_told_with_their_row(results: Any, told: str) -> None:
    with pytest.raises(RecordedError, match=told):
        judge(results, choices=2)


@pytest.mark.slow
def test_neither_pytest_nor_matplotlib_nor_pandas_is_needed() -> None:
    script = (
        "import sys\n"
        "for name in ('pytest', '_pytest', 'torch', 'matplotlib', 'pandas', 'pyarrow'):\n"
        "    sys.modules[name] = None\n"
        "from pytest_maxrandom import judge\n"
        "right = [e % 2 for e in range(20)]\n"
        "table = {'prompt': [0] * 20, 'example': range(20), 'prediction': right, 'gold': right}\n"
        "claim = judge(table, choices=[0, 1])\n"
        "assert claim.passed and '<iframe' in claim._repr_html_() and claim.rows()\n"
        "try:\n"
        "    claim.to_frame()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "rows()" in done.stdout


def test_what_is_shown_reaches_nothing_around_it() -> None:
    shown = judge(rows(), choices=2, task="<script>alert(1)</script>\"'")._repr_html_()
    outside, _, frame = shown.partition("<iframe ")
    assert "<script" not in outside
    head, _, rest = frame.partition('srcdoc="')
    page, _, rest = rest.partition('"')
    assert 'sandbox="allow-scripts"' in head
    assert "<" not in page
    assert rest.count("<") == 1  # that which closes the frame


def test_reports_and_frames_have_the_numbers_of_the_records(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    found = judge_each([row | {"llm": m} for m in "mn" for row in rows()], choices=2, model="llm")
    (tmp_path / "report.json").write_text(dump(found.record))
    again = read_report(tmp_path / "report.json")
    assert [each.record for each in again.claims] == [each.record for each in found.claims]
    for report in (found, again):
        frame = report.to_frame()
        assert frame["model"].tolist() == ["m", "n"]
        assert frame["best_correct"].tolist() == [max(RIGHT)] * 2
        assert frame["permutation_p"].tolist() == [each.permutation_p for each in found.claims]
    assert found.claims[0].to_frame().shape == (1, frame.shape[1])
    assert "| " in found.claims[0].report()
    assert found.report("csv").count("\n") == 3
    with pytest.raises(ValueError, match="did you mean 'markdown'"):
        found.report("markdwn")


def test_figures_are_those_of_the_run() -> None:
    pytest.importorskip("matplotlib")
    claim = judge(rows(), choices=2)
    assert claim.figure().axes
    with pytest.raises(ValueError, match="did you mean 'histogram'"):
        claim.figure("histogramm")
    with pytest.raises(ValueError, match="nothing to draw"):
        claim.figure("label_bias")


def test_open_answers_show_nothing_without_their_questions() -> None:
    found = judge(OPEN, **OPEN_COLUMNS)
    assert found.passed
    assert sum(found.record.roles.values()) == N
    untold = judge(OPEN, prediction="said", reference="truth")
    assert untold.passed is None
    assert "do not tell the questions" in (untold.why or "")


@pytest.mark.parametrize(
    ("bounds", "told"),
    [({"p_max": 0.05}, True), ({"union_p": 0.05}, True), ({"permutation_p": 0.05}, False)],
)
def test_what_takes_examples_in_clusters_for_independent_says_so(
    bounds: dict[str, Any], told: bool
) -> None:
    found = judge(rows(), choices=2, cluster="cluster", claim=bounds)
    assert ("counted_one_by_one" in [each.kind for each in found.record.notes]) == told
    alone = judge(rows(cluster="passage"), choices=2, claim=bounds)
    assert "counted_one_by_one" not in [each.kind for each in alone.record.notes]


def test_texts_of_an_array_are_texts_in_lists_of_choices_too() -> None:
    listed = [{**row, "choices": [*np.array(CHOICES)]} for row in rows()]
    plain = [{**row, "choices": CHOICES} for row in rows()]
    assert judge(listed).permutation_p == judge(plain).permutation_p


@pytest.mark.parametrize("bounds", [{"beats": "max_random"}, {"permutation_p": 0.05}])
def test_open_answers_in_two_clusters_show_nothing_and_keep_their_baseline(
    bounds: dict[str, Any],
) -> None:
    halves = [{**row, "half": row["example"] < N // 2} for row in OPEN]
    found = judge(halves, **OPEN_COLUMNS, cluster="half", claim=bounds)
    assert found.passed is None
    assert found.record.cannot_tell
    assert found.record.cannot_tell.kind == "few_clusters"
    whole = judge(OPEN, **OPEN_COLUMNS, claim=bounds)
    assert whole.passed
    # What guessers reach is learnt from references that are exchanged one by one.
    assert found.record.max_random_baseline == whole.record.max_random_baseline


def test_all_models_are_compared_as_a_suite_compares_them() -> None:
    draw = np.random.default_rng(2)
    right = {"good": draw.random((4, 90)) < 0.9, "bad": draw.random((3, 90)) < 0.5}
    table: list[dict[str, Any]] = [
        {"model": model, "prompt": p, "example": e, "correct": int(each)}
        for model, answers in right.items()
        for p, row in enumerate(answers)
        for e, each in enumerate(row)
    ]
    found = judge_each(table, model="model", chance="1/2", compare="all")
    [record] = found.record.best_models
    expected = best_models([each.astype(float) for each in right.values()])
    assert [each.not_best_p for each in record.models] == [*expected.not_best]
    assert [each.among_best for each in record.models] == [True, False]
    assert "good is the best of 2" in found.report()
    with pytest.raises(ValueError, match="expected 'all'"):
        judge_each(table, model="model", chance="1/2", compare="good - bad")
    fewer = [row for row in table if row["model"] == "good" or row["example"] < 80]
    with pytest.raises(ValueError, match="all models cannot be compared on"):
        judge_each(fewer, model="model", chance="1/2", compare="all")


def test_when_an_open_answer_is_right_may_be_said() -> None:
    near = [{**row, "said": "7.6" if row["said"] == "7.5" else row["said"].upper()} for row in OPEN]
    exact = judge(near, **OPEN_COLUMNS, exact_match={"normalise": []})
    usual, wide = judge(near, **OPEN_COLUMNS), judge(near, **OPEN_COLUMNS, tolerance=0.2)
    best = judge(OPEN, **OPEN_COLUMNS).best_accuracy
    assert (exact.best_accuracy or 0) < (usual.best_accuracy or 0) < (best or 0)
    assert wide.best_accuracy == best
    graded = judge(WORDS, **OPEN_COLUMNS, scoring="f1", claim={"beats": 0.3})
    assert graded.record.judge == "f1"
    silent = [{**row, "said": "" if row is WORDS[0] else row["said"]} for row in WORDS]
    assert judge(silent, **OPEN_COLUMNS, scoring="f1").record.judge == "f1"
    assert graded.best_accuracy == pytest.approx((best or 0) / 2)
    for wrong, told in (
        ({"scoring": "f1", "tolerance": 1.0}, "`scoring: f1` how good it is"),
        ({"scoring": "f2"}, "found 'f2', expected 'exact_match' or 'f1'"),
        ({"tolerance": -1.0}, "tolerance`: found -1.0, expected a number of at least 0"),
        ({"tolerance": math.inf}, "tolerance`: found inf, expected a number of at least 0"),
        ({"exact_match": {"normalize": []}}, "key `exact_match.normalize`; did you mean `normal"),
        ({"exact_match": {"normalise": ["cases"]}}, r"exact_match.normalise\[0\]`: found 'cases'"),
    ):
        with pytest.raises(ValueError, match=told):
            judge(OPEN, **OPEN_COLUMNS, **wrong)
    with pytest.raises(ValueError, match="tolerance is about free answers; name their `refer"):
        judge(rows(), choices=2, tolerance=0.1)


def test_a_column_for_each_prompt_gives_the_numbers_of_a_row_for_each_answer() -> None:
    answers = {f"p{prompt}": row for prompt, row in enumerate(SAID)}
    wide, prompts = {"gold": GOLD, "cluster": CLUSTERS, **answers}, [*answers]
    found = judge(wide, prediction=prompts, choices=CHOICES)
    long = judge(rows(), choices=CHOICES)
    assert (found.t, found.n, found.best_accuracy) == (T, N, max(RIGHT) / N)
    assert found.permutation_p == long.permutation_p
    with pytest.raises(ValueError, match=r"prediction=\['p0', 'p1'.*'p5'\]"):
        judge(wide, choices=CHOICES)
    with pytest.raises(ValueError, match="no column 'p9' for prediction"):
        judge(wide, prediction=[*prompts, "p9"])
    with pytest.raises(ValueError, match="each prompt has a column of its own in `prediction`"):
        judge(wide, prediction=prompts, prompt="gold")


@pytest.mark.parametrize("how", ["mean", "pass", "all"])
def test_arrays_with_a_third_axis_are_the_rows_of_their_samples(how: str) -> None:
    scores = np.random.default_rng(1).random((3, 10, 4)).round(2)
    clusters = [f"c{example // 2}" for example in range(10)]
    rows = [
        {"prompt": f"p{p}", "example": str(e), "sample": str(s)}
        | {"score": scores[p, e, s], "cluster": clusters[e]}
        for p, e, s in np.ndindex(scores.shape)
    ]
    of_rows = judge(rows, claim={"beats": 0.3}, aggregate=how).record
    arrays = {"score": scores, "prompt": ["p0", "p1", "p2"], "cluster": np.array(clusters)}
    of_arrays = judge(arrays, claim={"beats": 0.3}, aggregate=how).record
    assert of_arrays == of_rows
    with pytest.raises(RecordedError, match=r"'said' has the shape .* same axes"):
        judge({"score": scores, "said": scores[..., 0]}, claim={"beats": 0.3})

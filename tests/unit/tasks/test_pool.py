"""A pool of demonstrations of its own: a file, a split, or both, in every format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from pytest_maxrandom.claims.plan import plan
from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.studies.arms.plan import plan_comparisons
from pytest_maxrandom.studies.replicates import PlannedReplicates, plan_replicates
from tests.notes import noted, sentences
from tests.suites import load_suite
from tests.unit.tasks.test_clusters import written

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from tests.unit.tasks.conftest import Folder


def rows(names: Iterable[object], **others: object) -> list[dict[str, Any]]:
    """Return two-choice questions, one for each name; the same name is the same question."""
    return [
        {"input": f"{name}?", "choices": ["yes", "no"], "answer": "yes", **others} for name in names
    ]


def jsonl(path: Path, of: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in of))


def claims(folder: Path, task: str, rest: str = "prompts: {shots: 2, count: 20}") -> Path:
    """Write a suite of one JSONL task with these further keys."""
    path = folder / "s.yaml"
    path.write_text(
        "models: [{name: some/model}]\ntasks:\n- name: t\n  format: jsonl\n  path: task.jsonl\n"
        f"{task}\n{rest}\nallow_unpassable: true\n"
    )
    return path


def planned(folder: Path, task: str, rest: str = "prompts: {shots: 2, count: 20}") -> PlannedClaim:
    return plan(load_suite(claims(folder, task, rest)))[0]


def told(folder: Path, task: str, rest: str = "prompts: {shots: 2, count: 20}") -> list[str]:
    with pytest.raises(SuiteError) as caught:
        planned(folder, task, rest)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def shown(claim: PlannedClaim) -> set[str]:
    prompts = claim.condition.prompt_set.prompts
    return {example.input for prompt in prompts for example in prompt.demonstrations}


@pytest.mark.parametrize("format_", ["jsonl", "csv", "bigbench"])
def test_a_file_of_its_own_in_every_format_of_files(folder: Folder, format_: str) -> None:
    (folder.path / "train").write_text(written(format_, rows("abc")))
    task = folder.load(format_, written(format_, rows("xy")), pool={"path": "train"})
    assert task.pool is not None
    assert [example.input for example in task.pool] == ["a?", "b?", "c?"]
    assert [example.input for example in task.examples] == ["x?", "y?"]
    assert task.pool_source == "train"
    # Both have their rows' numbers for ids, and reports name demonstrations by theirs.
    assert [example.id for example in task.pool] == ["pool #1", "pool #2", "pool #3"]
    assert [example.id for example in task.examples] == ["#1", "#2"]
    # What prompts show is no part of what is asked.
    assert task.digest == folder.load(format_, written(format_, rows("xy"))).digest


@pytest.mark.parametrize(
    ("pool", "inputs", "source"),
    [
        ({"split": "train"}, ["a?", "b?"], "split train"),
        ({"path": "others"}, ["e?"], "others"),
        ({"path": "others", "split": "train"}, ["c?", "d?"], "others, split train"),
    ],
)
def test_a_split_of_a_dataset_and_another_dataset(
    folder: Folder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    pool: dict[str, str],
    inputs: list[str],
    source: str,
) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra: datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("c")))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for name, names in (("own/train", "ab"), ("own/test", "xyz"), ("others/train", "cd"),
                        ("others/test", "e")):  # fmt: skip
        file = folder.path / f"{name}.jsonl"
        file.parent.mkdir(exist_ok=True)
        jsonl(file, rows(names))
    task = folder.load("hub", None, path="own", split="test", pool=pool)
    assert task.pool is not None
    assert [example.input for example in task.pool] == inputs
    assert [example.input for example in task.examples] == ["x?", "y?", "z?"]
    assert task.pool_source == source


LM_EVAL = """\
task: {name}
output_type: multiple_choice
dataset_path: json
dataset_kwargs: {{data_files: {{test: {test}.jsonl, train: {train}.jsonl}}}}
test_split: test
doc_to_text: input
doc_to_choice: choices
doc_to_target: answer
"""


@pytest.mark.parametrize(
    ("keys", "inputs", "source"),
    [
        ({}, None, ""),
        ({"pool": {"split": "train"}}, ["a?", "b?"], "split train"),
        ({"pool": {"path": "other.yaml"}}, ["c?"], "other.yaml"),
        ({"pool": {"path": "other.yaml", "split": "train"}}, ["d?"], "other.yaml, split train"),
    ],
)
def test_a_task_of_the_harness_may_have_another(
    folder: Folder, keys: dict[str, Any], inputs: list[str] | None, source: str
) -> None:
    for name, names in (("x", "xyz"), ("ab", "ab"), ("c", "c"), ("d", "d")):
        jsonl(folder.path / f"{name}.jsonl", rows(names))
    (folder.path / "own.yaml").write_text(LM_EVAL.format(name="own", test="x", train="ab"))
    (folder.path / "other.yaml").write_text(LM_EVAL.format(name="other", test="c", train="d"))
    task = folder.load("lm_eval", None, path="own.yaml", **keys)
    assert [example.input for example in task.examples] == ["x?", "y?", "z?"]
    assert (task.pool and [example.input for example in task.pool]) == inputs
    assert task.pool_source == source


def test_ids_that_tell_apart_stay(folder: Folder) -> None:
    (folder.path / "train").write_text(json.dumps({**rows("a")[0], "id": "k1"}))
    task = folder.load("jsonl", written("jsonl", rows("xy")), pool={"path": "train"})
    assert task.pool is not None
    assert [example.id for example in task.pool] == ["k1"]


def test_n_is_the_whole_validation_set_and_the_regime_is_named(tmp_path: Path) -> None:
    jsonl(tmp_path / "task.jsonl", rows(range(12)))
    jsonl(tmp_path / "train.jsonl", rows([*range(3), *"abcdeffa"]))
    claim = planned(tmp_path, "  pool: {path: train.jsonl}")
    record = claim.record("id", "s.yaml")
    assert record.prompts is not None
    assert (record.n, record.prompts.regime, record.prompts.pool) == (12, "pool", 6)
    assert record.prompts.source == "train.jsonl"
    assert shown(claim) <= {f"{name}?" for name in "abcdef"}
    assert noted(record) == [
        "Examples of the pool never used as demonstrations, because they repeat a validation "
        "example: 3.",
        "Examples of the pool never used as demonstrations, because they repeat another example of "
        "it: 2.",
    ]
    # Without the pool the same file leaves nothing outside the validation set.
    without = planned(tmp_path, "").record("id", "s.yaml")
    assert without.prompts is not None
    assert (without.n, without.prompts.regime, without.prompts.source) == (10, "leave_out", None)
    assert without.task_digest == record.task_digest


def test_guessers_answer_the_whole_validation_set(tmp_path: Path) -> None:
    """No prompt leaves anything out, so the baseline is that of the examples as they are."""
    three = rows(range(20, 25)) + [
        {**row, "choices": ["yes", "no", "perhaps"]} for row in rows(range(5))
    ]
    jsonl(tmp_path / "task.jsonl", three)
    jsonl(tmp_path / "train.jsonl", rows("abcd"))
    record = planned(tmp_path, "  pool: {path: train.jsonl}").record("id", "s.yaml")
    assert (record.n, record.t) == (10, 12)
    expected = MaxRandomBaseline(10, [1 / 2] * 5 + [1 / 3] * 5, 12).expected_accuracy
    assert record.max_random_baseline == pytest.approx(expected, abs=1e-12)


def test_at_no_shots_no_pool_is_used(tmp_path: Path) -> None:
    jsonl(tmp_path / "task.jsonl", rows(range(12)))
    jsonl(tmp_path / "train.jsonl", rows("abcd"))
    claim = planned(tmp_path, "  pool: {path: train.jsonl}", "prompts: {shots: 0}")
    record = claim.record("id", "s.yaml")
    assert record.prompts is not None
    assert (record.prompts.regime, record.prompts.pool, record.prompts.source) == ("none", 0, None)


@pytest.mark.parametrize("test", ["{fraction: 0.5}", "{path: test.jsonl}"])
def test_what_stands_in_the_test_set_leaves_the_pool_and_is_counted(
    tmp_path: Path, test: str
) -> None:
    clustered = [rows([number], passage=f"p{number // 2}")[0] for number in range(20)]
    jsonl(tmp_path / "task.jsonl", clustered)
    jsonl(tmp_path / "test.jsonl", rows(["z0", "z1"], passage="p0"))
    jsonl(
        tmp_path / "train.jsonl",
        [
            *(rows([f"of {n}"], passage=f"p{n}")[0] for n in range(10)),
            *rows("abc", passage="alone"),
            *rows(["z1"], passage="other"),
        ],
    )
    keys = (
        f"  columns: {{cluster: passage}}\n  pool: {{path: train.jsonl}}\n  test: {test}\n"
        "  validation: {max_examples: 4}"
    )
    claim = planned(tmp_path, keys)
    cell = claim.condition
    closed = {example.cluster for example in cell.test}
    asked = {example.cluster for example in cell.prompt_set.validation}
    used = {e.cluster for prompt in cell.prompt_set.prompts for e in prompt.demonstrations}
    assert used
    assert not used & (closed | asked)
    assert not shown(claim) & {example.input for example in cell.test}
    gone = 2 if "path" in test else len(closed)  # one by its cluster, one by its text
    assert (
        "Examples of the pool never used as demonstrations, because they, or others of their "
        f"cluster, are also in the test set: {gone}."
    ) in sentences(cell.task.notes)


def test_the_tasks_own_texts_stand_around_demonstrations(tmp_path: Path) -> None:
    jsonl(tmp_path / "task.jsonl", rows(range(3)))
    jsonl(tmp_path / "train.jsonl", rows("ab"))
    claim = planned(tmp_path, '  input_prefix: "Ask: "\n  pool: {path: train.jsonl}')
    assert "Ask: a?" in claim.condition.prompt_set.prompts[0].text


def test_replicates_draw_from_the_pool_anew(tmp_path: Path) -> None:
    jsonl(tmp_path / "task.jsonl", rows(range(30)))
    jsonl(tmp_path / "train.jsonl", rows([*range(0, 30, 2), *"abcdefghijkl"]))
    keys = "  pool: {path: train.jsonl}\n  validation: {max_examples: 10}"
    suite = load_suite(claims(tmp_path, keys, "prompts: {shots: 2, count: 20}\nreplicates: 4"))
    _, replicates = plan_replicates(suite, plan(suite))
    assert isinstance(replicates, PlannedReplicates)
    sets = [each.condition.prompt_set for each in replicates.claims]
    assert [each.regime for each in sets] == ["pool"] * 4
    assert [each.n for each in sets] == [10] * 4
    assert len({frozenset(e.input for e in each.validation) for each in sets}) == 4
    assert len({frozenset(each.digests) for each in sets}) == 4
    for each in replicates.claims:
        assert not shown(each) & {e.input for e in each.condition.prompt_set.validation}
    # The whole task is each replicate's validation set where it asks for no fewer.
    whole = load_suite(
        claims(tmp_path, "  pool: {path: train.jsonl}",
               "prompts: {shots: 2, count: 20}\nreplicates: 3")
    )  # fmt: skip
    _, replicates = plan_replicates(whole, plan(whole))
    (drawn, *_) = noted(replicates.record("id", "s.yaml"))
    assert "demonstrations only: the validation examples are the same in all" in drawn


def test_arms_show_the_same_demonstrations_of_the_pool(tmp_path: Path) -> None:
    jsonl(tmp_path / "task.jsonl", rows(range(12)))
    jsonl(tmp_path / "train.jsonl", rows("abcd"))
    arms = "arms: {plain: {}, lettered: {format: {labels: letter}}}\ncompare: [plain-lettered]"
    suite = load_suite(
        claims(tmp_path, "  pool: {path: train.jsonl}",
               f"prompts: {{shots: 2, count: 5}}\nassert: report\n{arms}")
    )  # fmt: skip
    each = plan(suite)
    one, other = (claim.condition.prompt_set for claim in each)
    assert [p.demonstrations for p in one.prompts] == [p.demonstrations for p in other.prompts]
    assert plan_comparisons(suite, each)


CONTRADICTIONS = [
    ("  pool: {}", "", "s.yaml:6: tasks[0].pool: found neither `path` nor `split`, expected at "
                       "least one of them"),
    ("  pool: {path: train.jsonl, splt: x}", "",
     "s.yaml:6: unknown key `tasks[0].pool.splt`; did you mean `split`? (keys here: path, split)"),
    ("  pool: train.jsonl", "",
     "s.yaml:6: `tasks[0].pool`: found 'train.jsonl', expected keys with values (keys here: path, "
     "split)"),
    ("  pool: {path: train.jsonl}", ", demonstrations: leave_out",
     "s.yaml:6: tasks[0].pool: demonstrations come from here, and `prompts: {demonstrations: "
     "leave_out}` takes them from the validation set; remove one of the two"),
    ("  pool: {split: train}", "",
     "s.yaml:6: t: `format: jsonl` cannot read another split; give `path`"),
    ("  pool: {path: trian.jsonl}", "",
     "s.yaml:6: there is no file 'trian.jsonl' (paths are relative to the suite file); did you "
     "mean 'train.jsonl'?"),
    ("  pool: {path: train.jsonl}", ", shots: 3",
     "s.yaml:7: 3 shots need 3 different examples for demonstrations, found 2 in the pool of t; "
     "use fewer shots, or give a larger `pool` (1 of its examples repeat a validation example or "
     "its text, or belong to the cluster of one)"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "prompts", "message"), CONTRADICTIONS)
def test_mistakes_are_told_at_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, prompts: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "task.jsonl", rows(range(3)))
    jsonl(tmp_path / "train.jsonl", rows(["a", "b", 0]))
    shots = "" if "shots" in prompts else "shots: 2, "
    assert told(tmp_path, task, f"prompts: {{{shots}count: 2{prompts}}}") == [message]


def test_mistakes_in_the_task_and_in_the_pool_are_told_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "task.jsonl", [*rows("x"), *rows("y", answer="maybe")])
    jsonl(tmp_path / "train.jsonl", rows("a", answer="yse"))
    assert told(tmp_path, "  pool: {path: train.jsonl}") == [
        "task.jsonl:2: the answer 'maybe' is none of the choices 'yes', 'no'",
        "train.jsonl:1: the answer 'yse' is none of the choices 'yes', 'no'; did you mean 'yes'?",
    ]


NAMES = st.lists(st.integers(0, 8), min_size=1, max_size=8)
CLUSTERS = st.sampled_from(["p", "q", "r", "s"])


@given(st.data(), NAMES, NAMES, st.integers(1, 9), st.integers(0, 3), st.booleans())
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_demonstration_ever_equals_what_is_scored_or_held_out(
    tmp_path: Path,
    data: st.DataObject,
    asked: list[int],
    pool: list[int],
    n: int,
    seed: int,
    clustered: bool,
) -> None:
    """Whatever the files repeat of each other, and whatever they share clusters with."""
    for name, of in (("task", asked), ("train", pool)):
        jsonl(
            tmp_path / f"{name}.jsonl",
            [row for each in of for row in rows([each], passage=data.draw(CLUSTERS))],
        )
    keys = (
        f"  pool: {{path: train.jsonl}}\n  validation: {{max_examples: {n}, seed: {seed}}}\n"
        f"  test: {{fraction: 0.3, seed: {seed}}}\n"
    )
    keys += "  columns: {cluster: passage}\n" if clustered else ""
    try:
        cell = planned(tmp_path, keys, "prompts: {shots: 1, count: 30}").condition
    except SuiteError:
        reject()
    told = {example.input for example in (*cell.prompt_set.validation, *cell.test)}
    closed = {example.cluster for example in (*cell.prompt_set.validation, *cell.test)} - {None}
    for prompt in cell.prompt_set.prompts:
        for example in prompt.demonstrations:
            assert example.input not in told
            assert example.cluster not in closed
            assert example.input in {f"{each}?" for each in pool}
    assert all(
        cell.prompt_set.scored(prompt) == list(cell.prompt_set.validation)
        for prompt in cell.prompt_set.prompts
    )

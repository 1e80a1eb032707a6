"""Suites of recorded results: what they may say, and every mistake with its line."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
import yaml
from jsonschema import Draft202012Validator

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite
from pytest_maxrandom.suite.models import MODELS
from pytest_maxrandom.suite.recorded import RESULTS
from pytest_maxrandom.suite.schema import schema
from tests.suites import either, having
from tests.unit.suite.examples import MINIMAL, RECORDED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.suite.conftest import SuiteText

NUMBER = (
    "a whole number from 1 to 1000000000, or one for each number of shots such as {0: 100, 4: 96}"
)
CHANCE = (
    "a fraction such as 1/4, a number of at least 1e-9 and below 1, or {number of choices: number "
    "of examples} such as {2: 60, 5: 40}"
)
MODEL = "{name: m, backend: recorded, results: {path: x, format: npz}}"


def recorded(*, model: str = MODEL, task: str = "{name: t}", rest: str = "") -> str:
    return f"models:\n- {model}\ntasks:\n- {task}\n{rest}"


@pytest.fixture
def load(tmp_path: Path) -> RecordedSuiteText:
    return RecordedSuiteText(tmp_path / "s.yaml")


class RecordedSuiteText:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, text: str) -> RecordedSuite:
        self.path.write_text(text)
        suite = load_any_suite(self.path)
        assert isinstance(suite, RecordedSuite)
        return suite

    def mistakes(self, text: str) -> list[str]:
        with pytest.raises(SuiteError) as caught:
            self(text)
        return [str(problem).removeprefix(f"{self.path}:") for problem in caught.value.problems]


def test_numbers_may_differ_by_shots_and_chances_by_examples(load: RecordedSuiteText) -> None:
    (task,) = load(
        recorded(
            task="{name: t, n: {1: 99, 2: 98}, t: 200, chance: {2: 60, 5: 40}, "
            "published: {n: 100, t: {1: 32}, chance: 1/5}}"
        )
    ).spec.tasks
    assert (task.n, task.t, task.chance) == ({1: 99, 2: 98}, 200, {2: 60, 5: 40})
    assert task.published is not None
    assert (task.published.t, task.published.chance) == ({1: 32}, Fraction(1, 5))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("1/5", Fraction(1, 5)), ("0.2", Fraction(1, 5)), (".3", Fraction("0.3"))],
)
def test_a_chance_is_the_number_that_was_written(
    load: RecordedSuiteText, written: str, meant: Fraction
) -> None:
    assert load(recorded(task=f"{{name: t, chance: {written}}}")).spec.tasks[0].chance == meant


def test_a_full_suite_loads_and_is_valid_for_editors(load: RecordedSuiteText) -> None:
    suite = load(RECORDED)
    assert Draft202012Validator(schema()).is_valid(yaml.safe_load(RECORDED))
    assert [model.short_name for model in suite.spec.models] == ["OLMo-7B", "small"]
    assert suite.spec.prompts.shots == [1, 4]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            recorded(task="{name: t, format: csv}"),
            "4: unknown key `tasks[0].format`; it belongs to suites whose models are run (keys "
            "here: assert, xfail, marks, name, in_results, n, t, chance, published)",
        ),
        (
            recorded(rest="scoring: paper\n"),
            "5: unknown key `scoring`; it belongs to suites whose models are run (keys here: "
            "assert, xfail, marks, aggregate, metric, limits, share, allow_unpassable, label_bias, "
            "compare, contamination, models, tasks, incumbent, control, prompts, judge)",
        ),
        (
            recorded(rest="assert: {count: task}\n"),
            "5: unknown key `assert.count`; it belongs to suites whose models are run (keys here: "
            "p_max, union_p, permutation_p, beats, baseline_p, control_p, "
            "better_than, by, incumbent_p, family, "
            "red_flags)",
        ),
        (
            recorded(rest="assert: {looks: spend}\n"),
            "5: unknown key `assert.looks`; it belongs to suites whose models are run (keys here: "
            "p_max, union_p, permutation_p, beats, baseline_p, control_p, "
            "better_than, by, incumbent_p, family, "
            "red_flags)",
        ),
        (
            recorded(rest="assert: {zzz: spend}\n"),
            "5: unknown key `assert.zzz` (keys here: p_max, union_p, permutation_p, beats, "
            "baseline_p, control_p, better_than, by, incumbent_p, family, red_flags)",
        ),
        (
            recorded(model="{name: m, backend: recorded}"),
            "2: the key `models[0].results` is missing; add it",
        ),
        (
            recorded(model="{name: m, backend: recorded, results: {path: x, format: nzp}}"),
            f"2: `models[0].results.format`: found 'nzp', expected {either(RESULTS.specs)}; did "
            "you mean `npz`?",
        ),
        (
            recorded(task="{name: t, chance: 1/1}"),
            f"4: `tasks[0].chance`: found '1/1', expected {CHANCE}",
        ),
        (
            recorded(task="{name: t, chance: 5}"),
            f"4: `tasks[0].chance`: found 5, expected {CHANCE}",
        ),
        (
            recorded(task="{name: t, chance: {1: 5}}"),
            f"4: `tasks[0].chance`: found keys with values, expected {CHANCE}",
        ),
        (
            recorded(task="{name: t, chance: 1e-10}"),
            f"4: `tasks[0].chance`: found 1e-10, expected {CHANCE}",
        ),
        (recorded(task="{name: t, n: 0}"), f"4: `tasks[0].n`: found 0, expected {NUMBER}"),
        (
            recorded(task="{name: t, t: {1: yes}}"),
            f"4: `tasks[0].t`: found keys with values, expected {NUMBER}",
        ),
        (
            recorded(task="{name: t, published: {n: 5, t: 5}}"),
            "4: the key `tasks[0].published.chance` is missing; add it",
        ),
        (recorded(task="{name: t, 1: 5}"), "4: found '1' as a key, expected a word"),
        (recorded(rest="prompts: {1: 5}\n"), "5: found '1' as a key, expected a word"),
        (
            recorded(rest="judge: publication\n"),
            "5: `judge`: found 'publication', expected 'counted' or 'published'; did you mean "
            "`published`?",
        ),
        (
            recorded(rest="judge: published\n"),
            "4: tasks[0]: `judge: published` needs the key `published` in every task; give n, t "
            "and chance as they were published",
        ),
        (
            recorded(rest="prompts: {shots: no}\n"),
            "5: `prompts.shots`: found false, expected a whole number from 0 to 1000",
        ),
        (
            recorded(model=MODEL.replace("npz", "npz, shots: 2")),
            f"2: `models[0].results.shots` goes with `format: {having(RESULTS, 'shots')}`, but "
            "this has `format: npz`; remove one of the two",
        ),
        (
            recorded(rest="prompts: {shots: [1, 1]}\n"),
            "5: prompts.shots[1] repeats prompts.shots[0]; remove one of the two",
        ),
        (
            recorded(task="{name: t}\n- {name: t}"),
            "5: tasks[1].name: tasks[0] has this name already; give each task a name of its own",
        ),
        (
            recorded(model=f"{MODEL}\n- {MODEL}"),
            "3: models[1]: this has the same test ids as models[0]; give one of them a `label`",
        ),
        (
            recorded(model=MODEL.replace("format: npz", "format: summary, ragged: true")),
            f"2: `models[0].results.ragged` goes with `format: {having(RESULTS, 'ragged')}`, but "
            "this has `format: summary`; remove one of the two",
        ),
        (
            recorded(model=MODEL.replace("npz", "table, columns: {prompt: p, t: tries}")),
            "2: `models[0].results.columns.t` goes with `format: summary`, but this has `format: "
            "table`; remove one of the two",
        ),
        (
            recorded(model=f"{MODEL}\n- {{name: gpt2}}"),
            "3: models[1].backend: this is run, but models[0] has recorded results; a suite has "
            "models of one kind only, so write two suites",
        ),
        (
            recorded(model=f"{{name: gpt2}}\n- {MODEL}"),
            "3: models[1].backend: this has recorded results, but models[0] is run; a suite has "
            "models of one kind only, so write two suites",
        ),
        (
            recorded(task="{name: t, xfail: guesses}", rest="assert: report\n"),
            "4: tasks[0].xfail: `assert: report` claims nothing, but `xfail` expects that to fail; "
            "remove one of the two",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(load: RecordedSuiteText, text: str, told: str) -> None:
    assert load.mistakes(text) == [told]


def test_numbers_are_keys_in_the_places_of_numbers_only(suite: SuiteText) -> None:
    (told,) = suite.mistakes(MINIMAL.replace("x.csv", "x.csv, n: {1: 5}"))
    assert told.startswith(
        "2: unknown key `tasks[0].n`; it belongs to suites of recorded results (`backend: "
        "recorded` of a model) (keys here: "
    )
    text = MINIMAL + "prompts:\n  formats: &list [{}]\n  1: *list\n"
    assert suite.mistakes(text) == ["5: found '1' as a key, expected a word"]


def test_an_alias_may_stand_in_two_places_for_the_same_numbers(load: RecordedSuiteText) -> None:
    task = "{name: t, n: &n {1: 99}, published: {n: *n, t: 5, chance: 1/5}}"
    (found,) = load(recorded(task=task)).spec.tasks
    assert found.published is not None
    assert found.n == found.published.n == {1: 99}


def test_an_unknown_backend_is_told_with_both(suite: SuiteText) -> None:
    text = MINIMAL.replace("name: m", "name: m, backend: recoded")
    assert suite.mistakes(text) == [
        f"1: `models[0].backend`: found 'recoded', expected {either(MODELS.specs)} or 'recorded'; "
        "did you mean `recorded`?"
    ]


def test_recorded_is_not_offered_where_no_results_can_stand(suite: SuiteText) -> None:
    text = f"{MINIMAL}incumbent: {{model: {{name: m, backend: recorded}}}}\n"
    [mistake] = suite.mistakes(text)
    assert mistake.endswith(
        f"`incumbent.model.backend`: found 'recorded', expected {either(MODELS.specs)}"
    )


def test_a_test_set_is_not_opened_for_a_claim_that_says_nothing(suite: SuiteText) -> None:
    text = MINIMAL.replace("x.csv", "x.csv, test: {fraction: 0.5}") + "assert: report\n"
    assert suite.mistakes(text) == [
        "2: tasks[0].test: `assert: report` claims nothing, but `test` is opened if a claim "
        "passes; remove one of the two"
    ]

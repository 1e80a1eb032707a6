"""Which prompts a sweep tries: distinct, seeded, uniform, and fair to the validation set."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chisquare

from pytest_maxrandom.record import Remark
from pytest_maxrandom.sweeps.prompts.sampling import NoPrompts
from pytest_maxrandom.tasks.task import Example, Layout, Task
from tests.notes import sentences
from tests.unit.sweeps.prompts.examples import draw, example, names, task_of


@pytest.mark.parametrize("shots", [0, 1, 2, 4, 8])
def test_a_sweep_has_as_many_distinct_prompts_as_were_asked_for(shots: int) -> None:
    task = task_of(60)
    instructions = [f"Instruction {number}." for number in range(50)]
    found = draw(task, shots, n=20, count=50, instructions=instructions)
    assert len(found.prompts) == len({p.context(task.examples[0]) for p in found.prompts}) == 50
    assert all(len(prompt.demonstrations) == shots for prompt in found.prompts)
    assert all(len(set(shown)) == shots for shown in names(found))
    assert sentences(found.notes) == ()


def first_draw(seed: int, shots: int, pool: list[str]) -> list[str]:
    """Compute the first draw from SHA-256: one number, written to mixed base, says who is next."""
    name = hashlib.sha256(f"1:{seed}7:prompts1:{shots}".encode()).hexdigest()
    number = int(hashlib.sha256(f"64:{name}1:0".encode()).hexdigest(), 16)
    number %= math.perm(len(pool), shots)
    left = list(pool)
    for place in range(shots):
        number, offset = divmod(number, len(pool) - place)
        left[place], left[place + offset] = left[place + offset], left[place]
    return left[:shots]


@pytest.mark.parametrize(("seed", "shots"), [(0, 1), (0, 2), (1, 2), (3, 4)])
def test_the_same_suite_gives_the_same_prompts_on_every_machine(seed: int, shots: int) -> None:
    pool = [f"e{number}" for number in range(9)]
    found = draw(task_of(9), shots, seed=seed, count=7, demonstrations="leave_out")
    assert list(names(found)[0]) == first_draw(seed, shots, pool)


def test_drawn_prompts_are_frozen() -> None:
    """Other prompts here would change every published sweep."""
    found = draw(task_of(30), 2, n=10, count=4)
    assert names(found) == [("e0", "e29"), ("e5", "e4"), ("e4", "e10"), ("e8", "e11")]
    written = [
        "\nQ: question e0\n  choice: no\n  choice: yes\nA: yes\n"
        "\nQ: question e29\n  choice: yes\n  choice: no\nA: yes\n",
        *("\nQ: ", "text", "\n  choice: ", "\nA: "),
    ]
    lengths = "".join(f"{len(part)}:{part}" for part in written)
    assert found.prompts[0].digest == hashlib.sha256(lengths.encode()).hexdigest()


def test_another_seed_or_number_of_shots_draws_others() -> None:
    task = task_of(60)
    draws = [names(draw(task, 1, n=20, count=10, seed=seed)) for seed in range(3)]
    draws.append([shown[:1] for shown in names(draw(task, 2, n=20, count=10))])
    assert len({tuple(each) for each in draws}) == 4


def test_a_larger_count_only_adds_prompts() -> None:
    task = task_of(60)
    few, many = (names(draw(task, 2, n=20, count=count)) for count in (20, 200))
    assert many[:20] == few


@pytest.mark.parametrize(("size", "shots"), [(4, 1), (4, 2), (5, 3), (3, 2)])
def test_a_small_pool_gives_every_arrangement_once(size: int, shots: int) -> None:
    found = draw(task_of(size), shots, count=10_000, demonstrations="leave_out")
    pool = [f"e{number}" for number in range(size)]
    assert sorted(names(found)) == sorted(itertools.permutations(pool, shots))
    assert len(found.prompts) == found.possible == math.perm(size, shots)
    assert sentences(found.notes) == (
        f"10000 prompts were asked for, but draws of {shots} from a pool of {size} examples give "
        f"only {math.perm(size, shots)}: all of them are used.",
    )


def test_the_whole_pool_is_used_in_random_order() -> None:
    orders = {tuple(names(draw(task_of(3), 1, seed=seed))) for seed in range(100)}
    assert len(orders) == 6


def test_every_draw_is_equally_likely() -> None:
    seen = Counter(
        names(draw(task_of(4), 2, seed=seed, count=1))[0] for seed in range(3000)
    )  # fmt: skip
    assert len(seen) == math.perm(4, 2)
    assert chisquare(list(seen.values())).pvalue > 1e-4


def test_every_demonstration_is_equally_likely_at_every_place_of_a_long_prompt() -> None:
    """100! arrangements of 40 need more than one word of random bits."""
    shown = names(draw(task_of(100), 40, count=1500, demonstrations="leave_out"))
    for place in (0, 20, 39):
        counts = Counter(prompt[place] for prompt in shown)
        assert chisquare([counts[f"e{number}"] for number in range(100)]).pvalue > 1e-4


def test_demonstrations_from_outside_are_never_validation_examples() -> None:
    found = draw(task_of(30), 2, n=20, count=90)
    validation = {scored.id for scored in found.validation}
    assert (found.regime, found.pool, found.n) == ("outside", 10, 20)
    assert not validation & {name for shown in names(found) for name in shown}
    assert {name for shown in names(found) for name in shown} == {
        f"e{number}" for number in range(30)
    } - validation
    assert all(found.scored(prompt) == list(found.validation) for prompt in found.prompts)


@pytest.mark.parametrize("shots", [1, 2, 3])
def test_left_out_demonstrations_are_not_scored_and_n_is_smaller(shots: int) -> None:
    found = draw(task_of(8), shots)
    assert (found.regime, found.pool, found.n) == ("leave_out", 8, 8 - shots)
    for prompt, shown in zip(found.prompts, names(found), strict=True):
        scored = [each.id for each in found.scored(prompt)]
        assert sorted([*scored, *shown]) == [f"e{number}" for number in range(8)]


def test_auto_draws_from_outside_where_enough_is_left_for_all_shots() -> None:
    task = task_of(24)
    assert draw(task, 4, n=20).regime == "outside"
    assert draw(task, 4, n=21).regime == "leave_out"
    assert draw(task, 4, n=20, demonstrations="leave_out").regime == "leave_out"
    # One task is not swept in two regimes, so that its claims can be compared.
    assert draw(task, 1, n=21, shots=[1, 4]).regime == "leave_out"


def test_auto_counts_only_examples_that_may_be_shown() -> None:
    repeated = [example(f"r{number}", "question e0") for number in range(9)]
    task = Task("t", (*task_of(12).examples, *repeated))
    assert draw(task, 2, n=19).regime == "leave_out"


def test_what_stands_twice_outside_is_shown_once() -> None:
    doubled = [replace(each, id=f"again {each.id}") for each in task_of(40).examples]
    task = Task("t", (*task_of(40).examples, *doubled))
    found = draw(task, 1, n=10, count=1000)
    contents = [each.content for prompt in found.prompts for each in prompt.demonstrations]
    assert len(contents) == len(set(contents)) == found.pool
    assert sentences(found.notes)[0] == (
        "Examples never used as demonstrations, because they repeat a validation example or "
        f"another example of the pool: {70 - found.pool}."
    )


@pytest.mark.parametrize("append_choices", [True, False])
def test_no_left_out_prompt_is_scored_on_a_repeat_of_its_demonstrations(
    append_choices: bool,
) -> None:
    repeat = Example("repeat", "question e0", ("no", "yes"), (1,))
    task = replace(
        Task("t", (*task_of(6).examples, repeat)), layout=Layout(append_choices=append_choices)
    )
    found = draw(task, 2, count=1000)
    assert found.pool == 5
    assert sentences(found.notes)[0].endswith("the pool: 2.")
    for prompt in found.prompts:
        shown = {each.input for each in prompt.demonstrations}
        assert not shown & {each.input for each in found.scored(prompt)}


def test_right_answers_in_another_order_are_a_repeat() -> None:
    both = Example("one", "?", ("a", "b", "c"), (0, 1))
    other = Example("two", "?", ("b", "a", "c"), (0, 1))
    assert draw(Task("t", (both, other, *task_of(3).examples)), 1).pool == 3


def test_other_choices_tell_examples_apart_only_where_they_are_listed() -> None:
    one = example("one", "Which?", ("a", "b"))
    other = example("two", "Which?", ("a", "c"))
    task = Task("t", (one, other, *task_of(3).examples))
    assert draw(task, 1).pool == 5
    assert draw(replace(task, layout=Layout(append_choices=False)), 1).pool == 3


def test_crossed_variants_write_each_draw_in_every_instruction_and_format() -> None:
    found = draw(
        task_of(30),
        2,
        n=20,
        count=23,
        combine="cross",
        instructions=["One.", "Two."],
        formats=[{}, {"labels": "letter"}],
    )
    by_draw = Counter(names(found))
    assert len(found.prompts) == 20
    assert set(by_draw.values()) == {4}
    variants = {(p.format.layout.task_prefix, p.format.labels) for p in found.prompts}
    assert variants == set(itertools.product(["One.", "Two."], ["text", "letter"]))
    assert sentences(found.notes) == (
        "23 prompts were asked for; 20 are used, so that each draw of demonstrations is written "
        "in all 4 variants.",
    )


def test_sampled_variants_are_equally_likely() -> None:
    seen = Counter(
        (shown[0], prompt.format.layout.task_prefix)
        for seed in range(1500)
        for found in [draw(task_of(3), 1, seed=seed, count=1, instructions=["One.", "Two."])]
        for prompt, shown in zip(found.prompts, names(found), strict=True)
    )
    assert len(seen) == 6
    assert chisquare(list(seen.values())).pvalue > 1e-4


@pytest.mark.parametrize("combine", ["sample", "cross"])
def test_variants_of_a_small_pool_are_all_used(combine: str) -> None:
    found = draw(task_of(3), 1, combine=combine, instructions=["One.", "Two."])
    assert len(found.prompts) == found.possible == 6
    assert sentences(found.notes) == (
        "200 prompts were asked for, but draws of 1 from a pool of 3 examples in 2 variants of "
        "instruction and format give only 6: all of them are used.",
    )


def test_an_instruction_stands_in_place_of_the_task_prefix() -> None:
    task = replace(task_of(3), layout=Layout(task_prefix="Old."))
    texts = {prompt.text for prompt in draw(task, 0, instructions=["New.", ""]).prompts}
    assert texts == {"New.", ""}


def test_a_format_changes_only_what_it_names() -> None:
    task = replace(task_of(3), layout=Layout(task_prefix="Old.", input_prefix="I: "))
    (prompt,) = draw(task, 0, formats=[{"output_prefix": " O: "}]).prompts
    assert prompt.format.layout == replace(task.layout, output_prefix=" O: ")


def test_formats_that_write_the_same_are_one() -> None:
    """A separator stands between demonstrations, so that 0 shots have none."""
    formats = [{}, {"separator": "\n\n"}, {"separator": "\n"}]
    assert draw(task_of(5), 0, formats=formats).possible == 1
    assert draw(task_of(5), 1, formats=formats).possible == 10
    silent = [{"append_choices": False}, {"append_choices": False, "choice_prefix": "#"}]
    found = draw(task_of(5), 1, formats=[*silent, {}], combine="cross", count=7)
    assert (found.possible, len(found.prompts)) == (10, 6)
    assert set(Counter(names(found)).values()) == {2}


def test_without_shots_and_variants_there_is_one_prompt() -> None:
    found = draw(task_of(5), 0, n=3)
    assert (found.regime, found.pool, found.possible, found.n) == ("none", 0, 1, 3)
    assert sentences(found.notes) == (
        "200 prompts were asked for, but a prompt without demonstrations and without variants can "
        "give only 1: all of them are used.",
    )


@pytest.mark.parametrize(
    ("size", "n", "shots", "demonstrations", "told"),
    [
        (
            10, 8, 3, "outside",
            "3 shots need 3 different examples for demonstrations, found 2 outside the validation "
            "set of t; use fewer shots, a smaller validation.max_examples or "
            "`demonstrations: leave_out`",
        ),
        (
            3, 8, 4, "auto",
            "4 shots need 4 different examples for demonstrations, found 3 in the validation set "
            "of t; use fewer shots, or give the task more examples",
        ),
        (
            3, 8, 3, "leave_out",
            "t has 3 validation examples, of which 3 shots leave none to score; use fewer shots, "
            "or give the task more examples",
        ),
    ],
)  # fmt: skip
def test_a_task_that_is_too_small_is_told_with_the_way_out(
    size: int, n: int, shots: int, demonstrations: str, told: str
) -> None:
    with pytest.raises(NoPrompts) as caught:
        draw(task_of(size), shots, n=n, demonstrations=demonstrations)
    assert str(caught.value) == told
    assert caught.value.key == "shots"


def test_where_the_test_set_took_the_examples_that_is_said() -> None:
    left = replace(task_of(1), notes=(Remark("small_validation_set", {"test": 1099, "left": 1}),))
    with pytest.raises(NoPrompts, match=r"1 validation example \(its test set takes 1,099\), of "):
        draw(left, 1, demonstrations="leave_out")


def test_more_choices_than_letters_are_told() -> None:
    many = example("m", choices=tuple(f"choice {number}" for number in range(27)))
    task = Task("t", (many, *task_of(3).examples))
    with pytest.raises(NoPrompts) as caught:
        draw(task, 0, formats=[{"labels": "parenthesized"}])
    assert str(caught.value) == (
        "t has an example with 27 choices, and there are 26 letters; use `labels: number`"
    )
    assert caught.value.key == "formats"
    assert draw(task, 0, formats=[{"labels": "number"}]).possible == 1


def pooled(size: int, pool: int, copies: int = 0) -> Task:
    """A task with a pool of its own, of which the first examples are copies of the task's."""
    task = task_of(size)
    own = [example(f"p{place}", f"pool {place}") for place in range(pool)]
    return replace(task, pool=(*(replace(e, id=f"c{e.id}") for e in task.examples[:copies]), *own))


@pytest.mark.parametrize("demonstrations", ["auto", "outside"])
def test_demonstrations_come_from_the_pool_that_a_task_has(demonstrations: str) -> None:
    found = draw(pooled(9, 4), 2, n=5, demonstrations=demonstrations)
    assert (found.regime, found.pool, found.possible, found.n) == ("pool", 4, 12, 5)
    assert {name for shown in names(found) for name in shown} == {"p0", "p1", "p2", "p3"}
    assert len({prompt.digest for prompt in found.prompts}) == len(found.prompts) == 12


def test_what_belongs_to_the_cluster_of_a_validation_example_leaves_the_pool() -> None:
    asked = replace(example("e"), cluster="p1")
    pool = (
        replace(example("a"), cluster="p1"),
        replace(example("b"), cluster="p2"),
        replace(asked, id="c"),
    )
    found = draw(Task("t", (asked,), pool=pool), 1, count=1)
    assert names(found) == [("b",)]
    assert found.notes == (
        Remark("validation_not_shown", {"examples": 1}),
        Remark("clusters_not_shown", {"examples": 1}),
    )


def test_what_follows_a_choice_tells_examples_apart() -> None:
    one = Example("a", "", ("Jo", "Al"), (0,), continuation=" ran home.")
    pool = (replace(one, id="b"), replace(one, id="c", continuation=" sat down."))
    for append_choices in (True, False):
        layout = Layout(append_choices=append_choices)
        found = draw(Task("t", (one,), layout, pool=pool), 1, count=1)
        assert names(found) == [("c",)]
        assert found.notes == (Remark("validation_not_shown", {"examples": 1}),)


def test_a_pool_that_offers_too_few_prompts_is_used_up_and_told_with_the_way_out() -> None:
    found = draw(pooled(9, 4), 2, n=5)
    assert sentences(found.notes) == (
        "200 prompts were asked for, but draws of 2 from a pool of 4 examples give only 12: all "
        "of them are used; a larger pool, instructions or formats give more.",
    )


def test_a_suite_may_still_leave_out() -> None:
    found = draw(pooled(6, 4), 2, n=6, demonstrations="leave_out")
    assert (found.regime, found.pool, found.n) == ("leave_out", 6, 4)


@st.composite
def crowded_tasks(draw_from: st.DrawFn) -> Task:
    """Tasks of few contents, so that many examples repeat each other."""
    contents = draw_from(st.lists(st.integers(0, 5), min_size=1, max_size=14))
    return Task(
        "t",
        tuple(
            Example(f"e{place}", f"q{content // 2}", ("a", "b"), (content % 2,))
            for place, content in enumerate(contents)
        ),
    )


@given(
    crowded_tasks(),
    st.integers(0, 3),
    st.integers(1, 12),
    st.integers(1, 40),
    st.sampled_from(["auto", "outside", "leave_out"]),
    st.sampled_from(["sample", "cross"]),
    st.lists(
        st.sampled_from([{}, {"labels": "letter"}, {"append_choices": False}]),
        max_size=3,
        unique_by=str,
    ),
    st.none() | crowded_tasks(),
)
@settings(deadline=None)
def test_prompts_of_any_task_are_distinct_and_blind_to_what_they_are_scored_on(
    task: Task,
    shots: int,
    n: int,
    count: int,
    demonstrations: str,
    combine: str,
    formats: list[dict[str, object]],
    pool: Task | None,
) -> None:
    task = replace(task, pool=None if pool is None else pool.examples)
    count = max(count, len(formats))
    keys: dict[str, Any] = {"demonstrations": demonstrations, "combine": combine, "count": count}
    try:
        found = draw(task, shots, n=n, formats=formats or None, **keys)
    except NoPrompts:
        return
    assert 1 <= len(found.prompts) <= min(count, found.possible)
    assert len(found.prompts) == count or sentences(found.notes)
    anything = task.examples[0]
    contexts = {(p.context(anything), p.format.answers(anything)) for p in found.prompts}
    assert len(contexts) == len(found.prompts)
    for prompt in found.prompts:
        scored = found.scored(prompt)
        assert len(scored) == found.n >= 1
        assert not {e.content for e in scored} & {e.content for e in prompt.demonstrations}
    if shots and task.pool is not None and demonstrations != "leave_out":
        assert found.regime == "pool"
        assert found.n == len(found.validation) == min(n, len(task.examples))
        counted = {note.kind: note.values["examples"] for note in found.notes
                   if isinstance(note, Remark) and note.kind.endswith("_not_shown")}  # fmt: skip
        assert found.pool + sum(counted.values()) == len(task.pool)
        scored_contents = {example.content for example in found.validation}
        repeating = sum(example.content in scored_contents for example in task.pool)
        assert counted.get("validation_not_shown", 0) == repeating

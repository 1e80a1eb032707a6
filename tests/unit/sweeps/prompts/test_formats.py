"""How examples are written in a prompt."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import chisquare

from pytest_maxrandom.suite.prompts import CounterfactualSpec, GenerationSpec
from pytest_maxrandom.sweeps.prompts.formats import Format, Labels, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout
from tests.unit.sweeps.prompts.examples import draw, example, task_of

# The order in which these two list their choices depends on their ids only.
SKY = Example("sky", "What color is the sky?", ("blue", "green", "red"), (0,))
SUM = Example("sum", "What is 1 + 1?", ("one", "two"), (1,))


def test_a_prompt_reads_as_big_bench_writes_it() -> None:
    layout = Layout(
        task_prefix="Answer the questions.\n",
        input_prefix="\nQuestion: ",
        output_prefix="\nAnswer: ",
        choice_prefix="\n  option: ",
        separator="\n---",
    )
    assert Prompt((SUM,), Format(layout)).context(SKY) == (
        "Answer the questions.\n"
        "\nQuestion: What is 1 + 1?\n  option: two\n  option: one\nAnswer: two"
        "\n---"
        "\nQuestion: What color is the sky?\n  option: green\n  option: blue\n  option: red\n"
        "Answer: "
    )


def test_without_appended_choices_only_the_input_is_shown() -> None:
    form = Format(Layout(append_choices=False))
    assert form.question(SKY) == "\nQ: What color is the sky?\nA: "
    assert form.demonstration(SKY) == "\nQ: What color is the sky?\nA: blue"


def test_without_shots_the_instruction_stands_before_the_question() -> None:
    prompt = Prompt((), Format(Layout(task_prefix="Think.", append_choices=False)))
    assert prompt.text == "Think."
    assert prompt.context(SUM) == "Think.\nQ: What is 1 + 1?\nA: "


@pytest.mark.parametrize(
    ("labels", "listed", "answers"),
    [
        ("letter", "\nA. green\nB. blue\nC. red", ("B", "A", "C")),
        ("parenthesized", "\n(A) green\n(B) blue\n(C) red", ("(B)", "(A)", "(C)")),
        ("number", "\n1. green\n2. blue\n3. red", ("2", "1", "3")),
        ("text", "\ngreen\nblue\nred", ("blue", "green", "red")),
    ],
)
def test_labels_are_listed_and_are_the_answers(
    labels: Labels, listed: str, answers: tuple[str, ...]
) -> None:
    form = Format(Layout(choice_prefix="\n"), labels)
    assert form.question(SKY) == f"\nQ: What color is the sky?{listed}\nA: "
    assert form.answers(SKY) == answers
    assert form.demonstration(SKY) == form.question(SKY) + answers[0]


def test_labels_of_a_suite_list_the_choices_line_by_line_whatever_the_task_does() -> None:
    task = task_of(3)
    (labelled,) = draw(task, 0, formats=[{"labels": "letter"}]).prompts
    assert labelled.context(task.examples[0]).startswith("\nQ: question e0\nA. ")
    spec = {"labels": "letter", "choice_prefix": "; "}
    (labelled,) = draw(task, 0, formats=[spec]).prompts
    assert labelled.context(task.examples[0]).startswith("\nQ: question e0; A. ")


def test_numbers_label_any_number_of_choices() -> None:
    many = Example("m", "?", tuple(f"choice {i}" for i in range(30)), (0,))
    assert set(Format(Layout(), "number").answers(many)) == {str(i) for i in range(1, 31)}


def test_a_demonstration_shows_a_right_answer() -> None:
    both = Example("b", "?", ("w1", "r1", "w2", "r2"), (1, 3))
    answer = Format(Layout()).demonstration(both).rpartition("\nA: ")[2]
    assert answer in ("r1", "r2")


def test_demonstrations_of_counterfactual_scoring_state_the_right_answer() -> None:
    best = CounterfactualSpec()
    form = Format(Layout(choice_prefix="\n"), "parenthesized", best)
    assert form.demonstration(SKY) == form.question(SKY) + "(B) is the best"
    assert form.question(SKY) == Format(form.layout, form.labels).question(SKY)
    assert Prompt((SUM,), form).context(SKY).endswith("\nA: (A) is the best\n" + form.question(SKY))


def test_a_statement_may_begin_before_the_answer_as_in_the_paper() -> None:
    best = CounterfactualSpec(output_prefix=". Of the answer choices above, answer ")
    layout = Layout("", "", ". The best answer choice is ", " ")
    form = Format(layout, "parenthesized", best)
    assert form.demonstration(SKY) == (
        "What color is the sky? (A) green (B) blue (C) red. Of the answer choices above, answer "
        "(B) is the best"
    )
    other = CounterfactualSpec(output_prefix=". Answer ")
    assert Prompt((), form).digest != Prompt((), form).asked(other).digest
    assert Prompt((), form).asked(None).context(SKY).endswith("The best answer choice is ")


def test_asked_otherwise_a_prompt_keeps_its_demonstrations_and_has_another_digest() -> None:
    best = CounterfactualSpec()
    for shown in ((), (SUM,)):
        prompt = Prompt(shown, Format(Layout()))
        asked = [
            prompt,
            prompt.asked(best),
            prompt.asked(CounterfactualSpec(statement=" is")),
            prompt.asked(CounterfactualSpec(continuation=" right")),
            prompt.asked(CounterfactualSpec(statement=" is the ", continuation="best")),
        ]
        assert len({one.digest for one in asked}) == len(asked)
        assert prompt.asked(best).demonstrations == shown
        assert prompt.asked(best).asked(None) == prompt
    drawn = draw(task_of(9), 1, count=5)
    assert drawn.asked(best).prompts == tuple(one.asked(best) for one in drawn.prompts)
    assert drawn.asked(best).asked(None) == drawn


def test_where_the_right_choice_is_listed_tells_nothing_though_the_file_has_it_first() -> None:
    places = Counter(shown_order(example(f"id {i}", choices=("r", "x", "y", "z"))).index(0)
                     for i in range(4000))  # fmt: skip
    assert chisquare([places[place] for place in range(4)]).pvalue > 1e-4


def test_each_example_lists_its_choices_in_one_order_everywhere() -> None:
    for prefix in ("\n", ", "):
        listed = Format(Layout(choice_prefix=prefix), "letter").question(SKY)
        assert listed.index("green") < listed.index("blue") < listed.index("red")


def test_prompts_have_one_digest_if_and_only_if_they_write_the_same() -> None:
    shown = (SUM,)
    silent = Layout(append_choices=False)
    assert (
        Prompt(shown, Format(silent)).digest
        == Prompt(shown, Format(Layout(append_choices=False, choice_prefix="#"))).digest
    )
    different = [
        Prompt(shown, Format(Layout())),
        Prompt((), Format(Layout())),
        Prompt((), Format(Layout(task_prefix="Think."))),
        Prompt((), Format(Layout(input_prefix=""))),
        Prompt((), Format(Layout(output_prefix=""))),
        Prompt((), Format(Layout(choice_prefix=""))),
        Prompt((), Format(Layout(), "letter")),
        Prompt((), Format(Layout(), "number")),
        Prompt((), Format(silent)),
        Prompt(shown, Format(Layout(separator=""))),
    ]
    assert len({prompt.digest for prompt in different}) == len(different)


def test_how_an_answer_is_generated_is_a_part_of_the_prompt() -> None:
    prompt = Prompt((SUM,), Format(Layout()))
    ways = [
        None,
        GenerationSpec(),
        GenerationSpec(max_tokens=8),
        GenerationSpec(temperature=0.5),
        GenerationSpec(stop=()),
        GenerationSpec(stop=("Q",)),
        GenerationSpec(pattern="(.)"),
    ]
    asked = [prompt.asked(None, how) for how in ways]
    assert asked[0] == prompt
    assert len({one.digest for one in asked}) == len(asked)
    assert {one.context(SKY) for one in asked} == {prompt.context(SKY)}
    # What it does by itself may be written down.
    stop = asked[1].format.stops
    assert asked[1].digest == prompt.asked(None, GenerationSpec(stop=stop)).digest
    drawn = draw(task_of(9), 1, count=5)
    assert drawn.asked(None, ways[1]).asked(None) == drawn


def test_an_answer_ends_where_the_prompt_would_ask_again() -> None:
    def stops(**layout: Any) -> tuple[str, ...]:
        return Format(Layout(**layout), generation=GenerationSpec()).stops

    assert stops() == ("\n\nQ:",)
    assert stops(separator="\n\n", input_prefix="") == ()
    assert stops(separator=" ## ", input_prefix="") == (" ##",)
    given = GenerationSpec(stop=("\n",))
    assert Format(Layout(), generation=given).stops == ("\n",)


def test_a_demonstration_of_its_own_text_stands_where_the_layout_adds_nothing() -> None:
    one = Example("e", "1 + 1", ("2", "3"), (0,), solved="one and one are two")
    bare = Layout(input_prefix="", output_prefix="", append_choices=False, target_delimiter=" = ")
    assert Format(bare).demonstration(one) == "one and one are two"
    assert Format(bare).answered(one, 0) == "1 + 1 = 2"
    for layout in (
        replace(bare, input_prefix="Q: "),
        replace(bare, output_prefix="\n"),
        replace(bare, append_choices=True),
    ):
        form = Format(layout)
        assert form.demonstration(one) == form.answered(one, 0)
    letters = Format(replace(bare, append_choices=True, choice_prefix="\n"), "letter")
    assert "one and one" not in letters.demonstration(one)


def test_a_target_delimiter_is_scored_with_the_answer_and_so_is_white_space_before_it() -> None:
    one = Example("e", "1 + 1\n", ("2", "3"), (0,))
    form = Format(Layout("", "", "", "", "", append_choices=False, target_delimiter="= "))
    assert form.scored(one, form.question(one)) == [("1 + 1", ("\n= 2", "\n= 3"))]
    follows = replace(one, choices=("one is", "two is"), input="", continuation="odd")
    assert form.scored(follows, form.question(follows)) == [
        ("one is", ("= odd",)),
        ("two is", ("= odd",)),
    ]
    other = replace(form, layout=replace(form.layout, target_delimiter=" "))
    digests = {Prompt((), each).digest for each in (form, other)}
    assert len(digests) == 2

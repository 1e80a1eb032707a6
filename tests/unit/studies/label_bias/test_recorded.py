"""Labels of recorded results: recalls as they are, and what tells nothing of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.reports.label_bias import bias_facts
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.studies.label_bias.evaluate import judge_recorded
from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file
from tests.notes import noted
from tests.unit.recorded.suites import save, suite_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.record import LabelBiasRecord


def archive(
    path: Path, answers: Sequence[Sequence[int]], gold: Sequence[int], choices: int = 4
) -> None:
    given, right = np.array(answers), np.array(gold)
    save(
        path,
        t__0={
            "correct": given == right,
            "answers": given,
            "gold": right,
            "choice_texts": np.array([[*map(str, range(choices))]] * len(right)),
            "evaluated": given >= 0,
        },
    )


def replanned(path: Path) -> list[Any]:
    return list(plan_file(path))


def planned(folder: Path, block: str = "label_bias: {}", **named: Any) -> list[Any]:
    path = folder / "s.yaml"
    path.write_text(suite_text("{name: t}", block, **named))
    return replanned(path)


def judged(folder: Path, block: str = "label_bias: {}", **named: Any) -> LabelBiasRecord:
    claim, check = planned(folder, block, **named)
    assert isinstance(check, PlannedLabelBias)
    assert check.name == f"{claim.name}::label_bias"
    record = check.record("id", "s.yaml")
    judge_recorded(check, record)
    word(record)
    return record


def mistake(folder: Path, **named: Any) -> str:
    with pytest.raises(SuiteError) as caught:
        planned(folder, **named)
    (problem,) = caught.value.problems
    return str(problem).removeprefix(f"{folder / 's.yaml'}:")


WORDS = ("no", "yes")
GOLD = [0] * 10 + [1] * 6 + [2] * 4 + [3] * 5


def test_recalls_and_shares_are_those_of_the_best_prompt(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    answers = generator.integers(0, 4, (5, 25))
    best = [*[0] * 8, 1, 2, *[1] * 5, 3, *[2] * 3, 0, *[3] * 4, 2]  # 20 right
    answers[3] = best
    archive(tmp_path / "m.npz", answers.tolist(), GOLD)
    record = judged(tmp_path)
    (cloze,) = record.interactions
    assert cloze.interaction == "cloze"
    assert cloze.best_prompt == "3"
    assert cloze.best_accuracy == 20 / 25
    recalls = [8 / 10, 5 / 6, 3 / 4, 4 / 5]
    assert [row.recall for row in cloze.labels] == pytest.approx(recalls)
    assert [row.gold for row in cloze.labels] == [10, 6, 4, 5]
    assert [row.predicted * 25 for row in cloze.labels] == pytest.approx(
        [best.count(label) for label in range(4)]
    )
    assert [row.label for row in cloze.labels] == ["0", "1", "2", "3"]
    assert cloze.rstd == pytest.approx(np.std(recalls))
    assert cloze.score == pytest.approx((sum(recalls) - max(recalls)) / 3)
    assert (cloze.n, cloze.t) == (25, 5)
    assert record.passed
    assert record.finding == "knowledge"
    assert record.base_rate == "off"
    assert "no base rate" in noted(record)[0]
    assert record.engine is None


def test_nothing_is_known_where_the_claim_fails_or_would(tmp_path: Path) -> None:
    """Answers that score above guessers; t counts more prompts than are at hand."""
    gold = [0, 1, 2, 3] * 10
    answers = [right if place < 18 else (right + 1) % 4 for place, right in enumerate(gold)]
    archive(tmp_path / "m.npz", [answers], gold)
    known = judged(tmp_path)
    assert (known.finding, known.doubt, known.passed) == ("knowledge", None, True)
    fails = ("assert: {p_max: 0.001}\n", "", "fails", "the claim itself fails")
    # Nothing fails of which nothing is claimed.
    guesses = "who knows nothing reaches the best accuracy as well"
    reported = ("assert: report\n", ", level: 0.001", "guessed", guesses)
    for claimed, level, doubt, why in (fails, reported):
        unknown = judged(tmp_path, f"{claimed}label_bias: {{check: recall{level}}}")
        assert (unknown.doubt, unknown.finding) == (doubt, "cannot tell")
        assert str(unknown.message).endswith(f": cannot tell, since {why}")


@pytest.mark.parametrize("claimed", ["assert: {p_max: 0.05}\n", "assert: report\n"])
def test_answers_to_a_passage_are_one_piece_of_evidence(tmp_path: Path, claimed: str) -> None:
    """Guesses per passage of four questions: without the passages the best of 20 looks knowing."""
    generator = np.random.default_rng(0)
    gold = np.repeat(generator.permutation([0] * 8 + [1] * 7), 4)
    answers = np.repeat(generator.integers(0, 2, (20, 15)), 4, axis=1)
    table = ["prompt,example,prediction,gold,passage"] + [
        f"p{prompt},{place},{WORDS[said]},{WORDS[gold[place]]},c{place // 4}"
        for prompt, row in enumerate(answers)
        for place, said in enumerate(row)
    ]
    (tmp_path / "r.csv").write_text("\n".join(table), encoding="utf-8")
    model = "r.csv, format: table, shots: 0, columns: {cluster: passage}"
    text = suite_text("{name: t, chance: 1/2}", f"{claimed}label_bias: {{}}\n", model)
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    claim, check = replanned(tmp_path / "s.yaml")
    assert claim.evidence.null.p_max(claim.evidence.results.best_correct) <= 0.05
    record = check.record("id", "s.yaml")
    judge_recorded(check, record)
    (cloze,) = record.interactions
    assert cloze.p_value <= 0.05
    assert cloze.permutation_p > 0.05
    doubt = "guessed" if "report" in claimed else "fails"
    assert (record.doubt, record.finding, record.passed) == (doubt, "cannot tell", False)


def test_t_is_the_claims(tmp_path: Path) -> None:
    archive(tmp_path / "m.npz", [GOLD], GOLD)
    claim, check = planned(tmp_path)
    path = tmp_path / "s.yaml"
    path.write_text(path.read_text().replace("{name: t}", "{name: t, t: 500}"))
    claim, check = replanned(path)
    record = check.record("id", "s.yaml")
    judge_recorded(check, record)
    assert record.interactions[0].t == claim.evidence.null.t == 500


def test_answers_that_were_not_evaluated_count_for_nothing(tmp_path: Path) -> None:
    answers = [[-1, *GOLD[1:]], [*GOLD[:-1], -1]]
    archive(tmp_path / "m.npz", answers, GOLD)
    (cloze,) = judged(tmp_path, model="m.npz, format: npz, ragged: true").interactions
    assert cloze.n == 24
    assert cloze.score == 1
    assert sum(row.gold for row in cloze.labels) == 24


def test_an_answer_that_is_no_choice_is_wrong_and_no_label(tmp_path: Path) -> None:
    rows = ["prompt,example,prediction,gold,choices"]
    gold = ["B", "A", "C", "A", "B", "C", "A", "B"] * 3
    for prompt in range(2):
        for number, right in enumerate(gold):
            said = "no idea" if number == 0 else right
            rows.append(f"p{prompt},e{number},{said},{right},3")
    (tmp_path / "m.csv").write_text("\n".join(rows) + "\n")
    record = judged(tmp_path, model="m.csv, format: table, shots: 0")
    (cloze,) = record.interactions
    assert [row.label for row in cloze.labels] == ["A", "B", "C"]
    assert [row.gold for row in cloze.labels] == [9, 9, 6]
    assert [row.recall for row in cloze.labels] == [1, 8 / 9, 1]
    assert sum(row.predicted for row in cloze.labels) == pytest.approx(23 / 24)
    told = dict(bias_facts(cloze, record))["Other answers"]
    assert told == "4.17 % of this prompt's are none of the labels"


@pytest.mark.parametrize("unread", ["?", "none", "2", "Paris"])
def test_a_choice_that_is_never_right_is_a_label_rather_than_an_answer_that_was_not_read(
    tmp_path: Path, unread: str
) -> None:
    rows = ["prompt,example,prediction,gold,choices"]
    for number, right in enumerate("ABC" * 10):
        said = unread if number < 12 else "D" if number < 20 else right
        rows.append(f"p,e{number},{said},{right},4")
    (tmp_path / "m.csv").write_text("\n".join(rows) + "\n")
    (cloze,) = judged(tmp_path, model="m.csv, format: table, shots: 0").interactions
    assert [row.label for row in cloze.labels] == ["A", "B", "C", "D"]
    assert cloze.labels[3].predicted == pytest.approx(8 / 30)


def test_without_answers_or_gold_there_are_no_labels(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", t__0={"correct": [[True, False, True, False]] * 2,
                                      "choices": [2] * 4})  # fmt: skip
    assert mistake(tmp_path) == (
        "5: label_bias: t[m-0shot]: m.npz does not say which answers were given and which are "
        "right; give results with both, or remove `label_bias`"
    )


def test_in_a_suite_of_several_tasks_the_others_can_be_named(tmp_path: Path) -> None:
    archive(tmp_path / "m.npz", [[0, 1, 0, 1]], [0, 0, 0, 0])
    shown = dict(np.load(tmp_path / "m.npz"))
    np.savez(tmp_path / "m.npz", **shown, **{f"u{key[1:]}": each for key, each in shown.items()})
    (tmp_path / "s.yaml").write_text(
        suite_text("{name: t}\n- {name: u}", "label_bias: {tasks: [t]}\n")
    )
    with pytest.raises(SuiteError, match=r"or name the other tasks in `label_bias\.tasks`"):
        replanned(tmp_path / "s.yaml")


def test_without_numbers_of_choices_there_are_no_guessers(tmp_path: Path) -> None:
    given = np.array([[0, 1, 0, 1]])
    save(tmp_path / "m.npz", t__0={"correct": given == given[0], "answers": given,
                                      "gold": given[0]})  # fmt: skip
    path = tmp_path / "s.yaml"
    path.write_text(suite_text("{name: t, chance: 1/2}", "label_bias: {}\n"))
    _, check = replanned(path)
    assert check.answers.choices == (2, 2, 2, 2)


def test_one_right_label_tells_nothing(tmp_path: Path) -> None:
    archive(tmp_path / "m.npz", [[0, 1, 0, 1]], [0, 0, 0, 0])
    assert mistake(tmp_path).startswith(
        "5: label_bias: t[m-0shot]: a prompt was scored on examples whose right answers all have "
        "the same label"
    )


def test_texts_that_differ_from_example_to_example_are_no_labels(tmp_path: Path) -> None:
    rows = ["prompt,example,prediction,gold,choices"]
    rows += [f"p,e{number},text {number},text {number},2" for number in range(8)]
    (tmp_path / "m.csv").write_text("\n".join(rows) + "\n")
    told = mistake(tmp_path, model="m.csv, format: table, shots: 0")
    assert "right answers to questions with 2 choices have more than 2 different labels" in told
    assert told.endswith("A, B, C, correct the numbers of choices, or remove `label_bias`")


LETTERS = ["A", "B", "C", "D", "E", "F"] * 4


def stated(folder: Path, chance: str) -> Any:
    """The check of letters whose number only the suite tells."""
    rows = ["prompt,example,prediction,gold"]
    rows += [f"p,e{number},{right},{right}" for number, right in enumerate(LETTERS)]
    (folder / "m.csv").write_text("\n".join(rows) + "\n")
    path = folder / "s.yaml"
    model = "m.csv, format: table, shots: 0"
    path.write_text(suite_text(f"{{name: t, chance: {chance}}}", "label_bias: {}\n", model=model))
    return replanned(path)[1].answers


@pytest.mark.parametrize("chance", ["1/6", "0.167", "0.17", "0.1667"])
def test_a_rounded_chance_is_that_of_the_nearest_whole_number_of_choices(
    tmp_path: Path, chance: str
) -> None:
    answers = stated(tmp_path, chance)
    assert answers.choices == (6,) * len(LETTERS)
    assert answers.labels == tuple("ABCDEF")


@pytest.mark.parametrize(
    ("chance", "told"),
    [
        (
            "0.3",
            "chance 3/10 is not 1 over a whole number of choices; give each example's number of "
            "choices in the results, or remove `label_bias`",
        ),
        (
            "1/4",
            "right answers to questions with 4 choices have more than 4 different labels, so "
            "examples share no labels: use common labels, such as A, B, C, correct `chance`, or "
            "remove `label_bias`",
        ),
    ],
)
def test_a_chance_that_cannot_be_that_of_the_labels_is_named(
    tmp_path: Path, chance: str, told: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        stated(tmp_path, chance)
    (problem,) = caught.value.problems
    assert str(problem).endswith(f"label_bias: t[m-0shot]: {told}")


def test_results_that_are_missing_are_skipped_and_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "models:\n- {name: m, backend: recorded, if_missing: get it, "
        "results: {path: m.npz, format: npz}}\n"
        "tasks: [{name: t}]\nprompts: {shots: [0]}\nlabel_bias: {}\n"
    )
    _, check = replanned(tmp_path / "s.yaml")
    assert check.answers is None

"""What is found of labels: of models that know or prefer a letter, by rule or by training."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from scipy.stats import binom

from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file
from tests.plugin.label_suite import BIAS, CLAIM, FEW, MAJORITY, LabelSuite

if TYPE_CHECKING:
    from pathlib import Path


CHECKS = ("recall", "move", "redraw")
"""In this order each finds in the store what those before it asked of a model that is run."""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> LabelSuite:
    return LabelSuite(pytester)


def test_a_constant_label_beats_the_baseline_where_it_is_often_right_and_is_caught(
    suite: LabelSuite,
) -> None:
    for check in CHECKS:
        claimed = "assert: {p_max: 0.05}"
        suite.write("prefers: A", MAJORITY, f"{claimed}\nlabel_bias: {{check: {check}}}")
        found = suite.run()
        claim, bias = found[CLAIM], found[BIAS]
        assert claim["best_correct"] == 45
        assert claim["holds"]
        assert claim["p_max"] == pytest.approx(1 - binom.cdf(44, 100, 0.25) ** 10, rel=1e-6)
        assert 2e-5 < claim["p_max"] < 2e-4
        kinds = {flag["kind"] for flag in claim["red_flags"]}
        assert {"majority", "max_t"} <= kinds
        (cloze,) = bias["interactions"]
        assert cloze["score"] == 0
        assert cloze["p_value"] == 1
        assert [row["predicted"] for row in cloze["labels"]] == [1, 0, 0, 0]
        assert bias["check"] == check
        assert bias["passed"] is False
        assert bias["finding"] == "label preference"
        assert "label preference" in bias["message"]
        assert "\n" not in bias["message"]
        assert bias["outcome"] == "failed"
        # 45, 20, 18, 17 as the examples are, else all of them at each label
        golds = [45, 20, 18, 17] if check == "recall" else [100] * 4
        assert [row["gold"] for row in cloze["labels"]] == golds
        assert cloze["labels"][0]["base_rate"] > 0.9


@pytest.mark.slow  # its model is trained
def test_a_model_that_knows_passes_in_every_way_of_asking(suite: LabelSuite, knowing: Path) -> None:
    for check in CHECKS:
        block = f"{{check: {check}, interactions: [cloze, counterfactual]}}"
        suite.write(knowing, FEW, f"label_bias: {block}", t=3)
        found = suite.run()
        suite.result.assert_outcomes(passed=2)
        bias = found[BIAS]
        assert bias["check"] == check
        assert bias["passed"] is True
        assert bias["finding"] == "knowledge"
        assert [each["interaction"] for each in bias["interactions"]] == ["cloze", "counterfactual"]
        for each in bias["interactions"]:
            assert each["score"] > 0.9
            assert each["p_value"] < 1e-6
            assert each["t"] == found[CLAIM]["t"] == 3


def test_a_claim_that_is_expected_to_fail_lets_its_labels_fail_or_pass(
    suite: LabelSuite,
) -> None:
    xfail = "assert: {red_flags: warn}\nxfail: it knows no letters\nlabel_bias: {}"
    suite.write("prefers: A", FEW, xfail, t=2)
    found = suite.run()
    suite.result.assert_outcomes(xfailed=2)
    assert found[BIAS]["outcome"] == "xfailed"
    assert found[BIAS]["xfail"] == "it knows no letters"
    assert "; t = 2, n = 24): label preference" in found[BIAS]["message"]
    suite.run("--runxfail")
    suite.result.assert_outcomes(failed=2)
    suite.write("knows: 1.0", FEW, xfail, t=2)
    found = suite.run()
    suite.result.assert_outcomes(passed=1, failed=1)  # strict is the claim alone
    assert found[BIAS]["outcome"] == "passed"


def test_moving_costs_less_than_the_three_sweeps_that_it_adds(
    suite: LabelSuite, preferring: Path
) -> None:
    """Every placement but the claim's own, asked as it is, would cost a sweep.

    What the placements of an example share is computed once: with the claim's own sweep, `move`
    costs well under four.
    """
    few = FEW[:8]
    suite.write(preferring, few, "label_bias: {check: move, base_rate: off, assert: report}", t=2)
    bias = suite.run()[BIAS]
    assert bias["engine"]["requests"] == 2 * len(few) * 3 * 4
    assert 0 < bias["sweeps"] < 2.5
    again = suite.run()[BIAS]
    assert (again["engine"]["tokens_forwarded"], again["engine"]["reused"] > 0) == (0, True)
    assert again["sweeps"] == pytest.approx(bias["sweeps"])
    suite.write(preferring, few, "label_bias: {base_rate: off, assert: report}", t=2)
    recall = suite.run()[BIAS]
    assert recall["engine"] is None
    assert recall["sweeps"] is None


def test_base_rates_and_calibration_of_a_model_that_prefers_a_letter(
    suite: LabelSuite, preferring: Path
) -> None:
    block = "{base_rate: content_free, calibration: [contextual, pride], assert: report}"
    suite.write(preferring, FEW, f"label_bias: {block}", t=2)
    bias = suite.run()[BIAS]
    (cloze,) = bias["interactions"]
    rates = [row["base_rate"] for row in cloze["labels"]]
    assert sum(rates) == pytest.approx(1)
    assert rates[0] > 0.9
    assert rates[1] == pytest.approx(rates[2]) == pytest.approx(rates[3])
    assert cloze["base_rate_mass"] < 0.02
    contextual, pride = cloze["calibrated"]
    assert (contextual["method"], contextual["n"]) == ("contextual", 24)
    assert (pride["method"], pride["n"]) == ("pride", 23)
    for each in (contextual, pride):
        assert each["prior"] == pytest.approx(dict(zip("ABCD", rates, strict=True)), abs=1e-6)
        # What is answered is then what the letters have beyond it: nothing, so that lots decide.
        assert each["best_accuracy"] == each["best_correct"] / each["n"]
        tail = binom.sf(each["best_correct"] - 1, each["n"], 0.25)
        assert each["p_max"] == pytest.approx(1 - (1 - tail) ** 2)
    (note,) = (note["text"] for note in bias["notes"] if "PriDe" in note["text"])
    assert note.startswith("Cloze: PriDe's prior comes from held-back examples, 1 with 4 choices; ")
    assert not any(" has no " in note["text"] for note in bias["notes"])


def test_a_few_shot_claim_that_leaves_its_demonstrations_out(suite: LabelSuite) -> None:
    block = "{check: redraw, calibration: pride, assert: report}"
    suite.write("prefers: A", FEW, f"label_bias: {block}", t=6)
    text = (suite.folder / "suite.yaml").read_text().replace("shots: [0]", "shots: [2]")
    (suite.folder / "suite.yaml").write_text(text)
    found = suite.run()
    (cloze,) = found[f"{CLAIM.replace('0shot', '2shot')}::label_bias"]["interactions"]
    assert cloze["n"] == 22
    assert [row["gold"] for row in cloze["labels"]] == [22] * 4
    assert cloze["score"] == 0
    assert cloze["calibrated"][0]["n"] in (21, 22)


def test_a_counterfactual_claim_is_asked_as_it_asks(suite: LabelSuite, preferring: Path) -> None:
    suite.write(
        preferring, FEW, "scoring: counterfactual\nlabel_bias: {check: move, assert: report}", t=2
    )
    found = suite.run()
    (own,) = found[BIAS]["interactions"]
    assert own["interaction"] == "counterfactual"
    # What is scored is the same after each letter, and no letter is likelier for it.
    assert [row["base_rate"] for row in own["labels"]] == pytest.approx([0.25] * 4, abs=1e-4)
    assert found[BIAS]["finding"] == "cannot tell"
    assert len(suite.ledger()) == 2
    suite.write(
        preferring,
        FEW,
        "scoring: counterfactual\nlabel_bias: {interactions: [cloze], assert: report}",
        t=2,
    )
    (cloze,) = suite.run()[BIAS]["interactions"]
    assert [row["predicted"] for row in cloze["labels"]] == [1, 0, 0, 0]
    assert len(suite.ledger()) == 2


def test_prompts_in_different_formats_have_labels_by_place(suite: LabelSuite) -> None:
    suite.write("prefers: [1]", FEW, "label_bias: {check: move, assert: report}", t=4)
    text = (suite.folder / "suite.yaml").read_text()
    text = text.replace(
        "formats: [{labels: letter,", "formats: [{labels: number}, {labels: letter,"
    )
    (suite.folder / "suite.yaml").write_text(text)
    (cloze,) = suite.run()[BIAS]["interactions"]
    assert [row["label"] for row in cloze["labels"]] == [f"place {place}" for place in range(1, 5)]
    assert all(row["base_rate"] is not None for row in cloze["labels"])


def test_examples_may_have_other_numbers_of_choices_and_several_right_answers(
    suite: LabelSuite,
) -> None:
    suite.write(
        "prefers: A",
        FEW,
        "label_bias: {check: redraw, interactions: [cloze, counterfactual], assert: report,\n"
        "  calibration: [contextual, pride]}",
        t=2,
    )
    rows = [
        {
            "id": f"e{number}",
            "input": f"{number}",
            "choices": [f"{number} {text}" for text in "abcde"[: 2 + number % 4]],
            "answer": [f"{number} a", f"{number} b"] if number % 4 == 3 else f"{number} b",
        }
        for number in range(40)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (suite.folder / "letters.jsonl").write_text(text)
    bias = suite.run()[BIAS]
    for each in bias["interactions"]:
        # of 40 examples all have A and B, 30 have C, 20 D, 10 E
        assert [row["gold"] for row in each["labels"]] == [40, 40, 30, 20, 10]
        assert [row["label"] for row in each["labels"]] == list("ABCDE")
        assert [one["n"] for one in each["calibrated"]] == [40, 36]
    assert bias["interactions"][0]["score"] == 0
    assert any("several right answers" in note["text"] for note in bias["notes"])
    assert any("ledger does not list them" in note["text"] for note in bias["notes"])
    assert len(suite.ledger()) == 2


def test_a_prompt_that_shows_the_held_back_example_leaves_no_prior(
    pytester: pytest.Pytester,
) -> None:
    suite = LabelSuite(pytester)
    path = suite.folder / "suite.yaml"

    def write(seed: int) -> bool:
        block = f"{{seed: {seed}, base_rate: off, calibration: [pride], assert: report}}"
        suite.write("prefers: A", FEW, f"label_bias: {block}", t=1)
        path.write_text(path.read_text().replace("shots: [0]", "shots: [1]"))
        _, check = plan_file(path)
        assert isinstance(check, PlannedLabelBias)
        (plan,) = check.interactions
        return plan.held == {example.id for example in plan.asked.prompts[0].demonstrations}

    next(filter(write, range(500)))
    bias = next(each for name, each in suite.run().items() if name.endswith("::label_bias"))
    assert (
        "Cloze has no pride calibration: no prompt was scored on held-back examples and on others."
        in [note["text"] for note in bias["notes"]]
    )
    (cloze,) = bias["interactions"]
    assert cloze["calibrated"] == []
    assert cloze["n"] == len(FEW) - 1

"""Labels whose prior is not known: the check says so, and all else of it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
from pytest_maxrandom.studies.plan import plan_file
from tests.plugin.label_suite import FEW, LabelSuite

if TYPE_CHECKING:
    import pytest


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

"""How far each model is from the one with the highest score, drawn as its record says."""

from __future__ import annotations

from dataclasses import replace

from pytest_maxrandom.figures.best_models import distances, figures
from pytest_maxrandom.figures.catalogue import of_run
from tests.unit.figures import common
from tests.unit.reports import samples


def test_each_model_stands_at_its_difference_with_its_interval() -> None:
    [(name, figure)] = figures(samples.run(best_models=[samples.best_models()]))
    assert name == "best_models"
    [axes] = common.panels(figure)
    assert [each.get_text() for each in axes.get_yticklabels()] == ["large", "medium", "small"]
    drawn = {
        str(line.get_label()): (common.data(line), line.get_markerfacecolor())
        for line in axes.lines
        if line.get_marker() == "o"
    }
    assert drawn == {
        "large": ([(0.0, 0)], "#000000"),
        "medium": ([(-0.05, 1)], "#000000"),
        "small": ([(-0.25, 2)], "white"),
    }
    ends = {str(line.get_label()): common.data(line) for line in axes.lines}
    assert ends["interval of small"] == [(-0.402, 2), (-0.072, 2)]


def test_the_sign_is_that_of_the_model_on_whichever_side_of_a_pair_it_stands() -> None:
    record = samples.best_models()
    turned = [
        replace(pair, first=pair.second, second=pair.first, difference=-pair.difference,
                low=-pair.high, high=-pair.low)
        for pair in record.pairs
    ]  # fmt: skip
    assert distances(replace(record, pairs=turned)) == distances(record)


def test_what_has_no_result_has_no_figure() -> None:
    record = replace(samples.best_models(), models=[], pairs=[])
    assert "best_models" not in of_run(samples.run(samples.claim(), best_models=[record])).families

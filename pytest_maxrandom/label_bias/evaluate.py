"""Label bias of a claim whose model is run: all that is asked, and what it says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.label_bias import answers
from pytest_maxrandom.label_bias.calibrate import contextual, pride
from pytest_maxrandom.label_bias.conclude import BaseRates, add_base_rates, conclude, reduce
from pytest_maxrandom.label_bias.costs import Costs
from pytest_maxrandom.predictions import together
from pytest_maxrandom.stats.base_rate import base_rates

if TYPE_CHECKING:
    from pytest_maxrandom.asking import Work
    from pytest_maxrandom.evaluation import Evaluation
    from pytest_maxrandom.label_bias.conclude import Reduced
    from pytest_maxrandom.label_bias.plan import PlannedLabelBias
    from pytest_maxrandom.label_bias.ways import Way
    from pytest_maxrandom.predictions import Predictions, PromptPredictions, Scoring
    from pytest_maxrandom.record import Calibrated, LabelBiasRecord
    from pytest_maxrandom.sweep import Progress, Sweep


class LabelBiasEvaluation:
    """Label bias of one claim, being found out.

    Parameters
    ----------
    planned : PlannedLabelBias
        What is to be found out.
    evaluation : Evaluation
        Of the claim itself: its prompts are counted in the ledger; all else that is asked is no
        try, because nothing is chosen by it.
    """

    def __init__(self, planned: PlannedLabelBias, evaluation: Evaluation) -> None:
        self._planned = planned
        self._evaluation = evaluation
        self._costs = Costs()

    def prepare(self) -> None:
        """Load the model, unless all that is asked of it is stored.

        Raises
        ------
        ModelError
            If it cannot be loaded.
        """
        self._evaluation.prepare()
        works = (work for way in self._planned.ways for work in way.works)
        if not all(self._evaluation.knows(work, scoring) for work, scoring in works):
            self._evaluation.load()

    def run(self, record: LabelBiasRecord, progress: Progress) -> None:
        """Ask in every way, and write down what is found.

        Raises
        ------
        SweepError
            If a prompt cannot be scored.
        """
        own = self._evaluation.sweep(progress)
        t, *_ = self._evaluation.counted()
        found = [_Asked(way, self, own, t, progress).reduced(record) for way in self._planned.ways]
        conclude(record, found, self._planned.spec)
        record.engine, record.sweeps = self._costs.engine, self._costs.in_units_of(own)

    def ask(self, work: Work, scoring: Scoring, progress: Progress) -> Sweep:
        """Run what is no try of the claim, and add up what it costs."""
        return self._costs.add(self._evaluation.ask(work, scoring, progress))


class _Asked:
    """One way of asking, asked.

    Parameters
    ----------
    own : Sweep
        The claim's.
    t : int
        All prompts that count.
    """

    def __init__(
        self, way: Way, asking: LabelBiasEvaluation, own: Sweep, t: int, progress: Progress
    ) -> None:
        self._way, self._t = way, t

        def ask(work: Work, scoring: Scoring) -> Sweep:
            return asking.ask(work, scoring, progress)

        self._ask = ask
        natural = own if way.own else ask(way.natural, way.scoring)
        self._natural = natural.predictions

    def reduced(self, record: LabelBiasRecord) -> Reduced:
        """Return the numbers, and add to the record's notes what of them there is not."""
        way = self._way
        if way.moved:
            further = self._ask(way.moved, way.scoring).predictions
            asked = answers.moved(way.labels, way.names, together(self._natural, further))
        else:
            asked = answers.natural(way.labels, way.names, self._natural)
        found = reduce(asked, way.interaction, way.spec, self._t)
        free = self._ask(way.content_free, way.alone).predictions if way.content_free else None
        if way.control:
            texts = self._ask(way.control, way.alone).predictions.prompts
            form = self._natural.prompts[found.best].prompt.format
            self._add_base_rates(found, texts[way.formats.index(form)], record)
        elif free is not None and way.spec.base_rate == "content_free":
            self._add_base_rates(found, free.prompts[found.best], record)
        for method in way.spec.calibration:
            rotated = self._ask(way.rotated, way.scoring).predictions if method == "pride" else None
            try:
                calibrated = self._calibrated(rotated, free)
            except ValueError as error:
                record.notes.append(f"{self._called} {method} calibration: {error}.")
                continue
            if calibrated is not None:
                found.bias.calibrated.append(calibrated)
                if rotated is not None:
                    record.notes.append(self._held_back())
            else:
                record.notes.append(
                    f"{self._called} {method} calibration: no prompt was scored on held-back "
                    "examples and on others."
                )
        return found

    def _held_back(self) -> str:
        """Say how few examples PriDe's prior comes from."""
        way = self._way
        pairs = zip(way.labels.examples, way.labels.choices, strict=True)
        sizes = Counter(choices for example, choices in pairs if example.id in way.held)
        each = [f"{size} with {choices} choices" for choices, size in sorted(sizes.items())]
        return (
            f"{self._called} PriDe: the prior is that of held-back examples, {', '.join(each)}; "
            "prompts are compared on those of the others that it is known for: of as many choices "
            "as a held-back example that the prompt does not show."
        )

    def _add_base_rates(
        self, found: Reduced, texts: PromptPredictions, record: LabelBiasRecord
    ) -> None:
        """Add the probabilities of the labels of examples with the most choices."""
        m = len(self._way.names)
        rows = [row for row in texts.log_likelihoods if len(row) == m]
        try:
            # Rounding may leave a probability of 1 a little above it.
            rates = base_rates(np.minimum(rows, 0.0))
        except ValueError as error:
            record.notes.append(f"{self._called} base rates: {error}.")
            return
        # What follows after each label is one continuation, and its probabilities make no whole.
        mass = None if self._way.interaction == "counterfactual" else float(rates.mass)
        add_base_rates(found.bias, BaseRates(rates.rates, mass))

    def _calibrated(
        self, rotated: Predictions | None, free: Predictions | None
    ) -> Calibrated | None:
        """Return what PriDe gives where examples were rotated, else contextual calibration."""
        way = self._way
        if rotated is not None:
            return pride(way.labels, way.names, self._natural, rotated, way.held, self._t)
        assert free is not None
        return contextual(way.labels, way.names, self._natural, free, self._t)

    @property
    def _called(self) -> str:
        return f"{self._way.interaction.capitalize()} has no"

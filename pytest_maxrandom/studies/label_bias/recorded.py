"""Label bias of recorded results: recalls only, because nobody can be asked again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.assessment import assess_recorded
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.record import LabelBiasRecord, Remark, note
from pytest_maxrandom.stats.chances import choices_of, is_share
from pytest_maxrandom.stats.labels.scores import recalls
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.studies.label_bias.answers import LabelAnswers
from pytest_maxrandom.studies.label_bias.conclude import conclude, reduce
from pytest_maxrandom.studies.label_bias.of_claim import OfClaim, holds
from pytest_maxrandom.studies.label_bias.plan import asserted, leaving_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.claims.recorded import RecordedClaim
    from pytest_maxrandom.suite.claims import LabelBiasSpec
    from pytest_maxrandom.suite.loader import RecordedSuite
    from pytest_maxrandom.sweeps.answers import Answers


class _NoLabels(ValueError):
    """Why results tell nothing of labels, in one clause with a way out, beside `leaving_out`."""


@dataclass(frozen=True, eq=False)
class PlannedRecordedLabelBias(OfClaim):
    """The check of one recorded claim's labels, ready to be made.

    Attributes
    ----------
    answers : LabelAnswers or None
        None where the results are missing.
    """

    claim: RecordedClaim
    spec: LabelBiasSpec
    answers: LabelAnswers | None

    def record(self, node_id: str, suite: str) -> LabelBiasRecord:
        """Return what can be said of the check before it is made."""
        claim = self.claim
        record = LabelBiasRecord(
            id=node_id,
            suite=suite,
            line=self.line,
            claim=f"{suite}::{claim.name}",
            task=claim.task,
            model=claim.model.name,
            quantization=claim.model.quantization or "",
            shots=claim.shots or 0,
            check="recall",
            base_rate="off",
            seed=self.spec.seed,
            asserted=asserted(self.spec),
        )
        return note(record, Remark("no_base_rate_of_results"))

    def judge(self, record: LabelBiasRecord) -> None:
        """Fill the record."""
        assert self.answers is not None
        assert self.claim.evidence is not None
        claim = self.claim.record(record.claim, record.suite)
        assess_recorded(self.claim, claim)
        record.claim_holds = holds(claim, self.spec.level)
        found = reduce(
            self.answers,
            "cloze",
            self.spec,
            self.claim.evidence.null.t,
            claim_holds=record.claim_holds,
        )
        conclude(record, [found])


def plan_recorded_label_bias(
    suite: RecordedSuite, claims: Sequence[RecordedClaim]
) -> list[RecordedClaim | PlannedRecordedLabelBias]:
    """Return the claims, each with the check of its labels after it, if the suite asks for them.

    Raises
    ------
    SuiteError
        With all the reasons why results tell nothing of labels.
    """
    spec = suite.spec.label_bias
    problems: dict[Problem, None] = {}
    found: list[RecordedClaim | PlannedRecordedLabelBias] = []
    for claim in claims:
        found.append(claim)
        if spec is None or not spec.is_about(claim.task):
            continue
        try:
            answers = None if claim.evidence is None else _answers(claim)
        except _NoLabels as reason:
            ways_out = leaving_out(suite.spec.tasks)
            message = f"label_bias: {claim.name}: {reason}, or {ways_out}"
            problems[Problem(suite.path, suite.line("label_bias"), message)] = None
        else:
            found.append(PlannedRecordedLabelBias(claim, spec, answers))
    if problems:
        raise SuiteError(problems)
    return found


def _answers(claim: RecordedClaim) -> LabelAnswers:
    """Return what was answered, as labels.

    Raises
    ------
    _NoLabels
        If the results do not tell that, or labels mean nothing in them.
    """
    assert claim.evidence is not None
    sweep, chances = claim.evidence.results, claim.evidence.chances
    path = claim.model.results.path
    if sweep is None or sweep.answers is None or sweep.gold is None:
        raise _NoLabels(
            f"{path} does not tell which answers were given and which are right; give results "
            "with both"
        )
    if claim.model.results.format == "predictions":
        raise _NoLabels(
            f"{path} does not tell how prompts write the choices; write `label_bias` into the "
            "suite whose run wrote it"
        )
    if chances is None:
        raise _NoLabels(
            f"{path} does not tell how many choices each example has; give them or one `chance` of "
            "the task"
        )
    rights = [*map(len, sweep.gold)]
    for right, chance in zip(rights, chances, strict=True):
        if not is_share(right, chance):
            raise _NoLabels(
                f"chance {chance} is no share of whole choices; give each example's number of "
                "choices in the results"
            )
    choices = [*map(choices_of, rights, chances)]
    codes, names = _labels(sweep, choices)
    table = np.array([*codes, NOT_EVALUATED])  # so that -1 stays what it is
    answers = LabelAnswers(
        names=names,
        ids=sweep.examples,
        choices=tuple(choices),
        gold=tuple(frozenset(codes[each] for each in right) for right in sweep.gold),
        prompts=sweep.prompts,
        answers=table[sweep.answers],
        groups=sweep.groups,
    )
    by_label = recalls(answers.answers, answers.gold, len(names))
    if ((~np.isnan(by_label)).sum(axis=1) < 2).any():
        raise _NoLabels(
            "a prompt was scored on examples whose right answers all have the same label, so that "
            "nothing tells knowledge from a preference for it; use other examples"
        )
    return answers


def _labels(sweep: Answers, choices: Sequence[int]) -> tuple[list[int], tuple[str, ...]]:
    """Return the new code of each label, so that k choices are 0, ..., k - 1, and their names.

    Answers that are no choice, such as texts that were not understood, have the codes beyond.

    Raises
    ------
    _NoLabels
        If choices are called otherwise in different examples.
    """
    assert sweep.answers is not None
    assert sweep.gold is not None
    if not sweep.labels:
        most = max(choices)
        return [*range(most)], tuple(f"place {place}" for place in range(1, most + 1))
    # A label belongs to the fewest choices beside which it is ever right; the others come last.
    never = max(choices) + 1
    fewest = [never] * len(sweep.labels)
    for right, k in zip(sweep.gold, choices, strict=True):
        for each in right:
            fewest[each] = min(fewest[each], k)
    # Of labels that are never right, choices look like those that are, and are given oftener.
    kinds = {_kind(name) for name, k in zip(sweep.labels, fewest, strict=True) if k < never}
    times = Counter(sweep.answers[sweep.evaluated].tolist())

    def place(label: int) -> tuple[object, ...]:
        name = sweep.labels[label]
        unlike = (_kind(name) not in kinds, -times[label]) if fewest[label] == never else ()
        # Short names first, so that 2 stands before 10.
        return fewest[label], unlike, len(name), name

    order = sorted(range(len(fewest)), key=place)
    codes = [0] * len(order)
    for code, each in enumerate(order):
        codes[each] = code
    for right, k in zip(sweep.gold, choices, strict=True):
        if any(codes[each] >= k for each in right):
            raise _NoLabels(
                f"right answers to questions with {k} choices are called in more than {k} ways, so "
                "no answer has a label that all examples share: call them alike, such as A, B, C"
                f"{_or_correct(sweep)}"
            )
    return codes, tuple(sweep.labels[each] for each in order[: max(choices)])


def _kind(name: str) -> str:
    if name.isdecimal():
        return "number"
    return "letter" if len(name) == 1 and name.isalpha() else "text"


def _or_correct(sweep: Answers) -> str:
    """Name what may be wrong where somebody wrote how many choices there are."""
    if sweep.chances is None:
        return ", correct `chance`"
    return ", correct the numbers of choices" if sweep.choices_counted else ""

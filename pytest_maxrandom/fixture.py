"""Claims in hand-written tests, about sweeps that were run elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ClaimFailed
from pytest_maxrandom.nulls import Guessers
from pytest_maxrandom.record import ClaimRecord
from pytest_maxrandom.run import RECORDS
from pytest_maxrandom.verdict import Claim, judge

if TYPE_CHECKING:
    import pytest

    from pytest_maxrandom.stats.chances import Chance
    from pytest_maxrandom.verdict import Verdict


class HandWrittenClaims:
    """What the fixture `maxrandom` gives a test."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._records: list[ClaimRecord] = []
        item.stash[RECORDS] = self._records

    def check(
        self,
        *,
        best_correct: int,
        n: int,
        t: int,
        chance: Chance,
        p_max: float | None = None,
        beats: str | None = None,
        task: str = "",
        model: str = "",
        shots: int = 0,
    ) -> Verdict:
        """Assert that the best of t prompts is beyond the best of t random guessers.

        Parameters
        ----------
        best_correct : int
            Right answers of the best prompt, of `n`.
        chance : float, Fraction, mapping or sequence
            As :class:`pytest_maxrandom.MaxRandomBaseline` takes it.
        p_max : float, optional
            p_max is at most this; 0.05 if no claim is given.
        beats : str, optional
            "max_random" or "standard": the best accuracy is above that baseline.
        task, model, shots
            For the reports.

        Raises
        ------
        ClaimFailed
            In one line, if the claim does not hold.
        ValueError, TypeError
            If a number is outside its domain.
        """
        __tracebackhide__ = True
        place = len(self._records) + 1
        claim = _claim(p_max, beats)
        null = Guessers.alike(n, chance, t)
        verdict = judge(claim, null, best_correct)
        path, line, _ = self._item.location
        record = ClaimRecord(
            id=self._item.nodeid if place == 1 else f"{self._item.nodeid}#{place}",
            suite=path,
            line=(line or 0) + 1,
            task=task or self._item.name,
            model=model,
            quantization="",
            shots=shots,
            asserted=claim.asserted(),
            backend="numbers",
            scoring="",
        )
        verdict.write_into(record)
        self._records.append(record)
        if verdict.message:
            raise ClaimFailed(verdict.message)
        return verdict


def _claim(p_max: float | None, beats: str | None) -> Claim:
    if p_max is not None and not 0 < p_max < 1:
        raise ValueError(f"p_max must be a number above 0 and below 1, found {p_max!r}")
    if beats not in (None, "max_random", "standard"):
        raise ValueError(f"beats must be 'max_random' or 'standard', found {beats!r}")
    return Claim(p_max, beats) if (p_max, beats) != (None, None) else Claim.of(None)

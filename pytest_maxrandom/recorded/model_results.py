"""The results that a suite names for each of its models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError, listed, nearest_file
from pytest_maxrandom.recorded.sources import locate, read_results
from pytest_maxrandom.recorded.tables.grid import Meant
from pytest_maxrandom.suite.recorded import StatedShots

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.suite.loader import RecordedSuite
    from pytest_maxrandom.suite.recorded import RecordedModelSpec, ResultsSpec


class ModelResults:
    """Reads the files that a suite names, each of them once."""

    def __init__(self, suite: RecordedSuite) -> None:
        self._suite = suite
        self._read: dict[tuple[ResultsSpec, str | None, int | None], list[Answers]] = {}

    def of(self, model: RecordedModelSpec) -> list[Answers] | None:
        """Return all results of a model; None where they are missing, and need not be there.

        Raises
        ------
        RecordedError
            If they cannot be read, or are of other models.
        """
        spec = model.results
        try:
            path = locate(spec, self._suite.path.parent)
            if not path.exists():
                raise RecordedError(
                    f"{path}: no such file or folder; correct the path, or say in `if_missing` "
                    f"how to get it, and its claims are skipped"
                    f"{nearest_file(path) if path.parent.is_dir() else ''}"
                )
        except RecordedError:
            if model.if_missing is None:
                raise
            return None
        return self._of_model(model, self._read_once(spec, path, model), path)

    def _read_once(self, spec: ResultsSpec, path: Path, model: RecordedModelSpec) -> list[Answers]:
        stated = spec.shots if isinstance(spec, StatedShots) else None
        tasks, shots = self._suite.spec.tasks, self._suite.spec.prompts.shots or []
        meant = Meant(
            model=spec.model or model.name,
            task=(tasks[0].in_results or tasks[0].name) if len(tasks) == 1 else None,
            shots=stated if stated is not None or len(shots) != 1 else shots[0],
            models=tuple(
                (each.results.model,) if each.results.model else (each.name, each.short_name)
                for each in self._suite.spec.models
                if each.results.path == spec.path
            ),
        )
        # A file that names no model is the first one's; one that does is read once for all.
        key = (spec.model_copy(update={"model": None}), meant.task, meant.shots)
        if key not in self._read:
            self._read[key] = read_results(spec, path, meant)
        return self._read[key]

    def _of_model(
        self, model: RecordedModelSpec, results: list[Answers], path: Path
    ) -> list[Answers]:
        names = dict.fromkeys(each.model for each in results)
        wanted = [model.results.model] if model.results.model else [model.name, model.short_name]
        own = next((name for name in wanted if name in names), None)
        if own is None:
            raise RecordedError(
                f"{path}: no results of {wanted[0]!r}, found those of {listed(names, 8)}; give "
                "what the model is called there as `results.model`"
            )
        return [each for each in results if each.model == own]

"""The results file of a run of lm-evaluation-harness: its model, settings and totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.logs.json_files import field, optional, read_json

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.recorded.logs.json_files import Object

_NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")
"""Which argument names the model: the first that is there."""

_WHERE_IT_RUNS = {
    "base_url", "batch_size", "cache_dir", "data_parallel_size", "device", "eos_string",
    "gpu_memory_utilization", "max_batch_size", "max_retries", "num_concurrent", "parallelize",
    "tensor_parallel_size", "timeout", "trust_remote_code",
}  # fmt: skip
"""Arguments that do not make it another model."""


class Results:
    """A results file.

    Raises
    ------
    RecordedError
        If it cannot be read; so do all methods if what they look for is not as it should be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = read_json(path)
        self._config = self._object("config")
        arguments = self._config.get("model_args")
        if isinstance(arguments, str):
            pairs = (each.partition("=") for each in arguments.split(",") if each.strip())
            arguments = {name.strip(): value.strip() for name, _, value in pairs}
        self._arguments: Object = arguments if isinstance(arguments, dict) else {}

    @property
    def tasks(self) -> list[str]:
        """Tasks that were run, without groups; none if this is no results file."""
        return [*(self._object("n-samples") or self._object("configs"))]

    @property
    def model(self) -> str:
        """Name of the model: its path, or the folder's name where the log has no other."""
        named = (self._arguments[name] for name in _NAMES if name in self._arguments)
        name = next(named, None) or self._config.get("model") or self._data.get("model_name")
        return str(name or self.path.parent.name)

    @property
    def settings(self) -> Object:
        """What else makes a run another try: revision, quantization, how text is generated."""
        arguments = {k: v for k, v in self._arguments.items() if k not in _WHERE_IT_RUNS}
        config = {name: self._config.get(name) for name in ("model_sha", "gen_kwargs")}
        return arguments | config

    def task_hash(self, task: str) -> str | None:
        """Digest of the documents, prompts and targets; None in old logs."""
        return optional(self._object("task_hashes"), task, str, f"{self.path}: task_hashes")

    def shots(self, task: str) -> int:
        """Return how many demonstrations the task was run with."""
        shots = optional(self._object("n-shot"), task, int, f"{self.path}: n-shot")
        if shots is None:
            shots = optional(self._setup(task), "num_fewshot", int, f"{self.path}: configs: {task}")
        if shots is None:
            raise RecordedError(
                f"{self.path}: neither 'n-shot' nor 'configs' tells the number of demonstrations "
                f"of {task!r}; give the results file of this very run"
            )
        return shots

    def same_demonstrations(self, task: str) -> bool:
        """Tell whether all documents of the task got the same demonstrations."""
        drawn = optional(self._setup(task), "fewshot_config", dict, f"{self.path}: {task}") or {}
        return drawn.get("sampler") == "first_n"

    def judges_itself(self, task: str) -> bool:
        """Tell whether the task counts right answers by a function of its own."""
        return self._setup(task).get("process_results") is not None

    def delimiter(self, task: str) -> str:
        """Return what stood between context and choice."""
        setup = self._setup(task)
        if self._data.get("chat_template") and not setup.get("gen_prefix"):
            return ""
        found = optional(setup, "target_delimiter", str, f"{self.path}: configs: {task}")
        return " " if found is None else found

    def documents(self, task: str) -> tuple[int, int] | None:
        """Return how many documents were evaluated, of how many; None in old logs."""
        counts = optional(self._object("n-samples"), task, dict, f"{self.path}: n-samples")
        if counts is None:
            return None
        where = f"{self.path}: n-samples: {task}"
        effective = field(counts, "effective", int, where)
        return effective, field(counts, "original", int, where)

    def mean(self, task: str, metric: str, filter_name: str) -> float:
        """Return the mean of a metric over all documents."""
        where = f"{self.path}: results"
        means = field(self._object("results"), task, dict, where)
        key = f"{metric},{filter_name}"
        return field(means, key if key in means else metric, float, f"{where}: {task}")

    def _setup(self, task: str) -> Object:
        return optional(self._object("configs"), task, dict, f"{self.path}: configs") or {}

    def _object(self, name: str) -> Object:
        return optional(self._data, name, dict, str(self.path)) or {}

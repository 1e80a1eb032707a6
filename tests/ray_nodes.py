"""A Ray cluster of several nodes on this machine, whose processes say what they compute."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_MEMORY = 80 * 2**20
_TOLD = """
import os, sys, time
if any(word.endswith("default_worker.py") for word in sys.orig_argv):
    from pytest_maxrandom.sweeps import executor

    scored = executor.LocalExecutor._scored

    def most():
        with open(os.environ["MAXRANDOM_TOLD"] + ".most") as file:
            return float(file.read())

    def told(self, job):
        begun = os.getpid(), time.monotonic(), job.prompt.digest, job.task, job.scoring
        with open(os.environ["MAXRANDOM_TOLD"], "a") as file:
            print(*begun, file=file)
        with open(os.environ["MAXRANDOM_TOLD"]) as file:
            place = len(file.readlines())
        while place > most():
            time.sleep(0.01)
        if "deadly" in job.prompt.text:
            os._exit(1)
        if "broken" in job.prompt.text:
            raise RuntimeError("the driver is gone")
        return scored(self, job)

    executor.LocalExecutor._scored = told
"""
"""Lets each process of a node write down what it begins to compute, wait until it may, and die of
some prompts."""


class Begun(NamedTuple):
    """A prompt that an actor began to compute."""

    process: int
    when: float
    prompt: str
    task: str
    scoring: str


class Nodes:
    """A head and nodes, on this machine.

    Parameters
    ----------
    folder : Path
        For what the nodes' processes read and write.
    cpus : sequence of int
        Of each node: actors of mock models; one model that is real takes all of them.

    Attributes
    ----------
    address : str
        Of the cluster.
    path : str
        Where the nodes' processes import from, before all else.
    """

    def __init__(self, folder: Path, cpus: Sequence[int] = (1, 1)) -> None:
        from ray.cluster_utils import Cluster

        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(_TOLD)
        self._told = folder / "told"
        self._told.touch()
        self._killed: Counter[tuple[str, str]] = Counter()
        self.hold(float("inf"))
        paths = [str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.path = os.pathsep.join(paths)
        self._env = {
            "PYTHONPATH": self.path,
            "MAXRANDOM_TOLD": str(self._told),
            "OMP_NUM_THREADS": "1",
        }
        memory = {"object_store_memory": _MEMORY, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **memory})
        self.address: str = self._cluster.address
        self._nodes = [self._added(count) for count in cpus]

    def _added(self, cpus: int, **env: str) -> Any:
        return self._cluster.add_node(
            num_cpus=cpus, object_store_memory=_MEMORY, env_vars={**self._env, **env}
        )

    def add(self, **env: str) -> None:
        """Add a node with variables in its environment."""
        self._nodes.append(self._added(1, **env))

    def begun(self) -> list[Begun]:
        """Return what was ever begun, the oldest first."""
        rows = (line.split() for line in self._told.read_text().splitlines())
        return [Begun(int(row[0]), float(row[1]), *row[2:]) for row in rows]

    def hold(self, most: float) -> None:
        """Let only so many of the prompts that are ever begun be computed; the next ones wait."""
        new = self._told.with_name("told.new")
        new.write_text(str(most))
        new.replace(self._told.with_name("told.most"))

    def kill_worker(self) -> bool:
        """Kill the actor that has begun a prompt last, of those that live, and return if one was.

        It is spared where its prompt has died twice: with the third time it would be an error.
        """
        seen: set[int] = set()
        for each in reversed(self.begun()):
            asked = each.prompt, each.task
            if each.process in seen or self._killed[asked] == 2:
                seen.add(each.process)
                continue
            with suppress(ProcessLookupError):
                os.kill(each.process, signal.SIGKILL)
                self._killed[asked] += 1
                return True
        return False

    def kill_node(self) -> bool:
        """Kill a node with all of its processes, and add another one."""
        self._cluster.remove_node(self._nodes.pop(0), allow_graceful=False)
        self.add()
        return True

    def forget(self) -> None:
        """Forget what was begun."""
        self._told.write_text("")

    def close(self) -> None:
        """End all of it."""
        self._cluster.shutdown()


@contextmanager
def nodes_in(folder: Path, cpus: Sequence[int] = (1, 1)) -> Iterator[Nodes]:
    """Have nodes for a while."""
    nodes = Nodes(folder, cpus)
    try:
        yield nodes
    finally:
        nodes.close()

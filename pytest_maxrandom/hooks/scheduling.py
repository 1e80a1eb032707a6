"""Claims that share a model run on one worker of pytest-xdist, next to each other.

Imported in the controlling process of a distributed run only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from xdist.scheduler import LoadScheduling, LoadScopeScheduling

from pytest_maxrandom.suite import is_suite

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

_CLAIM = re.compile(r".*\[(.*)-\d+shot\]", re.DOTALL)
"""Up to the last bracket of a claim's name, which holds its model and quantization."""


class SuiteScheduling:
    """What `--dist load` does: as ever in a run without suites, else by model.

    Which of the two is known when the workers have collected.
    """

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        self._config = config
        self._log = log
        self._scheduling: Any = LoadScheduling(config, log)

    def schedule(self) -> None:
        """Give the workers their tests."""
        waiting = self._scheduling
        if isinstance(waiting, LoadScheduling) and waiting.collection is None:
            collected = next(iter(waiting.node2collection.values()))
            if any(claim_file(name, self._config) for name in collected):
                self._scheduling = ModelScheduling(self._config, self._log)
                for node in waiting.nodes:
                    self._scheduling.add_node(node)
                self._scheduling.registered_collections.update(waiting.node2collection)
        self._scheduling.schedule()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheduling, name)


class ModelScheduling(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Keeps the claims of a model together, and spreads all other tests one by one."""

    def remove_node(self, node: WorkerController) -> str | None:
        """Take back what a worker has not finished, and return the test that it died of.

        pytest-xdist's own would run that test again, on one worker after the other.
        """
        units = self.assigned_work.pop(node)
        left = {key: unit for key, unit in units.items() if not all(unit.values())}
        if not left:
            return None
        first = next(iter(left.values()))
        crashed: str = next(name for name, finished in first.items() if not finished)
        first[crashed] = True
        self.workqueue.update({key: unit for key, unit in left.items() if not all(unit.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        """Give a worker no more than it needs, so that a model waits for no worker that is busy.

        It begins its last test only when it knows what follows.
        """
        if node.shutting_down:
            return
        while self.workqueue and self._pending_of(self.assigned_work[node]) < 2:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()

    def _split_scope(self, nodeid: str) -> str:
        return model_of(nodeid) if claim_file(nodeid, self.config) else nodeid


def claim_file(node_id: str, config: pytest.Config) -> bool:
    """Tell whether a test belongs to a suite."""
    root = config.rootpath
    return is_suite(root / node_id.partition("::")[0], root)


def model_of(node_id: str) -> str:
    """Return what the ids of claims that share a model have in common, whatever their suite."""
    claim = _CLAIM.match(node_id.partition("::")[2])
    return claim[1] if claim else node_id

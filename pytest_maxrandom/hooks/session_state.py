"""What the items of a pytest session share: plans, models, the store, and who is running."""

from __future__ import annotations

import re
import uuid
from functools import partial
from typing import Any

import pytest

from pytest_maxrandom.claims.planned import Planned, PlannedClaim
from pytest_maxrandom.claims.session import SessionState
from pytest_maxrandom.claims.shards import joined
from pytest_maxrandom.hooks.options import read_settings
from pytest_maxrandom.hooks.progress import say, tell_training
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.sweeps.cluster.connection import address_of
from pytest_maxrandom.sweeps.cluster.executor import Cluster

_COLLECTED = pytest.StashKey[list[Planned]]()
_BACKENDS = pytest.StashKey[Backends]()
_STATE = pytest.StashKey[SessionState]()
_NUMBER = re.compile(r"\d+$")


def collected(config: pytest.Config) -> list[Planned]:
    """Return what the suites that were read plan, to be added to; also what is not selected."""
    return config.stash.setdefault(_COLLECTED, [])


def backends(config: pytest.Config) -> Backends:
    """Return what finds the session's models, for the plans of its suites and for its runs."""
    if _BACKENDS not in config.stash:
        worker: dict[str, Any] = getattr(config, "workerinput", {})
        config.stash[_BACKENDS] = Backends(worker.get("testrunuid", ""))
    return config.stash[_BACKENDS]


def session_state(config: pytest.Config) -> SessionState:
    """Return what the session's items share, opened with the first of them."""
    if _STATE not in config.stash:
        settings = read_settings(config)
        worker: dict[str, Any] = getattr(config, "workerinput", {})
        process = worker.get("workerid", "main")
        resources = Resources(
            worker=int(number[0]) if (number := _NUMBER.search(process)) else 0,
            workers=worker.get("workercount", 1),
            trained_bytes=settings.trained_gb * 10**9,
            engine=settings.engine,
            batch_tokens=settings.batch_tokens,
            tell=partial(say, config),
            trained=settings.store.with_name("trained"),
            training=partial(tell_training, config),
        )
        run = worker.get("testrunuid") or uuid.uuid4().hex
        results, computed = settings.store, dict[str, Arithmetic]()
        if settings.shards:
            results, computed = joined(settings.shards)
        config.stash[_STATE] = SessionState(
            pool=ModelPool(resources, backends(config)),
            results=results,
            run=run,
            process=process,
            engine=settings.engine,
            fresh=settings.fresh,
            no_test=settings.no_test,
            until=settings.until,
            collected=[each for each in collected(config) if isinstance(each, PlannedClaim)],
            computed=computed,
            cluster=_cluster(config),
        )
    return config.stash[_STATE]


def _cluster(config: pytest.Config) -> Cluster | None:
    """Return where models are run, if that is another process; it is not connected with yet."""
    executor = read_settings(config).executor
    if executor == "local":
        return None
    return Cluster(address_of(executor), tell=partial(say, config))


def drop_model(config: pytest.Config) -> None:
    """Free the memory of the model that was used last."""
    if _STATE in config.stash:
        config.stash[_STATE].pool.drop()


def close(config: pytest.Config) -> None:
    """Let go of the results stores."""
    if _STATE in config.stash:
        config.stash[_STATE].close()

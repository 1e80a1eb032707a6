"""The Ray cluster of a run: one that is there, which is left as it was, or one of its own."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import warnings
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pytest_maxrandom.errors import ClusterError

MISSING = 'ray is not installed; pip install "pytest-maxrandom[ray]"'
_PATIENCE, _SOON = 10.0, 2.0  # seconds
_OWN = "local"
_UNREACHABLE = (
    "; give the address of a running cluster (`ray status` shows it), or no address to start a "
    "cluster on this machine"
)


def installed() -> bool:
    """Tell whether Ray is there; it is not imported for that."""
    return importlib.util.find_spec("ray") is not None


def address_of(executor: str) -> str | None:
    """Return the address that `ray:ADDRESS` gives; None for `ray` alone.

    Raises
    ------
    ValueError
        In one sentence that says what was expected, if it is neither.
    """
    kind, colon, address = executor.partition(":")
    if kind != "ray" or bool(colon) != bool(address):
        raise ValueError(f"expected local, ray or ray:ADDRESS, found {executor or 'nothing'}")
    return address or None


class Connection:
    """A connection to a cluster.

    Parameters
    ----------
    address : str or None
        Of a cluster that is there. If not given, the one that the environment names
        (``RAY_ADDRESS``, as in every program that uses Ray), else a cluster of its own is started
        on this machine.

    Raises
    ------
    ClusterError
        In one sentence, if no cluster answers.
    """

    def __init__(self, address: str | None = None) -> None:
        if not installed():
            raise ClusterError(MISSING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Ray warns of is its own matter
            import ray

            self.ray: Any = ray
            self._open = not ray.is_initialized()  # whoever did that in this process ends it, too
            if self._open:
                self._connect(address or os.environ.get("RAY_ADDRESS") or _OWN)

    def _connect(self, address: str) -> None:
        where = "on this machine" if address == _OWN else f"at {address}"
        further: dict[str, Any] = {}
        if address == _OWN:
            further = {"include_dashboard": False}
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        else:
            _reach(address)
        try:
            self.ray.init(
                address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **further,
            )
        except Exception as error:  # Ray has an own one for each of its layers
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ClusterError(f"no Ray cluster answers {where}: {reason}{_UNREACHABLE}") from error

    def nodes(self) -> dict[str, Node]:
        """Return the nodes that are alive, by their ids."""
        return {
            each["NodeID"]: Node(
                each["NodeID"],
                f"{each.get('NodeName') or each['NodeManagerAddress']} ({each['NodeID'][:8]})",
                each["Resources"],
                (each["NodeManagerAddress"], each["NodeManagerPort"]),
            )
            for each in self.ray.nodes()
            if each["Alive"]
        }

    def close(self) -> None:
        """Disconnect; a cluster that was started for this ends with it, no other one does."""
        if self._open:
            self.ray.shutdown()
            self._open = False


@dataclass(eq=False)
class Node:
    """A machine of the cluster."""

    id: str
    name: str
    """For Ray, and for a person: its address, and some digits of the id."""
    resources: dict[str, float]
    """What Ray counts there: CPU, GPU, and what was said when it was started."""
    place: tuple[str, int]
    """The address and the port at which it answers."""
    odd: str = ""
    """Why no model is put there; empty where one may be."""

    def answers(self) -> bool:
        """Tell whether the machine is there now; of one that has gone Ray learns seconds later."""
        try:
            socket.create_connection(self.place, _SOON).close()
        except OSError:
            return False
        return True


def _reach(address: str) -> None:
    """Refuse an address at which nothing listens, for which Ray would wait long."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if address == "auto":
        return
    if not host or not port:
        raise ClusterError(
            f"no Ray cluster is at {address!r}: found no host with a port there{_UNREACHABLE}"
        )
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ClusterError(
            f"no Ray cluster answers at {address}: {reason}{_UNREACHABLE}"
        ) from error

"""Where a cluster is looked for, and what is said where none answers."""

from __future__ import annotations

import socket

import pytest

from pytest_maxrandom.errors import ClusterError
from pytest_maxrandom.sweeps.cluster import connection
from pytest_maxrandom.sweeps.cluster.connection import Connection, Node, address_of


def test_an_executor_may_have_an_address() -> None:
    assert address_of("ray") is None
    assert address_of("ray:10.0.0.1:6379") == "10.0.0.1:6379"
    assert address_of("ray:ray://head:10001") == "ray://head:10001"
    assert address_of("ray:auto") == "auto"


@pytest.mark.parametrize("said", ["", "dask", "ray:", "Ray", "local:1"])
def test_another_executor_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match=f"expected local, ray or ray:ADDRESS, found {said}"):
        address_of(said)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "installed", lambda: False)
    with pytest.raises(ClusterError, match=r'pip install "pytest-maxrandom\[ray\]"'):
        Connection("auto")


@pytest.mark.filterwarnings("ignore")  # of Ray's import
def test_an_address_where_nothing_listens_is_told_in_a_sentence() -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ClusterError, match=f"no Ray cluster answers at 127.0.0.1:{port}: "):
            Connection(f"127.0.0.1:{port}")
    for nowhere in ("head", "ray://head", "10.0.0.1:port"):
        with pytest.raises(ClusterError, match="found no host with a port there"):
            Connection(nowhere)


def test_a_node_that_has_just_gone_answers_no_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        node = Node("id", "name", {}, there.getsockname())
        assert node.answers()
    assert not node.answers()

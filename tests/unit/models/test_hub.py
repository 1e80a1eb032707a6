"""A hub id that cannot be loaded is refused at once; against a small hub on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import create_server
from typing import TYPE_CHECKING

import pytest

import tests.tiny as tiny
from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf import hub as commits
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.suite.models import TransformersSpec
from tests.models import located

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Hub(BaseHTTPRequestHandler):
    """Knows one model, with one revision."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        code = "RevisionNotFound" if self.path.startswith("/api/models/org/known/") else ""
        self.send_response(404)
        self.send_header("X-Error-Code", code or "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the paths that were asked for."""
    import huggingface_hub.constants

    _Hub.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setattr(
            huggingface_hub.constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}"
        )
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        yield _Hub.asked
        server.shutdown()
        thread.join()


def _refusal(pool: ModelPool, name: str, base: Path, revision: str | None = None) -> str:
    with pytest.raises(ModelError) as caught:
        pool.get(located(TransformersSpec(name=name, revision=revision), base))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_name_that_is_neither_a_folder_nor_on_the_hub(hub: list[str], tmp_path: Path) -> None:
    assert _refusal(ModelPool(), "models/demo", tmp_path) == (
        "there is no folder models/demo (relative to the suite file), and the hub has no public "
        "model of that name; check the name, or log in with `hf auth login`"
    )


def test_a_revision_that_is_not_on_the_hub(hub: list[str], tmp_path: Path) -> None:
    assert _refusal(ModelPool(), "org/known", tmp_path, "v9") == (
        "org/known has no revision v9 on the hub"
    )


def test_a_hub_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub.constants

    with closing(create_server(("127.0.0.1", 0))) as socket:
        port = socket.getsockname()[1]
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    message = _refusal(ModelPool(), "org/model", tmp_path)
    assert message.startswith(
        "there is no folder org/model (relative to the suite file), and the hub cannot be reached ("
    )
    assert message.endswith("); check the name and the network")


def test_a_refused_model_is_not_asked_for_again_by_the_next_item(
    hub: list[str], tmp_path: Path
) -> None:
    pool = ModelPool()
    first = _refusal(pool, "org/model", tmp_path)
    asked = len(hub)
    assert asked > 0
    assert _refusal(pool, "org/model", tmp_path) == first
    assert len(hub) == asked
    pool.drop()
    _refusal(pool, "org/model", tmp_path)
    assert len(hub) == 2 * asked


class _Branch:
    """The branch `main` of a model in the hub's cache; hidden sizes tell its commits apart."""

    def __init__(self, folder: Path) -> None:
        self._repo = folder / "models--org--model"
        for commit, hidden in (("1" * 40, 64), ("2" * 40, 32)):
            saved = tiny.save_llama(folder / "saved" / commit, hidden=hidden)
            shutil.copytree(saved, self._repo / "snapshots" / commit)
        (self._repo / "refs").mkdir()
        self.move("1")

    def move(self, digit: str) -> None:
        (self._repo / "refs" / "main").write_text(digit * 40)


@pytest.fixture
def branch(tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Branch:
    """Return a branch, at its first commit."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return _Branch(tmp_path / "hub")


SPEC = TransformersSpec(name="org/model", quantization="none", device="cpu")


def _digest(base: Path, backends: Backends, **said: str) -> str:
    return backends.identify(located(SPEC.model_copy(update=said), base)).digest


def _loaded(base: Path, backends: Backends) -> tuple[str | None, int]:
    model = ModelPool(backends=backends).get(located(SPEC, base))
    assert isinstance(model, CausalModel)
    return model.revision, model._model.config.hidden_size


def test_a_branch_that_moves_within_a_session_is_the_commit_that_it_was(
    branch: _Branch, tmp_path: Path
) -> None:
    one, other = Backends(), Backends()
    first = _digest(tmp_path, one)
    branch.move("2")
    assert _digest(tmp_path, one) == first
    assert _loaded(tmp_path, one) == ("1" * 40, 64)
    assert _digest(tmp_path, other) != first
    assert _loaded(tmp_path, other) == ("2" * 40, 32)


def test_a_model_that_was_loaded_is_the_one_of_the_digest(branch: _Branch, tmp_path: Path) -> None:
    backends = Backends()
    assert _loaded(tmp_path, backends) == ("1" * 40, 64)
    branch.move("2")
    digest = _digest(tmp_path, backends)
    assert digest == _digest(tmp_path, Backends(), revision="1" * 40)
    assert digest != _digest(tmp_path, Backends())


def test_the_hub_is_asked_once_for_a_commit(
    branch: _Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = commits.check_reachable

    def check(name: str, revision: str | None, holds: str) -> None:
        asked.append((name, revision, holds))
        real(name, revision, holds)

    monkeypatch.setattr(commits, "check_reachable", check)
    backends = Backends()
    for _ in range(3):
        _digest(tmp_path, backends)
        _loaded(tmp_path, backends)
    assert asked == [("org/model", None, "config.json")]


PINNED = """
import sys
from pytest_maxrandom.models.hf import hub
print(hub.Commits(sys.argv[1]).of("org/model", None))
"""


def test_the_processes_of_one_session_mean_one_commit(branch: _Branch, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": "1",
        "TMPDIR": str(tmp_path),
    }

    def commit(session: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", PINNED, session],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        return done.stdout.strip()

    assert commit("one") == "1" * 40
    branch.move("2")
    assert [commit("one"), commit("two")] == ["1" * 40, "2" * 40]

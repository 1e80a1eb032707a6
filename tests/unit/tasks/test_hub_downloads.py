"""A dataset of a hub on this machine, as large as it says: what is downloaded, and what is not."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.host import limits

datasets = pytest.importorskip("datasets", reason="needs the extra: datasets")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.tasks.conftest import Folder

NAME = "nobody/large"
COMMIT = "a" * 40
ROW = json.dumps({"input": "q", "choices": ["a", "b"], "answer": "a"}).encode() + b"\n"
CARD = b"---\nconfigs:\n- config_name: default\n  data_files: [{split: test, path: 'PATH'}]\n---\n"


class Hub(ThreadingHTTPServer):
    """Says of `test.jsonl` that it has `size` bytes, and notes what it is asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {"README.md": CARD.replace(b"PATH", b"test.jsonl"), "test.jsonl": ROW}
        self.size = len(ROW)
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(f"{self.command} {path.rpartition('/')[2]}")
        body, status = b"", 200
        headers = {"X-Repo-Commit": COMMIT}
        if path.startswith(f"/api/datasets/{NAME}/tree/"):
            sizes = {"test.jsonl": self.server.size}
            body = json.dumps(
                [
                    {
                        "type": "file",
                        "oid": "0",
                        "path": name,
                        "size": sizes.get(name, len(content)),
                    }
                    for name, content in self.server.files.items()
                ]
            ).encode()
        elif path.startswith(f"/api/datasets/{NAME}"):
            body = json.dumps({"id": NAME, "sha": COMMIT, "siblings": [], "tags": []}).encode()
        elif (name := path.rpartition("/")[2]) in self.server.files:
            body = self.server.files[name]
            headers["ETag"] = f'"{name}"'
        else:
            status, headers["X-Error-Code"] = 404, "EntryNotFound"
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    from huggingface_hub import HfFileSystem

    running = Hub()
    threading.Thread(target=running.serve_forever, daemon=True).start()
    url, cache = f"http://127.0.0.1:{running.server_port}", str(folder.path / "cache")
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", url)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", cache)
    template = f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(
        "huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE", template, raising=False
    )
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", url)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)
    HfFileSystem.clear_instance_cache()
    yield running
    running.shutdown()
    running.server_close()
    HfFileSystem.clear_instance_cache()


def test_what_the_hub_says_is_too_large_is_not_downloaded(folder: Folder, hub: Hub) -> None:
    hub.size = 2_100_000_000
    assert folder.mistakes("hub", None, path=NAME, split="test") == [
        f"suite.yaml:7: '{NAME}', split test: 1 file of 2,100 MB would be downloaded, expected at "
        "most 2,000 MB; if that should be, raise `limits: download_mb` in the suite, or set "
        "MAXRANDOM_LIMITS=download_mb=... on this machine"
    ]
    assert "GET test.jsonl" not in hub.asked
    with limits.in_force({"download_mb": 2100}):
        assert len(folder.load("hub", None, path=NAME, split="test").examples) == 1
    assert hub.asked.count("GET test.jsonl") == 1
    assert len(folder.load("hub", None, path=NAME, split="test").examples) == 1  # it is here


def test_a_dataset_of_the_hub_names_no_files_of_this_machine(folder: Folder, hub: Hub) -> None:
    other = folder.path / "other.jsonl"
    other.write_bytes(ROW)
    hub.files["README.md"] = CARD.replace(b"PATH", str(other).encode())
    (said,) = folder.mistakes("hub", None, path=NAME, split="test")
    assert "the dataset cannot be loaded: Data files don't belong to nobody/large" in said

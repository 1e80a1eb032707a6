"""Real servers are installed step by step, and started with the least memory that serves."""

from __future__ import annotations

import json
import socket
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import servers

if TYPE_CHECKING:
    from collections.abc import Callable

DEMO = Path(__file__).parents[2] / "eval_suites" / "demo" / "demo-llama"


def folder_of(tmp_path: Path, **changes: Any) -> Path:
    """Write the configuration of a model: of Qwen3-8B, in what matters for memory."""
    said = {
        "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "hidden_size": 4096, "max_position_embeddings": 40960,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(said | changes))
    return tmp_path


def space(folder: Path) -> int:
    return int(servers.environment("vllm", folder)["VLLM_CPU_KVCACHE_SPACE"])


def test_a_small_model_takes_the_least_that_vllm_knows() -> None:
    assert space(DEMO) == 1
    given = servers.command("vllm", DEMO, 1)
    length = json.loads((DEMO / "config.json").read_text())["max_position_embeddings"]
    assert given[given.index("--max-model-len") + 1] == str(length)


def test_a_large_model_takes_room_for_two_texts(tmp_path: Path) -> None:
    # 2 x 4,096 tokens x 36 layers x keys and values x 8 heads x 128 numbers x 4 bytes.
    assert 8192 * 36 * 2 * 8 * 128 * 4 / 2**30 == 2.25
    assert space(folder_of(tmp_path)) == 3
    assert space(folder_of(tmp_path, num_key_value_heads=None)) == 9
    given = servers.command("vllm", tmp_path, 1)
    assert given[given.index("--max-model-len") + 1] == "4096"


def test_what_the_user_says_comes_last_and_the_environment_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "7")
    assert space(DEMO) == 7
    kinds: tuple[servers.Kind, ...] = ("vllm", "llama_cpp", "transformers")
    for kind in kinds:
        assert servers.command(kind, DEMO, 1, ["--own", "1"])[-2:] == ["--own", "1"]


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is no folder of a model as written by save_pretrained"):
        servers.command("vllm", tmp_path, 1)


@pytest.mark.parametrize(
    ("kind", "model", "told"),
    [
        ("llama_cpp", DEMO, "is of another kind; expected a GGUF file for llama_cpp"),
        ("llama_cpp", DEMO / "config.json", "is of another kind; expected a GGUF file"),
        ("vllm", DEMO / "config.json", "is of another kind; expected .* a folder for vllm"),
        ("vllm", DEMO / "nothing", "does not exist; expected"),
    ],
)
def test_a_model_of_another_servers_kind_is_told(
    monkeypatch: pytest.MonkeyPatch, kind: str, model: Path, told: str
) -> None:
    monkeypatch.setattr(servers, "installed", lambda _: True)
    monkeypatch.setattr("sys.argv", ["servers.py", "run", kind, str(model)])
    with pytest.raises(SystemExit, match=told):
        servers.main()


def test_a_port_that_is_taken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "installed", lambda _: True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = ["servers.py", "run", "vllm", str(DEMO), "--port", str(port)]
        monkeypatch.setattr("sys.argv", said)
        with pytest.raises(SystemExit, match=f"port {port} is taken: .* or add --port"):
            servers.main()


def test_a_server_that_nobody_knows_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["servers.py", "install", "vlm"])
    with pytest.raises(SystemExit):
        servers.main()
    told = "found 'vlm', expected vllm or llama_cpp or transformers"
    assert told in capsys.readouterr().err


def test_the_start_tells_how_long_texts_of_this_model_may_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Ended:
        returncode = 0

    monkeypatch.setattr(servers, "installed", lambda _: True)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: Ended)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        free = str(listening.getsockname()[1])
    monkeypatch.setattr("sys.argv", ["servers.py", "run", "vllm", str(DEMO), "--port", free])
    with pytest.raises(SystemExit):
        servers.main()
    assert "texts of at most 1,024 tokens, 1 GiB" in capsys.readouterr().err


@pytest.mark.parametrize(("model", "told"), [(str(DEMO), "is not installed: python tools/")])
def test_a_server_that_is_not_installed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, told: str
) -> None:
    monkeypatch.setattr(servers, "_FOLDER", tmp_path)
    monkeypatch.setattr("sys.argv", ["servers.py", "run", "vllm", model])
    with pytest.raises(SystemExit, match=told):
        servers.main()


def test_a_build_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each step leaves what it made, and is left out where that is there."""
    folder, ran = tmp_path / "package", list[str]()

    def runs(stops: bool) -> Callable[..., None]:
        def run(*command: str | Path) -> None:
            said = " ".join(map(str, command))
            ran.append(said)
            if "-m venv" in said:
                (folder / "bin").mkdir(parents=True)
                (folder / "bin" / "python").touch()
            if " download " in said:
                _pack(folder / "llama_cpp_python-1.tar.gz")
            if " wheel " in said:
                if stops:
                    raise KeyboardInterrupt
                (folder / "llama_cpp_python-1-py3-none-any.whl").touch()

        return run

    monkeypatch.setattr(servers, "_FOLDER", tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(servers, "_run", runs(stops=True))
    with pytest.raises(KeyboardInterrupt):
        servers.install_package()
    assert "stopped, it goes on where it was" in capsys.readouterr().err
    begun = [word for one in ran for word in ("-m venv", " download ", " wheel ") if word in one]
    assert begun == ["-m venv", " download ", " wheel "]
    # What it does not need is not built.
    rules = (folder / "llama_cpp_python-1" / "CMakeLists.txt").read_text(encoding="utf-8")
    assert rules == "set(LLAMA_BUILD_COMMON OFF CACHE BOOL)\n"
    # Both builds are of the same sources, in the same folder.
    (first,) = (one for one in ran if " wheel " in one)
    ran.clear()
    monkeypatch.setattr(servers, "_run", runs(stops=False))
    servers.install_package()
    assert not any(word in one for one in ran for word in ("-m venv", " download "))
    assert first in ran
    assert "llama_cpp_python-1-py3-none-any.whl" in ran[-1]


def test_what_was_downloaded_is_not_downloaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is needed is told once; files stay until all are unpacked."""
    folder, ran, stops = tmp_path / "vllm", list[str](), [True]

    def run(*command: str | Path) -> None:
        said = [*map(str, command)]
        ran.append(" ".join(said))
        if "venv" in said:
            (folder / "bin").mkdir(parents=True)
            (folder / "bin" / "python").touch()
            (folder / "lib" / "python3" / "site-packages").mkdir(parents=True)
        elif "download" in said:
            (dest := Path(said[said.index("--dest") + 1])).mkdir(exist_ok=True)
            for url in said[said.index("--dest") + 2 :]:
                if "/b-1.whl" in url and stops:
                    raise KeyboardInterrupt
                (dest / url.rpartition("/")[2].partition("#")[0].replace("%2B", "+")).touch()
        elif "--report" in said:
            urls = ("file:///a-1%2Bcpu.whl", "https://x.test/b-1.whl", "https://x.test/c-1.whl")
            names = ("a", "b", "torchvision")
            install = [
                {
                    "metadata": {"name": name},
                    "download_info": {"url": url, "archive_info": {"hashes": {"sha256": "5"}}},
                }
                for name, url in zip(names, urls, strict=True)
            ]
            Path(said[said.index("--report") + 1]).write_text(json.dumps({"install": install}))

    monkeypatch.setattr(servers, "_FOLDER", tmp_path)
    monkeypatch.setattr(servers, "_AT_ONCE", 1)
    monkeypatch.setattr(servers, "_run", run)
    with pytest.raises(KeyboardInterrupt):
        servers.install("vllm")
    assert not servers.installed("vllm")
    stops.clear()
    ran.clear()
    capsys.readouterr()
    servers.install("vllm")
    assert "1 of 2 files are there" in capsys.readouterr().err
    download, unpack = ran
    assert download.endswith("https://x.test/b-1.whl#sha256=5")
    assert [Path(word).name for word in unpack.split()[-2:]] == ["a-1+cpu.whl", "b-1.whl"]
    assert servers.installed("vllm")
    assert not list(folder.rglob("*.whl"))
    ran.clear()
    servers.install("vllm")
    assert not ran


def _pack(archive: Path) -> None:
    sources = archive.with_name("sources")
    (sources / "vendor" / "llama.cpp").mkdir(parents=True)
    (sources / "CMakeLists.txt").write_text("set(LLAMA_BUILD_COMMON ON CACHE BOOL)\n")
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(sources, archive.name.removesuffix(".tar.gz"))

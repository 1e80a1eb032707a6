"""Models in folders and on the hub: where they are, which commit is meant, what tells them apart.

What determines a model's numbers is found, as one digest, without loading the model.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, did_you_mean
from pytest_maxrandom.host.machine import agreed
from pytest_maxrandom.models.hf.refusals import brief
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_maxrandom.suite.models import TransformersSpec

_KINDS = {
    "name": (
        "config.json",
        re.compile(r"[\w-][\w.-]*(/[\w.-]+)?"),
        "allenai/OLMo-7B-hf",
        "a model as written by save_pretrained",
    ),
    "adapter": (
        "adapter_config.json",
        re.compile(r"[\w-][\w.-]*/[\w.-]+"),
        "lab/llama-lora",
        "an adapter as written by PEFT's save_pretrained",
    ),
}
"""By the key of a suite: a file of its folder, ids on the hub, one of them, and what is meant."""

_READ_BY_LOADERS = (
    "config.json",
    "*.safetensors",
    "*.safetensors.index.json",
    "adapter_config.json",
    "tokenizer*",
    "vocab*",
    "merges*",
    "*.model",
    "*.tiktoken",
    "special_tokens_map*",
    "added_tokens*",
    "chat_template*",
)
"""Files of a model's folder that the numbers depend on; not its README, nor how it generates.

The first of them is always there.
"""

_OF_ADAPTERS = ("adapter_config.json", "adapter_model.safetensors")

_PATIENCE = 10.0  # seconds


def find(key: str, name: str, base: Path) -> str:
    """Return the local folder of that name (relative to `base`), else the name as a hub id.

    Parameters
    ----------
    key : {"name", "adapter"}
        What of a model it is.

    Raises
    ------
    ModelError
        If it is neither, or the folder holds no model, or no adapter.
    """
    file, hub_id, example, expected = _KINDS[key]
    if "://" in name:
        raise ModelError(
            f"{name} is an address, but `backend: transformers` loads files; for a model behind a "
            "server write `backend: openai` (or vllm, sglang, llama_cpp), `url` and its `name` "
            "there"
        )
    if name.casefold().endswith(".gguf"):
        raise ModelError(f"{name} is a GGUF file; write `backend: gguf`, and no `quantization`")
    try:
        folder = base / Path(name).expanduser()
        there = folder.is_dir()
    except (OSError, RuntimeError) as error:  # too long a name; no such user
        raise ModelError(f"{name} cannot be a folder: {error}") from error
    if there and (folder / file).is_file():
        return str(folder)
    if there:
        held = " (it holds an adapter; name it with the key `adapter`)"
        is_adapter = (folder / "adapter_config.json").is_file()
        raise ModelError(
            f"the folder {name} holds no {file}; expected {expected}{held if is_adapter else ''}"
        )
    parent = folder.parent
    siblings = [p for p in parent.iterdir() if p.is_dir()] if parent.is_dir() else []
    if hub_id.fullmatch(name):
        # Models of the hub without an owner are few; a folder of that name is spelled wrongly.
        holding = [p.name for p in siblings if (p / file).is_file()] if "/" not in name else []
        if hint := did_you_mean(name, holding, "`{}`".format, cutoff=0.75):
            raise ModelError(
                f"there is no folder {name} (relative to the suite file){hint} A model on the hub "
                f"is named with its owner, such as {example}"
            )
        return name
    names = [p.name for p in siblings]
    hint = did_you_mean(folder.name, names, lambda near: f"`{Path(name).with_name(near)}`")
    raise ModelError(
        f"there is no folder {name} (relative to the suite file), and it is not a hub id such as "
        f"{example}{hint}"
    )


def in_cache(key: str, name: str, revision: str | None) -> bool:
    """Tell whether the cache of the hub holds a model (key `name`) or an `adapter`."""
    return at_hand(name, _KINDS[key][0], revision) is not None


def at_hand(location: str, file: str, revision: str | None) -> Path | None:
    """Return where a file of a model is: in its folder, or in the hub's cache; else None."""
    if Path(location).is_dir():
        path = Path(location) / file
        return path if path.is_file() else None
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    found = try_to_load_from_cache(location, file, revision=revision)
    return Path(found) if isinstance(found, str) else None


def said_in(file: Path | None) -> dict[str, Any]:
    """Return what a file of JSON says; nothing where it cannot be read, which loading tells."""
    if file is None or not file.is_file():  # what is none may have no end
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class Commits:
    """The commits that a session means: what a branch or tag was when it was first asked for.

    Parameters
    ----------
    session : str, optional
        What several processes of one session have in common; they will mean the same commits.
    """

    def __init__(self, session: str = "") -> None:
        self._session = session
        self._known: dict[tuple[str, str | None, str], str] = {}

    def of(self, name: str, revision: str | None, holds: str = "config.json") -> str:
        """Return a commit; where the hub is out of reach, that of its cache.

        Parameters
        ----------
        name : str
            Hub id of a model or adapter.
        holds : str
            A file that it must hold.

        Raises
        ------
        ModelError
            In one sentence.
        """
        key = name, revision, holds
        if key not in self._known:
            self._known[key] = (
                agreed(f"{self._session} {name}@{revision}", lambda: _commit(*key))
                if self._session
                else _commit(*key)
            )
        return self._known[key]


def _commit(name: str, revision: str | None, holds: str) -> str:
    check_reachable(name, revision, holds)
    return downloaded(name, holds, revision).parent.name


def downloaded(name: str, file: str, revision: str | None) -> Path:
    """Return a file of a model or adapter on the hub, which its cache holds from then on.

    Raises
    ------
    ModelError
        In one sentence.
    """
    from huggingface_hub import hf_hub_download

    try:
        return Path(hf_hub_download(name, file, revision=revision))
    except Exception as error:  # the HTTP library's own errors have no base in common with ours
        raise ModelError(
            f"the {file} of {name} cannot be downloaded from the hub ({brief(error)}); expected a "
            "file as written by save_pretrained"
        ) from error


def check_reachable(name: str, revision: str | None, holds: str) -> None:
    """Refuse a model or adapter that is neither in the cache nor on a hub that answers.

    The loader itself asks again and again for most of a minute before it gives up, and then cannot
    tell that a folder was meant. What it `holds` is in the cache if anything of it is.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(try_to_load_from_cache(name, holds, revision=revision), str):
        return
    absent = f"there is no folder {name} (relative to the suite file), and the hub"
    try:
        HfApi().model_info(name, revision=revision, timeout=_PATIENCE)
    except RevisionNotFoundError as error:
        raise ModelError(f"{name} has no revision {revision} on the hub") from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"{absent} has no public model of that name; check the name, or log in with "
            "`hf auth login`"
        ) from error
    except Exception as error:  # the HTTP library's own errors have no base in common with ours
        raise ModelError(
            f"{absent} cannot be reached ({brief(error)}); check the name and the network"
        ) from error


def model_digest(
    spec: TransformersSpec,
    location: str,
    adapter: str | None = None,
    adapter_commit: str | None = None,
) -> str:
    """Return the SHA-256 (hex) of what determines the model's numbers.

    That is the content of a local folder (weights, configuration, tokenizer, and code that may
    run) or the commit of a model on the hub, the same of its adapter, and how the weights are
    loaded. The name and place of the folders, the device and the label do not count.

    Parameters
    ----------
    spec : TransformersSpec
        Its `revision` is a commit if the model is on the hub.
    location : str
        Local folder or hub id.
    adapter, adapter_commit : str, optional
        Local folder or hub id of the model's adapter; its commit if it is on the hub.

    Raises
    ------
    ModelError
        In one sentence, if a file cannot be read.
    """
    code = "with its code" if spec.trust_remote_code else "without its code"
    patterns = (*_READ_BY_LOADERS, *(["**/*.py"] if spec.trust_remote_code else []))
    content = _content(spec.name, location, patterns, spec.revision)
    added = []
    if adapter is not None:
        added.append(_content(str(spec.adapter), adapter, _OF_ADAPTERS, adapter_commit))
    if spec.chat:
        added.append("chat")
    return digest(content, spec.quantization, spec.dtype, code, *added)


def _content(name: str, location: str, patterns: Sequence[str], commit: str | None) -> str:
    """Digest the files of a folder that match; of what is on the hub, return the commit."""
    folder = Path(location)
    if folder.is_dir():
        return digest(*_files(name, folder, patterns))
    assert commit is not None
    return commit


def _files(model: str, folder: Path, patterns: Iterable[str]) -> Iterator[str]:
    """Yield the name and digest of each file that counts."""
    try:
        found = {path for pattern in patterns for path in folder.glob(pattern)}
        names = {path.relative_to(folder).as_posix(): path for path in found if path.is_file()}
        for name, path in sorted(names.items()):
            yield name
            yield file_digest(path)
    except OSError as error:
        raise ModelError(
            f"{error.filename} of {model} cannot be read: {error.strerror}; make the files "
            "readable for this user"
        ) from error


def file_digest(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's content.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    status = path.stat()
    return _digest_of(path, status.st_size, status.st_mtime_ns, status.st_ino)


@functools.lru_cache(maxsize=4096)
def _digest_of(path: Path, size: int, changed: int, number: int) -> str:
    """Return the SHA-256 (hex) of a file, once for what size, time and inode tell apart."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

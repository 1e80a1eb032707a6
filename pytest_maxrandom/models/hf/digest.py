"""What determines a model's numbers, as one digest, found without loading the model."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.hub import pinned
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_maxrandom.suite.models import TransformersSpec

_READ_BY_LOADERS = (
    "*.safetensors",
    "*.safetensors.index.json",
    "config.json",
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
"""Files of a model's folder that the numbers depend on; not its README, nor how it generates."""

_OF_ADAPTERS = ("adapter_config.json", "adapter_model.safetensors")


def model_digest(spec: TransformersSpec, location: str, adapter: str | None = None) -> str:
    """Return the SHA-256 (hex) of what determines the model's numbers.

    That is the content of a local folder (weights, configuration, tokenizer, and code that may
    run) or the commit of a model on the hub, the same of its adapter, and how the weights are
    loaded. The name and place of the folders, the device and the label do not count.

    Parameters
    ----------
    location : str
        Local folder or hub id.
    adapter : str, optional
        Local folder or hub id of the model's adapter.

    Raises
    ------
    ModelError
        In one sentence, if a file cannot be read, or the hub does not know the model.
    """
    code = "with its code" if spec.trust_remote_code else "without its code"
    folder = Path(location)
    patterns = (*_READ_BY_LOADERS, *(["**/*.py"] if spec.trust_remote_code else []))
    if folder.is_dir():
        content = digest(*_contents(spec.name, folder, patterns))
    else:
        content = pinned(spec.name, spec.revision, "config.json")
    added = [] if adapter is None else [_adapter_digest(spec, adapter)]
    return digest(content, spec.quantization, spec.dtype, code, *added)


def tried_digest(spec: TransformersSpec, location: str, adapter: str | None = None) -> str:
    """Return the digest that the ledger knows a model by, whatever type it is computed in.

    The same prompt in another type is no other try: it is the digest with ``dtype: auto``, so that
    most ledgers stay as they were.

    Raises
    ------
    ModelError
        As `model_digest` does.
    """
    return model_digest(spec.model_copy(update={"dtype": "auto"}), location, adapter)


def _adapter_digest(spec: TransformersSpec, location: str) -> str:
    name, folder = str(spec.adapter), Path(location)
    if folder.is_dir():
        return digest(*_contents(name, folder, _OF_ADAPTERS))
    return pinned(name, None, "adapter_config.json")


def _contents(model: str, folder: Path, patterns: Iterable[str]) -> Iterator[str]:
    """Yield the name and digest of each file that counts."""
    try:
        found = {path for pattern in patterns for path in folder.glob(pattern)}
        names = {path.relative_to(folder).as_posix(): path for path in found if path.is_file()}
        for name, path in sorted(names.items()):
            status = path.stat()
            yield name
            yield _file(path, status.st_size, status.st_mtime_ns, status.st_ino)
    except OSError as error:
        raise ModelError(
            f"{error.filename} of {model} cannot be read: {error.strerror}; expected files "
            "that this user may read"
        ) from error


@functools.lru_cache(maxsize=4096)
def _file(path: Path, size: int, changed: int, number: int) -> str:
    """Return the SHA-256 (hex) of a file, once for what size, time and inode tell apart."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

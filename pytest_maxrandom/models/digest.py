"""What determines a model's numbers, as one digest, found without loading the model."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hub import check_reachable
from pytest_maxrandom.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.spec import ModelSpec

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


def model_digest(spec: ModelSpec, location: str) -> str:
    """Return the SHA-256 (hex) of what determines the model's numbers.

    That is the content of a local folder (weights, configuration, tokenizer, and code that may
    run) or the commit of a model on the hub, and how the weights are loaded. The name and place of
    the folder, the device and the label do not count.

    Parameters
    ----------
    location : str
        Local folder or hub id.

    Raises
    ------
    ModelError
        In one sentence, if a file cannot be read, or the hub does not know the model.
    """
    code = "with its code" if spec.trust_remote_code else "without its code"
    folder = Path(location)
    content = digest(*_contents(spec, folder)) if folder.is_dir() else _commit(spec)
    return digest(content, spec.quantization, spec.dtype, code)


def _contents(spec: ModelSpec, folder: Path) -> Iterator[str]:
    """Yield the name and digest of each file that counts."""
    try:
        found = {path for pattern in _READ_BY_LOADERS for path in folder.glob(pattern)}
        if spec.trust_remote_code:
            found |= set(folder.rglob("*.py"))
        names = {path.relative_to(folder).as_posix(): path for path in found if path.is_file()}
        for name, path in sorted(names.items()):
            status = path.stat()
            yield name
            yield _file(path, status.st_size, status.st_mtime_ns, status.st_ino)
    except OSError as error:
        raise ModelError(
            f"{error.filename} of {spec.name} cannot be read: {error.strerror}; expected files "
            "that this user may read"
        ) from error


@functools.lru_cache(maxsize=4096)
def _file(path: Path, size: int, changed: int, number: int) -> str:
    """Return the SHA-256 (hex) of a file, once for what size, time and inode tell apart."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _commit(spec: ModelSpec) -> str:
    """Return the commit that the hub, or its cache where the hub is out of reach, would load."""
    check_reachable(spec)
    from huggingface_hub import hf_hub_download

    try:
        found = hf_hub_download(spec.name, "config.json", revision=spec.revision)
    except Exception as error:  # the HTTP library's own errors have no base in common with ours
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ModelError(
            f"the config.json of {spec.name} cannot be had from the hub ({reason}); expected a "
            "model as written by save_pretrained"
        ) from error
    return Path(found).parent.name

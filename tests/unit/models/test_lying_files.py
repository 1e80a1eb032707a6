"""Weights whose headers lie: one sentence each, before anything is read that they claim."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.hub import said_in
from pytest_maxrandom.models.hf.refusals import check_files
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.suite.models import TransformersSpec
from tests.models import located

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "model.norm.weight"


@pytest.fixture(scope="module")
def folder(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(tiny_llama, tmp_path_factory.mktemp("lying") / "spoilt")


def said(**changed: Any) -> Callable[[dict[str, Any]], str]:
    """Return what a header says in which one tensor is described otherwise."""
    return lambda header: json.dumps({**header, NAME: {**header[NAME], **changed}})


def twice(header: dict[str, Any]) -> str:
    other = {**header[NAME], "data_offsets": others(header)}
    return f'{json.dumps(header)[:-1]}, "{NAME}": {json.dumps(other)}}}'


def others(header: dict[str, Any]) -> list[int]:
    """Return where another tensor of the same size stands."""
    offsets: list[int] = header["model.layers.0.input_layernorm.weight"]["data_offsets"]
    return offsets


HEADERS: dict[str, Callable[[dict[str, Any]], str | bytes]] = {
    "too large a shape": said(shape=[10**12]),
    "a shape whose product overflows": said(shape=[2**32, 2**33]),
    "a negative shape": said(shape=[-64]),
    "too small a shape": said(shape=[63]),
    "offsets out of the file": said(data_offsets=[10**12, 10**12 + 256]),
    "offsets of another": lambda header: said(data_offsets=others(header))(header),
    "offsets the other way round": lambda header: said(
        data_offsets=header[NAME]["data_offsets"][::-1]
    )(header),
    "a negative offset": said(data_offsets=[-256, 0]),
    "an unknown type": said(dtype="F1"),
    "a name that stands twice": twice,
    "no UTF-8": lambda header: json.dumps(header).encode().replace(b"norm", b"n\xffrm", 1),
    "no JSON": lambda header: "{" * 1000,
    "deep JSON": lambda header: '{"x":' + "[" * 100_000 + "]" * 100_000 + "}",
    "a list": lambda header: "[]",
    "no tensor": lambda header: '{"x": 1}',
}


@pytest.mark.parametrize("what", [*HEADERS, "huge", "beyond", "cut", "empty"])
def test_safetensors_that_lie_are_a_sentence(folder: Path, what: str) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    header, data = json.loads(whole[8 : 8 + length]), whole[8 + length :]
    if what in HEADERS:
        new = HEADERS[what](header)
        new = new if isinstance(new, bytes) else new.encode()
        spoilt = struct.pack("<Q", len(new)) + new + data
    else:
        lengths = {"huge": 2**63, "beyond": len(whole)}
        spoilt = struct.pack("<Q", lengths.get(what, length)) + whole[8:]
        spoilt = {"cut": whole[: length // 2], "empty": b""}.get(what, spoilt)
    path.write_bytes(spoilt)
    spec = TransformersSpec(name=folder.name, quantization="none", device="cpu")
    try:
        with pytest.raises(ModelError) as caught:
            ModelPool().get(located(spec, folder.parent))
    finally:
        path.write_bytes(whole)
    message = str(caught.value)
    assert message.startswith("spoilt ")
    assert "\n" not in message
    assert len(message) < 600


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device of POSIX has no end")
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_what_has_no_end_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    spec = TransformersSpec(name="endless", quantization="none", device="cpu")
    with pytest.raises(ModelError, match=f"endless cannot be loaded: {name} is no regular file"):
        check_files(spec, str(tmp_path))
    assert said_in(tmp_path / name) == {}


def test_of_a_deep_configuration_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[" * 100_000)
    assert said_in(tmp_path / "config.json") == {}

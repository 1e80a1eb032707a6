"""Headers of GGUF files that lie are told before llama.cpp asks for the memory."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.models.gguf_header import _BLOCKS, header_mistake

if TYPE_CHECKING:
    from pathlib import Path

gguf = pytest.importorskip("gguf")
NAME = b"second.weight"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with keys of each kind and tensors of several types, as its makers write it."""
    file = tmp_path_factory.mktemp("gguf") / "m.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(512)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_bool("x.bool", True)
    writer.add_token_list([f"token {number}" for number in range(20)])
    writer.add_array("x.nested", [[1, 2], [3]])
    writer.add_tensor("first.weight", np.ones((4, 64), dtype=np.float32))
    writer.add_tensor("second.weight", np.ones((2, 32), dtype=np.float16))
    quantized = gguf.quants.quantize(
        np.ones((2, 64), dtype=np.float32), gguf.GGMLQuantizationType.Q8_0
    )
    writer.add_tensor("third.weight", quantized, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file.read_bytes()


def refusal(folder: Path, content: bytes) -> str:
    """Return why a file is refused; nothing if it is not."""
    file = folder / "m.gguf"
    file.write_bytes(content)
    message = header_mistake(str(file))
    assert "\n" not in message
    assert len(message) < 250
    return message


def changed(whole: bytes, **said: int) -> bytes:
    """Return the file with other numbers in the description of its second tensor."""
    at = whole.index(NAME) + len(NAME)
    names = ("dimensions", "columns", "rows", "type", "offset")
    numbers = dict(zip(names, struct.unpack_from("<IQQIQ", whole, at), strict=True)) | said
    described = struct.pack("<IQQIQ", *numbers.values())
    return whole[:at] + described + whole[at + len(described) :]


def test_sizes_of_types_are_those_of_its_makers() -> None:
    assert {int(kind): size for kind, size in gguf.GGML_QUANT_SIZES.items()} == _BLOCKS


def test_a_whole_file_is_read(tmp_path: Path, whole: bytes) -> None:
    assert not refusal(tmp_path, whole)
    assert not refusal(tmp_path, changed(whole))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"dimensions": 5}, "has 5 dimensions"),
        ({"dimensions": 2**32 - 1}, "has 4,294,967,295 dimensions"),
        ({"rows": 2**40}, "'second.weight' ends at byte"),
        ({"rows": 2**63, "columns": 2**63}, "'second.weight' ends at byte"),
        ({"rows": 2**64 - 2}, "'second.weight' ends at byte"),  # a negative number
        ({"rows": 1000}, "'second.weight' ends at byte"),
        ({"rows": 4}, "'third.weight' begins within another"),
        ({"offset": 2**40}, "'second.weight' ends at byte"),
        ({"offset": 0}, "begins within another"),
        ({"offset": 32}, "begins within another"),
    ],
)
def test_tensors_stand_within_the_file_and_beside_each_other(
    tmp_path: Path, whole: bytes, numbers: dict[str, int], said: str
) -> None:
    assert said in refusal(tmp_path, changed(whole, **numbers))


def test_lengths_stand_within_the_file(tmp_path: Path, whole: bytes) -> None:
    at = whole.index(b"general.architecture")
    for length in (2**63, 2**64 - 1, 10**9, 70_000):
        longer = whole[: at - 8] + struct.pack("<Q", length) + whole[at:]
        assert "one of its names has" in refusal(tmp_path, longer)
    at = whole.index(b"tokenizer.ggml.tokens") + len(b"tokenizer.ggml.tokens") + 8
    for count in (2**63, 10**9, len(whole) - 1):
        longer = whole[:at] + struct.pack("<Q", count) + whole[at + 8 :]
        assert refusal(tmp_path, longer)
    twice = whole.replace(b"third.weight", b"first.weight")
    assert "'first.weight' stands twice" in refusal(tmp_path, twice)


def test_what_is_cut_or_changed_anywhere_is_a_sentence(tmp_path: Path, whole: bytes) -> None:
    end = whole.index(b"third.weight")
    for cut in range(4, end, 7):
        assert refusal(tmp_path, whole[:cut])
    draw = random.Random(33)
    for _ in range(300):
        spoilt = bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            spoilt[draw.randrange(4, end)] = draw.choice(
                (0, 1, 8, 9, 127, 255, draw.randrange(256))
            )
        refusal(tmp_path, bytes(spoilt))


def test_all_parts_of_a_split_model_are_looked_at(tmp_path: Path, whole: bytes) -> None:
    parts = [tmp_path / f"m-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    for part in parts:
        part.write_bytes(whole)
    assert not header_mistake(str(parts[0]))
    parts[2].write_bytes(changed(whole, rows=2**40))
    said = header_mistake(str(parts[0]))
    assert said.startswith("of its part m-00003-of-00003.gguf, its tensor 'second.weight' ends at")
    alone = tmp_path / "m-00001-of-00000.gguf"  # no number of parts
    alone.write_bytes(whole)
    assert not header_mistake(str(alone))


@pytest.mark.parametrize(
    ("tensors", "keys", "room", "fits"),
    [(2, 3, 87, True), (2, 3, 86, False), (2**62, 0, 999, False), (0, 2**62, 999, False)],
)
def test_counts_need_room(tmp_path: Path, tensors: int, keys: int, room: int, fits: bool) -> None:
    head = struct.pack("<4sIQQ", b"GGUF", 3, tensors, keys)
    said = f"counts {tensors:,} tensors and {keys:,} keys"
    assert (said in refusal(tmp_path, head + bytes(room - len(head)))) != fits


def test_a_header_that_ends_too_early_is_told(tmp_path: Path) -> None:
    assert "ends within its header" in refusal(tmp_path, b"GGUF\x03")

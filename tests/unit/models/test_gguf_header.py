"""Headers of GGUF files that lie are told before llama.cpp asks for the memory."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.llamacpp import check_counts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("tensors", "keys", "room", "fits"),
    [(2, 3, 87, True), (2, 3, 86, False), (2**62, 0, 999, False), (0, 2**62, 999, False)],
)
def test_counts_need_room(tmp_path: Path, tensors: int, keys: int, room: int, fits: bool) -> None:
    file = tmp_path / "m.gguf"
    head = struct.pack("<4sIQQ", b"GGUF", 3, tensors, keys)
    file.write_bytes(head + bytes(room - len(head)))
    if fits:
        check_counts(str(file), "m")
    else:
        with pytest.raises(ModelError, match=rf"counts {tensors:,} tensors and {keys:,} keys"):
            check_counts(str(file), "m")


def test_a_header_that_ends_too_early_is_told(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF\x03")
    with pytest.raises(ModelError, match="ends within its header"):
        check_counts(str(tmp_path / "m.gguf"), "m")

"""Data that the package `datasets` would unpack: as much as they may, told before it does."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.host import limits
from pytest_maxrandom.host.unpacked import parquet_bytes, too_large_unpacked
from pytest_maxrandom.suite.tasks import HubSpec
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Task

ROW = json.dumps({"input": "q", "choices": ["a", "b"], "answer": "a"}).encode() + b"\n"
LARGE = ROW + b" " * 2_000_000 + b"\n"


def zipped(content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("test.jsonl", content)
    return made.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".jsonl.gz": gzip.compress,
    ".jsonl.bz2": bz2.compress,
    ".jsonl.xz": lzma.compress,
    ".zip": zipped,
}


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    with limits.in_force({"data_mb": 1}):
        yield


@pytest.mark.parametrize("ending", [*PACKED])
def test_what_unpacks_to_too_much_is_told(tmp_path: Path, ending: str) -> None:
    pack, file = PACKED[ending], tmp_path / f"test{ending}"
    file.write_bytes(pack(ROW * 9))
    assert not too_large_unpacked(file)
    file.write_bytes(pack(LARGE))
    assert file.stat().st_size < 10_000
    assert "unpacks to more than 1 MB; if it should, raise `limits: data_mb`" in (
        too_large_unpacked(file)
    )
    with limits.in_force({"data_mb": 3}):
        assert not too_large_unpacked(file)
    file.write_bytes(file.read_bytes()[:50])  # which its reader tells
    assert not too_large_unpacked(file)


@pytest.mark.parametrize("begin", [b"\x28\xb5\x2f\xfd", b"Rar!\x1a\x07", b"7z\xbc\xaf\x27\x1c"])
def test_what_cannot_be_measured_is_not_unpacked(tmp_path: Path, begin: bytes) -> None:
    (tmp_path / "x").write_bytes(begin + bytes(100))
    assert "unpack it, or pack it with gzip" in too_large_unpacked(tmp_path / "x")


def _read(folder: Path) -> Task:
    spec = HubSpec(name="t", format="hub", path="data", split="test")
    return load_task(spec, folder)


def keep_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder for data, and let `datasets` keep beside it what it made of them."""
    datasets = pytest.importorskip("datasets", reason="needs the extra: datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(folder / "cache"))
    (folder / "data").mkdir()


def test_a_folder_of_packed_data_is_read_as_far_as_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_in(tmp_path, monkeypatch)
    file = tmp_path / "data" / "test.jsonl.gz"
    file.write_bytes(gzip.compress(ROW))
    assert len(_read(tmp_path).examples) == 1
    file.write_bytes(gzip.compress(LARGE))
    with pytest.raises(SuiteError, match=r"test\.jsonl\.gz': it unpacks to more than 1 MB"):
        _read(tmp_path)


def test_a_parquet_file_is_as_large_as_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_in(tmp_path, monkeypatch)
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = tmp_path / "data" / "test.parquet"
    for rows, said in ((9, ""), (200_000, "it unpacks to more than 1 MB")):
        pq.write_table(pa.table({"input": ["q"] * rows, "answer": ["a"] * rows}), file)
        assert file.stat().st_size < 3_000
        assert said in too_large_unpacked(file)
    with pytest.raises(SuiteError, match=r"test\.parquet': it unpacks to more than 1 MB"):
        _read(tmp_path)


def test_of_a_parquet_file_only_what_is_read_counts(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    long, lists = ["x" * 10_000, "y" * 20_000], [["u" * 40_000], []]
    pq.write_table(pa.table({"a": [1, 2], "a.b": long, "lists": lists}), tmp_path / "x")
    with pq.ParquetFile(tmp_path / "x") as file:
        metadata = file.metadata
    assert parquet_bytes(metadata, ["a.b"]) in range(30_000, 31_000)
    assert parquet_bytes(metadata, ["lists"]) in range(40_000, 41_000)
    assert parquet_bytes(metadata) in range(70_000, 73_000)


def _arrow(path: Path, kind: str) -> None:
    """Write few bytes that stand for many."""
    pa = pytest.importorskip("pyarrow", reason="Arrow and Parquet need pyarrow")
    import pyarrow.parquet as pq

    long, rows = "x" * 50_000, 200
    if kind == "footer":
        pq.write_table(pa.table({"a": ["y" * 3_000_000]}), path, compression="gzip")
        _understate(path)
        with pq.ParquetFile(path) as file:
            assert parquet_bytes(file.metadata) < 100
    elif kind == "list":
        pq.write_table(pa.table({"a": [[long] * rows]}), path, compression="gzip")
    elif kind == "texts":
        pq.write_table(pa.table({"a": [long] * rows}), path, compression="gzip")
    else:
        packed = pa.array([long] * rows).dictionary_encode()
        if kind == "runs":
            packed = pa.RunEndEncodedArray.from_arrays([rows], [long])
        if kind == "compressed":
            packed = pa.array(["y" * 3_000_000])
        table = pa.table({"a": packed})
        how = pa.ipc.IpcWriteOptions(compression="zstd")
        new = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
        with new(str(path), table.schema, options=how) as writer:
            writer.write_table(table)


def _understate(path: Path) -> None:
    """Let the footer of a Parquet file say that it unpacks to a byte or so."""

    def written(number: int, length: int = 0) -> bytes:
        """Write a number as Thrift does, in at least so many bytes."""
        number, found = number << 1, bytearray()
        while number or len(found) < length:
            found.append(number & 127 | 128)
            number >>= 7
        found[-1] &= 127
        return bytes(found)

    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        size = file.metadata.row_group(0).column(0).total_uncompressed_size
    content = path.read_bytes()
    true = written(size)
    assert true in content
    path.write_bytes(content.replace(true, written(1, len(true))))


@pytest.mark.parametrize(
    "kind", ["footer", "list", "texts", "dictionary", "stream", "runs", "compressed"]
)
def test_columns_are_as_large_as_they_are_unpacked(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "x"
    _arrow(file, kind)
    assert file.stat().st_size < 60_000
    assert "unpacks to more than 1 MB" in too_large_unpacked(file)
    with limits.in_force({"data_mb": 11}):
        assert not too_large_unpacked(file)
    file.write_bytes(file.read_bytes()[:-20])  # which its reader tells
    with limits.in_force({"data_mb": 11}):
        assert not too_large_unpacked(file)

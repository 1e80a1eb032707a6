"""Files that take more of a machine than they are worth: refused in one sentence, unread."""

from __future__ import annotations

import gzip
import importlib.util
import io
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.host.unpacked import parquet_bytes, unpacked_groups
from pytest_maxrandom.recorded.files import read_lines
from pytest_maxrandom.recorded.logs.inspect import read_inspect
from pytest_maxrandom.recorded.npz import read_npz
from pytest_maxrandom.recorded.tables.files import read_columns
from pytest_maxrandom.suite.recorded import RESULTS, InspectResults
from tests.unit.recorded.suites import mistakes, rows, save, suite_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.grid import Meant


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Data may unpack to 2 MB; nothing here takes much more memory."""
    monkeypatch.setenv("MAXRANDOM_LIMITS", "data_mb=2")
    if importlib.util.find_spec("pyarrow"):  # so that the modules do not count that it imports
        import pyarrow.parquet

        pyarrow.table({"x": np.zeros(1)})
    tracemalloc.start()
    yield
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000_000


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name.replace("_DOT_", "."), content)
    return path


def header(text: str) -> bytes:
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}", "claims"),
        ("{'descr': '<U1000000', 'fortran_order': False, 'shape': (10**9,)}", "damaged"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (", "damaged"),
        ("((((", "damaged"),
        ("\u00e9" * 10, "damaged"),
    ],
)
def test_a_header_that_lies_is_a_sentence(tmp_path: Path, said: str, message: str) -> None:
    file = archive(tmp_path / "m.npz", t__0__correct_DOT_npy=header(said))
    with pytest.raises(RecordedError, match=f"m.npz: t__0__correct: .*{message}"):
        read_npz(file)


def test_an_archive_unpacks_to_as_much_as_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "m.npz"
    save(file, t__0={"correct": rows(9, 8, n=9)})
    with np.load(file) as arrays:
        known = dict(arrays)
    np.savez_compressed(file, **known, other=np.zeros(3_000_000, dtype=np.uint8))
    assert file.stat().st_size < 20_000
    with pytest.raises(RecordedError, match=r"more than 2 MB.*MAXRANDOM_LIMITS=data_mb"):
        read_npz(file)
    monkeypatch.setenv("MAXRANDOM_LIMITS", "data_mb=4")
    assert len(read_npz(file)) == 1


def test_a_log_unpacks_to_as_much_as_it_may(tmp_path: Path, meant: Meant) -> None:
    file = archive(tmp_path / "log.eval", header_DOT_json=b"{" + b" " * 3_000_000 + b"}")
    with pytest.raises(RecordedError, match="more than 2 MB"):
        read_inspect(file, InspectResults(path="log.eval", format="inspect"), meant)


@pytest.fixture
def meant() -> Meant:
    from pytest_maxrandom.recorded.tables.grid import Meant

    return Meant(model="m", task="t", shots=0, models=(("m",),))


@pytest.mark.parametrize("kind", ["many rows", "long texts", "one long text"])
def test_a_parquet_table_unpacks_to_as_much_as_it_may(tmp_path: Path, kind: str) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    count = {"many rows": 100_000}.get(kind, 9)
    texts = pa.repeat("p", count)
    if kind == "long texts":
        texts = pa.array([f"{row}" * 300_000 for row in range(count)])
    if kind == "one long text":  # every row has it, the file once
        texts = pa.repeat("x" * 1_000_000, count)
    numbers = np.arange(count)
    table = {"prompt": texts, "example": numbers, "correct": numbers * 0}
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table(table), file, compression="zstd")
    wanted = {name: (name, True) for name in table}
    if kind == "one long text":
        assert read_columns(file, wanted).count == 9
    else:
        with pytest.raises(RecordedError, match="more than 2 MB"):
            read_columns(file, wanted)
        # What is not read takes nothing.
        assert read_columns(file, {"correct": ("correct", True)}).count == count


def test_groups_of_rows_are_read_until_one_no_longer_fits(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    file = tmp_path / "x.parquet"
    # The file says little of itself: each group has one text, which stands for many.
    texts = pa.array([f"{group}" * 80_000 for group in range(3) for _ in range(10)])
    pq.write_table(pa.table({"x": texts}), file, row_group_size=10)
    assert parquet_bytes(pq.ParquetFile(file).metadata) < 1_000_000
    *fit, last = unpacked_groups(file)
    assert fit == ["", ""]  # of .8 MB each
    assert "more than 2 MB" in last
    assert [*unpacked_groups(file, ["x"], ["x"])] == [""] * 4  # as dictionaries they all do


@pytest.mark.parametrize("line", [b'{"a": 1}\n', b'{"a": 1} ', b'{"a": 1}\xff\n'])
def test_a_packed_table_unpacks_to_as_much_as_it_may(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "x.jsonl.gz"
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb") as packed:
        packed.write(b" " * 1000 + b'{"a": 1}\n' + (b" " * 999 + b"\n") * 3_000 + line)
    file.write_bytes(made.getvalue())
    with pytest.raises(RecordedError, match="more than 2 MB"):
        list(read_lines(file))


@pytest.mark.parametrize("form", [*RESULTS.specs])
@pytest.mark.parametrize(
    "path", ["x" * 300, "/".join(["folder"] * 1000)], ids=["a long name", "many folders"]
)
def test_a_path_longer_than_a_file_system_takes(path: str, form: str, tmp_path: Path) -> None:
    [told] = mistakes(tmp_path, suite_text("{name: a}", model=f"{path}, format: {form}"))
    assert told.startswith("2: models[0].results: ")
    assert told.endswith(": cannot be read: File name too long")

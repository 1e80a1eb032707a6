"""Logs of Inspect with one fault each: an error of one sentence that names it."""

from __future__ import annotations

import builtins
import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import RecordedError
from tests.unit.recorded.logs.inspect_logs import Log, write_archive, write_json
from tests.unit.recorded.reading import read_inspect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def message(path: Path, **asked: Any) -> str:
    with pytest.raises(RecordedError) as caught:
        read_inspect(path, **asked)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(str(path))
    return text


def score(log: Any, value: object) -> None:
    log["samples"][1]["scores"]["choice"]["value"] = value


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda log: log.update(status="error"), "status is 'error', expected 'success'"),
        (lambda log: log.update(status="started"), "status is 'started', expected 'success'"),
        (lambda log: log.pop("status"), "'status' is missing"),
        (lambda log: log.pop("eval"), "'eval' is missing"),
        (lambda log: log.update(invalidated=True), "marked as invalid"),
        (lambda log: log.pop("samples"), "holds no samples; run it without --no-log-samples"),
        (lambda log: log.update(samples=[]), "holds no samples"),
        (lambda log: log.update(samples=[5]), "samples[0]: expected an object"),
        (lambda log: log["samples"].pop(), "holds 3 of the 4 samples"),
        (lambda log: log["eval"]["config"].update(epochs=2), "holds 4 of the 8 samples"),
        (
            lambda log: log["samples"].append(log["samples"][0]),
            "samples[4]: sample 'q0' appears twice",
        ),
        (lambda log: log["samples"][1].pop("scores"), "samples[1]: sample 'q1' has no score"),
        (
            lambda log: log["samples"][1].update(error={"message": "Timeout"}),
            "samples[1]: sample 'q1' failed (Timeout)",
        ),
        (lambda log: log["samples"][1].update(id=None), "samples[1]: 'id' is None"),
        (lambda log: log["samples"][1].update(messages=["x"]), "samples[1]: a message is 'x'"),
        (lambda log: score(log, "P"), "samples[1]: 'choice' gave 'P', expected C or I"),
        (lambda log: score(log, 1.5), "samples[1]: 'choice' gave 1.5, expected C or I"),
        (lambda log: score(log, float("nan")), "samples[1]: 'choice' gave nan, expected C or I"),
        (lambda log: score(log, {"a": 1}), "samples[1]: 'choice' gave {'a': 1}, expected C or I"),
        (
            lambda log: score(log, "C"),
            "3 of 4 samples are right according to 'choice', but its accuracy is 0",
        ),
        (
            lambda log: log["samples"][1]["scores"].update(judge={"value": 1}),
            "samples[1]: the scorers choice, judge judged this sample",
        ),
    ],
)
def test_a_log_must_be_finished_and_agree_with_itself(
    tmp_path: Path, change: Callable[[Any], object], expected: str
) -> None:
    content = Log().content()
    change(content)
    path = tmp_path / "log.json"
    path.write_text(json.dumps(content))
    assert expected in message(path)


def test_several_scorers_are_listed(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", Log(scorers=("choice", "judge")))
    assert (
        "the scorers choice, judge judged this sample; name the one that counts as `scorer`"
        in message(path)
    )
    assert "no scorer 'f1' judged this sample, found choice, judge" in message(path, scorer="f1")


def test_runs_on_other_examples_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", Log())
    for other, expected in (
        (Log("BAB"), "3 examples, but"),
        (Log(targets="BBAB"), "example 'q2' differs from the one in"),
        (Log(choices=("red", "green", "white")), "example 'q0' differs from the one in"),
    ):
        other.created = "2026-01-02T12:00:00+00:00"
        write_json(tmp_path / "b.json", other)
        with pytest.raises(RecordedError, match=expected) as caught:
            read_inspect(tmp_path)
        assert str(caught.value).startswith(str(tmp_path / "b.json"))


def test_an_archive_without_a_header_is_an_unfinished_run(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "log.eval", Log(), finished=False)
    assert "status is 'started', expected 'success'" in message(path)


def test_an_archive_of_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "")
    assert "not an Inspect log, because it has no header.json" in message(path)


def test_a_file_that_is_no_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_text("{}")
    assert "not an archive" in message(path)


def test_damage_in_an_archive_is_named_with_its_member(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "log.eval", Log())
    content = bytearray(path.read_bytes())
    place = content.index(b"samples/q1_epoch_1.json") + 40
    content[place : place + 60] = bytes(60)
    path.write_bytes(content)
    assert "samples/q1_epoch_1.json: damaged" in message(path)


def test_files_that_are_missing_or_no_json_are_named(tmp_path: Path) -> None:
    for name in ("log.json", "log.eval"):
        assert "cannot be read: No such file or directory" in message(tmp_path / name)
    (tmp_path / "log.json").write_text('{"version": 2,')
    assert "not valid JSON: " in message(tmp_path / "log.json")


def test_a_folder_without_logs_is_named(tmp_path: Path) -> None:
    assert "the folder has no Inspect log" in message(tmp_path)


@pytest.mark.skipif("sys.version_info >= (3, 14)", reason="this Python reads Zstandard alone")
def test_without_zstandard_the_way_to_get_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zstandard = pytest.importorskip("backports.zstd.zipfile")
    with zstandard.ZipFile(tmp_path / "log.eval", "w", zstandard.ZIP_ZSTANDARD) as archive:
        archive.writestr("header.json", json.dumps({"status": "success"}))
    imported = builtins.__import__

    def without(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.startswith("backports"):
            raise ImportError(name)
        return imported(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    assert 'pip install "pytest-maxrandom[inspect]"' in message(tmp_path / "log.eval")

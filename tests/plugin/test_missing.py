"""Suites whose data or models are not here: skipped with the way to get them, where they say so."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

from tests.needs import require

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models: [{name: ./weights, quantization: none, if_missing: get the weights}]
tasks:
- {name: here, format: jsonl, path: here.jsonl, if_missing: get the data}
- {name: gone, format: jsonl, path: gone.jsonl, if_missing: get the data}
arms:
  base: {}
  extra: {train: {text: extra}}
  test: {train: {text: scored}}
contamination: {base: base, extra: extra, test: test}
allow_unpassable: true
"""
MOCK = "{name: m, backend: mock}"
ROW = {"input": "a", "choices": ["x", "y"], "answer": "x"}


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Path:
    folder = pytester.mkdir("eval_suites")
    rows = [json.dumps({**ROW, "input": f"q {k}"}) for k in range(40)]
    (folder / "here.jsonl").write_text("\n".join(rows))
    (folder / "s.yaml").write_text(SUITE)
    return folder


def replace(folder: Path, *pairs: tuple[str, str]) -> None:
    text = (folder / "s.yaml").read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (folder / "s.yaml").write_text(text)


def test_every_claim_and_check_is_skipped_with_what_is_missing_and_where_to_get_it(
    pytester: pytest.Pytester, folder: Path
) -> None:
    result = pytester.runpytest("-rs", "--maxrandom-json=r.json")
    result.assert_outcomes(skipped=8)
    result.stdout.fnmatch_lines_random(
        [
            "*get the weights (there is no folder ./weights*",
            "*get the data (there is no gone.jsonl); get the weights (there is no folder*",
        ]
    )
    report = json.loads((pytester.path / "r.json").read_text())
    assert len(report["claims"]) == 6
    for claim in report["claims"]:
        assert "get the" in claim["message"]


def test_what_is_here_is_run(pytester: pytest.Pytester, folder: Path) -> None:
    replace(
        folder,
        (SUITE[SUITE.index("arms:") : SUITE.index("allow")], "prompts: {shots: 0, count: 1}\n"),
        ("[{name: ./weights, quantization: none, if_missing: get the weights}]", f"[{MOCK}]"),
    )
    outcomes = pytester.runpytest().parseoutcomes()
    assert outcomes["skipped"] == 1
    assert outcomes.get("passed", 0) + outcomes.get("failed", 0) == 1


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


@pytest.mark.usefixtures("no_network")
def test_a_model_that_the_hubs_cache_lacks_is_missing_and_the_hub_is_not_asked(
    pytester: pytest.Pytester, folder: Path
) -> None:
    replace(folder, ("./weights", "nobody/nothing-here"))
    result = pytester.runpytest("-rs")
    result.assert_outcomes(skipped=8)
    result.stdout.fnmatch_lines(["*get the weights (*cache holds no such model*"])


_OF_HUB = "format: hub, path: nobody/nothing-here, split: test, if_missing: get the data"


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    ("said", "document", "told"),
    [
        (_OF_HUB, None, "*get the data (there is no folder nobody/nothing-here, and the hub's*"),
        (
            "format: lm_eval, path: ../t.yaml, if_missing: get the data",
            "dataset_path: nobody/nothing-here",
            "*get the data (there is no folder nobody/nothing-here, and the hub's*",
        ),
        (
            "format: lm_eval, path: ../t.yaml, if_missing: get the data",
            "dataset_path: json\ndataset_kwargs: {data_files: {test: gone.jsonl}}",
            "*get the data (there is no file 'gone.jsonl' in*",
        ),
    ],
)
def test_data_that_have_a_name_are_missing_where_no_cache_holds_them(
    pytester: pytest.Pytester, folder: Path, said: str, document: str | None, told: str
) -> None:
    require("datasets")
    if document is not None:
        keys = "test_split: test\noutput_type: multiple_choice\ndoc_to_text: a\n"
        keys += "doc_to_target: b\ndoc_to_choice: c\n"
        (pytester.path / "t.yaml").write_text(f"task: t\n{document}\n{keys}")
    replace(
        folder,
        ("[{name: ./weights, quantization: none, if_missing: get the weights}]", f"[{MOCK}]"),
        (SUITE[SUITE.index("arms:") : SUITE.index("allow")], "prompts: {shots: 0, count: 1}\n"),
        ("format: jsonl, path: gone.jsonl, if_missing: get the data", said),
    )
    result = pytester.runpytest("-rs")
    outcomes = result.parseoutcomes()
    assert outcomes["skipped"] == 1  # and what is here is run
    assert outcomes.get("passed", 0) + outcomes.get("failed", 0) == 1
    result.stdout.fnmatch_lines([told])


def test_levels_are_shared_with_the_claims_that_are_skipped(
    pytester: pytest.Pytester, folder: Path
) -> None:
    replace(
        folder,
        (SUITE[SUITE.index("arms:") : SUITE.index("allow")], "prompts: {shots: 0, count: 1}\n"),
        ("[{name: ./weights, quantization: none, if_missing: get the weights}]", f"[{MOCK}]"),
        ("allow_unp", "assert: {p_max: 0.05, family: suite}\nallow_unp"),
    )
    pytester.runpytest("--maxrandom-json=r.json")
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert [claim["levels"] for claim in claims if claim["levels"]] == [{"p_max": 0.025}]

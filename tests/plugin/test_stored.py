"""Suites of files that are quantized already run whole, and every report says what they are."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import tests.stored_files as files
from pytest_maxrandom.cli import main
from tests.gguf_files import write_gguf
from tests.unit.reports.opened import claims

SUITE = """
models:
- {{name: ./{name}, device: cpu, {said}}}
{more}
tasks:
- {{name: parity, format: csv, path: parity.csv,
   columns: {{input: question, choices: [A, B], answer: answer}},
   validation: {{max_examples: 8}}}}
prompts: {{shots: 1, count: 3, instructions: [""]}}
assert: report
"""
TEXT = "bitsandbytes nf4, 4 bits"


@pytest.fixture
def stored(pytester: pytest.Pytester, tiny_llama: Path) -> Path:
    rows = "".join(f"Is {n} even?,yes,no,{'no' if n % 2 else 'yes'}\n" for n in range(12))
    (pytester.path / "parity.csv").write_text("question,A,B,answer\n" + rows)
    shutil.copytree(tiny_llama, pytester.path / "whole")
    files.save_fp8(tiny_llama, pytester.path / "fp8")
    return files.save_bitsandbytes(tiny_llama, pytester.path / "nf4", "nf4")


def _run(
    pytester: pytest.Pytester, name: str, said: str, more: str = ""
) -> tuple[pytest.RunResult, dict[str, Any]]:
    suite = SUITE.format(name=name, said=said, more=more)
    (pytester.path / "s.maxrandom.yaml").write_text(suite)
    report = pytester.path / "r.json"
    report.unlink(missing_ok=True)
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    return result, json.loads(report.read_text()) if report.is_file() else {}


def _again(pytester: pytest.Pytester, form: str) -> str:
    assert main(["report", "r.json", "--format", form, "--out", "again"]) == 0
    return " ".join((pytester.path / "again").read_text().splitlines())


def test_method_and_bits_are_in_every_report(pytester: pytest.Pytester, stored: Path) -> None:
    result, run = _run(pytester, "nf4", "quantization: stored")
    result.assert_outcomes(passed=1)
    (claim,) = run["claims"]
    assert claim["id"].endswith("::parity[nf4-stored-1shot]")
    assert claim["quantization"] == "stored"
    assert claim["engine"]["quantized"] == TEXT
    assert (claim["n"], claim["t"]) == (8, 3)
    report = (pytester.path / "r.md").read_text()
    assert f"stored ({TEXT})" in report
    assert f"the model's files are already quantized ({TEXT})" in report
    assert "unverified" not in report
    assert TEXT in _again(pytester, "markdown")
    (shown,) = claims(_again(pytester, "html"))
    assert TEXT in shown["told"]
    # The results store tells it as well.
    _, again = _run(pytester, "nf4", "quantization: stored")
    (second,) = again["claims"]
    assert (second["engine"]["reused"], second["engine"]["quantized"]) == (3, TEXT)
    assert second["correct_counts"] == claim["correct_counts"]


def test_what_was_never_verified_is_refused_or_repeated_by_every_report(
    pytester: pytest.Pytester, stored: Path
) -> None:
    result, _ = _run(pytester, "fp8", "quantization: stored")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*quantized in a format whose numbers were never verified (fp8, 8*"]
    )
    result, run = _run(pytester, "fp8", "quantization: stored, unverified: true")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["The claim rests on files*numbers were never verified*"])
    (claim,) = run["claims"]
    assert claim["engine"]["quantized"] == "fp8, 8 bits"
    said = "in a way whose numbers were never verified"
    assert any(said in note["text"] for note in claim["notes"])
    assert said in (pytester.path / "r.md").read_text()
    for form in ("markdown", "html", "latex"):
        assert said in _again(pytester, form)


def test_an_arm_may_be_files_that_are_quantized_already(
    pytester: pytest.Pytester, stored: Path
) -> None:
    arms = (
        "arms:\n  whole: {}\n  files: {model: ./nf4, quantization: stored}\n"
        "  fp8: {model: ./fp8, quantization: stored, unverified: true}\n"
        "compare: [files - whole, fp8 - whole]"
    )
    result, run = _run(pytester, "whole", "quantization: none", arms)
    result.assert_outcomes(passed=5)
    assert [claim["engine"]["quantized"] for claim in run["claims"]] == [None, TEXT, "fp8, 8 bits"]
    notes = [" ".join(note["text"] for note in claim["notes"]) for claim in run["claims"]]
    assert "quantization: stored, not none" in notes[1]
    assert ["never verified" in note for note in notes] == [False, False, True]


def test_a_file_of_gguf_runs_whole(
    pytester: pytest.Pytester, stored: Path, tiny_llama: Path
) -> None:
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("llama_cpp is not installed")
    write_gguf(tiny_llama, pytester.path / "m.gguf")
    suite = SUITE.replace(", device: cpu", "")
    said = "backend: gguf, tokenizer: ./whole"
    (pytester.path / "g.maxrandom.yaml").write_text(suite.format(name="m.gguf", said=said, more=""))
    (pytester.path / "w.maxrandom.yaml").write_text(
        suite.format(name="whole", said="quantization: none, device: cpu", more="")
    )
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(passed=2)
    served, whole = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert served["id"].endswith("::parity[m.gguf-1shot]")
    assert served["correct_counts"] == whole["correct_counts"]
    assert served["engine"]["quantized"] == "GGUF, F32"
    assert served["engine"]["tokens_forwarded"] == served["engine"]["trie_nodes"]
    report = (pytester.path / "r.md").read_text()
    assert hashlib.sha256((pytester.path / "m.gguf").read_bytes()).hexdigest() in report


def test_a_file_of_gguf_writes_what_the_same_weights_write(pytester: pytest.Pytester) -> None:
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("llama_cpp is not installed")
    demo = Path(__file__).parents[2] / "eval_suites" / "demo"
    weights = str(demo / "demo-llama")
    shutil.copytree(demo / "data", pytester.path / "data")
    write_gguf(demo / "demo-llama", pytester.path / "d.gguf")
    suite = yaml.safe_load((demo / "demo.yaml").read_text(encoding="utf-8"))
    suite |= {"tasks": suite["tasks"][:1], "scoring": "generate", "generation": {"max_tokens": 6}}
    suite["prompts"] |= {"count": 2}
    del suite["label_bias"]
    texts = []
    for model in (
        {"name": "d.gguf", "backend": "gguf", "tokenizer": weights},
        {"name": weights, "quantization": "none", "dtype": "float32"},
    ):
        written = yaml.safe_dump(suite | {"models": [model]})
        (pytester.path / "d.maxrandom.yaml").write_text(written)
        pytester.runpytest("--maxrandom-predictions=p.jsonl")
        lines = map(json.loads, (pytester.path / "p.jsonl").read_text().splitlines())
        texts.append([[one["text"] for one in line["examples"]] for line in lines])
    assert texts[0] == texts[1]
    assert len({text for line in texts[0] for text in line}) > 1

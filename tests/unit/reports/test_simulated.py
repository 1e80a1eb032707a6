"""What is simulated never has the name of a real model on top of anything."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.formats import FORMATS
from pytest_maxrandom.reports.terminal import summary
from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """
models: [{name: NAME, backend: mock}]
tasks: [{name: sums, format: csv, path: sums.csv, choices: ["1", "2"]}]
prompts: {shots: 0}
"""


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("allenai/OLMo-7B-hf", "simulated"),
        ("../models/llama", "simulated"),
        ("llama.gguf", "simulated"),
        ("mock", "mock"),
        ("careful", "careful"),
    ],
)
def test_ids_and_reports_call_it_simulated(tmp_path: Path, name: str, shown: str) -> None:
    (tmp_path / "sums.csv").write_text(
        "input,answer\n" + "".join(f"{i},{i % 2 + 1}\n" for i in range(20))
    )
    suite = tmp_path / "a.maxrandom.yaml"
    suite.write_text(SUITE.replace("NAME", name))
    [planned] = sweeps_of(plan_file(suite))
    assert planned.name == f"sums[{shown}-0shot]"
    made = planned.record(f"a.yaml::{planned.name}", "a.yaml")
    record = replace(claim(), id=made.id, model=made.model, quantization="", simulated=True)
    of_run = run(record)
    texts = {
        form: write(of_run)
        for form, write in FORMATS.items()
        if form not in ("csv", "bibtex", "hub")
    }
    texts["terminal"] = " ".join(line.text for line in summary(of_run))
    texts["comment"] = comment(of_run)
    for form, text in texts.items():
        plain = re.sub(r"\\allowbreak\{\}|<wbr>|&[a-z]+;|[`\u2060]", "", text)
        assert "simulated" in plain, form
        # Only where it is told how the results came about, and that they are made up.
        bare = re.sub(r"simulated model\s+(<code>)?" + re.escape(name), "", plain)
        assert shown == name or name not in bare, form

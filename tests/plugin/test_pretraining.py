"""A suite of the study of pretraining on unlabeled test text, with stand-ins of model and data."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests import tiny

STUDY = Path(__file__).parents[2] / "eval_suites" / "pretraining" / "study"
CLASSES = ["sport", "law", "art"]


@pytest.mark.slow
def test_a_suite_of_the_study_runs_from_start_to_finish(pytester: pytest.Pytester) -> None:
    suite = yaml.safe_load((STUDY / "bert-m50-n50.yaml").read_text())
    suite["tasks"], suite["replicates"] = suite["tasks"][:1], 2
    folder = pytester.mkdir("eval_suites") / "study"
    tiny.save_bert(folder / suite["models"][0]["name"])
    (folder / "s.yaml").write_text(yaml.safe_dump(suite))
    lots = random.Random(0)
    rows = [
        {
            "input": f"note {k} of {lots.choice(['red', 'blue'])}",
            "choices": CLASSES,
            "answer": right,
        }
        for k, right in enumerate(lots.choices(CLASSES, [6, 3, 1], k=180))
    ]
    data = (folder / suite["tasks"][0]["path"]).resolve()
    data.parent.mkdir()
    data.write_text("\n".join(map(json.dumps, rows)))

    result = pytester.runpytest("--maxrandom-json=r.json")
    result.assert_outcomes(passed=3 + 3 + 1)  # claims, their replicates, the check
    report = json.loads((pytester.path / "r.json").read_text())
    runs = {
        each["id"].partition("[")[2].partition("-")[0]: [run["training"] for run in each["runs"]]
        for each in report["replicates"]
    }
    rates = Counter(row["answer"] for row in rows)
    for arm, text in (("base", None), ("extra", "extra"), ("test", "scored")):
        for training in runs[arm]:
            assert training["text"] == text
            assert training["texts"] == (50 if text else 0)
            assert sum(training["labelled"].values()) == 50
            for name, many in training["labelled"].items():  # stratified
                assert abs(many - 50 * rates[name] / len(rows)) < 3
            read = {"scored": 50 if text == "scored" else 0, "labelled": 0}
            assert training["shared"] == (read if text else {})
            if text:
                assert training["settings"]["objective"] == "masked"
                assert training["settings"]["method"] == "full"
                assert training["settings"]["epochs"] == 1
        first, second = runs[arm]
        assert first["text_digest"] != second["text_digest"]
        assert first["seed"] != second["seed"]
    (check,) = report["contamination"]
    assert check["finding"] in ("cannot tell", "no sign of it", "tuned on the text")

"""Attacks on the runner's memory and time, and by what configurations let it read."""

from __future__ import annotations

import io
import zipfile

import pytest

from tests.integration.attacks.attack import (
    HOLDS,
    SUITE,
    UNREADABLE,
    WEAK_DESELECTED,
    YAML,
    Attack,
)

ARCHIVE = {YAML: ("path: ../results.csv, format: table", "path: ../results.npz, format: npz")}


def archive(shape: str, content: bytes) -> bytes:
    """Return an archive of one array, whose header says a shape."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape},)}}".ljust(117) + "\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("strong__0__correct.npy", array)
    return file.getvalue()


def task(text: str) -> dict[str, str]:
    """Return a suite with a task of lm-evaluation-harness, whose texts are made so."""
    return {
        "eval_suites/other.maxrandom.yaml": "models: [{name: x, backend: mock}]\n"
        "tasks: [{name: t, format: lm_eval, path: ../task.yaml, trust_remote_code: true}]\n",
        "task.yaml": "task: t\ndataset_path: json\ntest_split: test\n"
        "dataset_kwargs: {data_files: {test: rows.jsonl}}\noutput_type: multiple_choice\n"
        f"doc_to_text: {text}\ndoc_to_choice: ['a', 'b']\ndoc_to_target: 0\n",
        "rows.jsonl": '{"q": "which?"}\n' * 9,
        "ours.py": "import os\n\ndef text(doc):\n    os._exit(0)\n",
    }


UNPACKED = (
    "1 suite could not be read; 2 claims were weakened; no claim was tested",
    "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: the results are read otherwise",
    "- ⚠️ the full report says what",
)
UNREAD_TASK = (
    "1 suite could not be read; interrupted; 2 of 2 claims were not run",
    "- ⚠️ the full report says what",
    "**⚠️ The run was interrupted: 2 tests have no result.**",
)
LITTLE = {"MAXRANDOM_LIMITS": "data_mb=1"}
DATA = [
    Attack(
        "an archive that unpacks to much",
        "red",
        UNPACKED,
        packed={"results.npz": archive("3000000", bytes(3_000_000))},
        sed=ARCHIVE,
        environment=LITTLE,
    ),
    Attack(
        "a header that claims what no file holds",
        "red",
        UNPACKED,
        packed={"results.npz": archive("1000000000000", b"1")},
        sed=ARCHIVE,
    ),
    Attack(
        "a template that fills the memory",
        "red",
        UNREAD_TASK,
        files=task("\"{{ 'a' * 10 ** 12 }}\""),
    ),
    Attack(
        "a template that leaves the sandbox",
        "red",
        UNREAD_TASK,
        files=task('"{{ q.__class__.__mro__ }}"'),
    ),
    Attack(
        "a task with a function of its own", "red", UNREAD_TASK, files=task("!function ours.text")
    ),
    Attack(
        "a suite that allows itself more",
        "red",
        UNREADABLE,
        files=HOLDS,
        sed={YAML: ("models:", "limits: {data_mb: 5000}\nmodels:")},
    ),
    Attack(
        "thousands of mistakes",
        "red",
        UNREADABLE,
        files={YAML: SUITE + "".join(f"  - {{name: t{n}, no: {n}}}\n" for n in range(2000))},
    ),
    Attack("a suite of nothing but brackets", "red", UNREADABLE, files={YAML: "[" * 100_000}),
    Attack(
        "answers of shards in a configuration",
        "red",
        (
            "The gate failed: a configuration of pytest has --maxrandom-shards=parts",
            "3 of 3 claims pass on p_max only",
        ),
        files={
            **HOLDS,
            "pytest.ini": "[pytest]\naddopts = --maxrandom-shards=parts\n",
            "parts/shards.json": "{}",
        },
    ),
    Attack(
        "a suite that cannot be read, which nothing ends",
        "red",
        ("1 suite could not be read; 3 of 3 claims pass", "- ⚠️ the full report says what"),
        base={"eval_suites/other.yaml": SUITE},
        files={
            **HOLDS,
            YAML: "models: [\n",
            "pytest.ini": "[pytest]\naddopts = --continue-on-collection-errors\n",
        },
    ),
    Attack(
        "a suite that pytest ignores",
        "red",
        (
            "The gate failed: strong[m-0shot], weak[m-0shot] are deselected",
            "2 claims are deselected; 1 of 1 claim passes on p_max only.",
            "- 🙈 `strong[m-0shot]`, `weak[m-0shot]` **are deselected**",
        ),
        files={"pytest.ini": "[pytest]\naddopts = --ignore=eval_suites/claims.yaml\n"},
    ),
    Attack(
        "the workflow's environment selects",
        "green",
        ("2 of 2 claims pass on p_max only",),
        environment={"PYTEST_ADDOPTS": "-k 'not weak'"},
    ),
]
if pytest.version_tuple >= (9,):  # which read these files
    DATA += [
        Attack(
            "-k in pytest.toml, beside pytest.ini",
            "red",
            WEAK_DESELECTED,
            files={"pytest.toml": "[pytest]\naddopts = ['-k', 'not weak']\n"},
        ),
        Attack(
            "-k in pyproject.toml, as pytest 9 reads it",
            "red",
            WEAK_DESELECTED,
            files={"pyproject.toml": "[tool.pytest]\naddopts = ['-k', 'not weak']\n"},
            gone=("pytest.ini",),
        ),
    ]

"""Suites that are right, for tests that change them."""

from __future__ import annotations

from typing import Any

MINIMAL = """\
models: [{name: m}]
tasks: [{name: t, format: csv, path: x.csv}]
"""

FULL: dict[str, Any] = {
    "assert": {"p_max": 0.01, "beats": "max_random", "red_flags": "warn"},
    "xfail": "guesses",
    "marks": ["slow"],
    "models": [
        {
            "name": "allenai/OLMo-7B",
            "backend": "transformers",
            "label": "olmo",
            "revision": "main",
            "quantization": "nf4",
            "dtype": "auto",
            "device": "cuda:1",
            "trust_remote_code": True,
        },
        {"name": "a/b", "quantization": "none"},
    ],
    "tasks": [
        {
            "name": "movies",
            "format": "jsonl",
            "path": "movies.jsonl",
            "validation": {"max_examples": 100, "seed": 3},
            "columns": {"input": "q", "choices": ["a", "b"], "answer": "right", "id": "key"},
            "answer_is": "letter",
            "task_prefix": "",
            "input_prefix": "\nQ: ",
            "output_prefix": "\nA: ",
            "choice_prefix": "\n- ",
            "separator": "\n\n",
            "append_choices": False,
            "assert": {"beats": "standard", "red_flags": {"majority": "fail"}},
            "xfail": None,
            "marks": ["movies"],
        },
        {"name": "hub", "format": "hub", "path": "o/d", "subset": "s", "split": "v"},
        {"name": "rows", "format": "csv", "path": "x.csv", "choices": ["yes", "no"]},
    ],
    "prompts": {
        "shots": [0, 1, 4],
        "count": 50,
        "seed": 7,
        "demonstrations": "leave_out",
        "instructions": ["", "Answer."],
        "formats": [{}, {"labels": "letter", "separator": "\n"}],
        "combine": "cross",
    },
    "scoring": "sum_logprob",
}

SHORT: dict[str, Any] = {
    "assert": {"p_max": 0.01},
    "models": [{"name": "a/b", "quantization": "none"}],
    "tasks": [{"name": "t", "format": "csv", "path": "x", "columns": {"choices": ["a", "b"]}}],
    "prompts": {"shots": [0, 1], "count": 9, "formats": [{}, {"labels": "letter"}]},
}

RECORDED = """\
assert: report
marks: [paper]
models:
- name: allenai/OLMo-7B
  backend: recorded
  results: {path: "${DATA:-data}/olmo.npz", format: npz, model: olmo}
  quantization: none
  if_missing: copy the results to data
- name: b
  label: small
  backend: recorded
  results: {path: b.csv, format: table, columns: {prompt: p, example: e}, ragged: true}
tasks:
- name: movies
  in_results: emoji_movie
  chance: 1/5
  n: {1: 99, 4: 96}
  t: 200
  published: {n: {1: 99, 4: 96}, t: {1: 100, 4: 200}, chance: 0.2}
- {name: mixed, chance: {2: 60, 5: 40}, assert: {p_max: 0.05}}
prompts: {shots: [1, 4]}
judge: counted
"""

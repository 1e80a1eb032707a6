"""Writes logs as lm-evaluation-harness 0.4.13 does."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Document:
    """What a run did with one document."""

    arguments: list[str]
    likelihoods: list[float]
    target: str
    acc: float | None = None
    acc_norm: float | None = None
    acc_mutual_info: float | None = None
    context: str = "Q:"
    contexts: list[str] | None = None
    by_filter: dict[str, float] = field(default_factory=dict)
    f1: float | None = None
    said: str = "Paris"

    @classmethod
    def written(cls, target: str, **exact_match: float) -> Document:
        return cls([], [], target, by_filter=exact_match)

    def line(self, number: int, name: str, *, old: bool) -> dict[str, Any]:
        """Return the document's line for a filter."""
        contexts = self.contexts or [self.context] * len(self.arguments)
        pairs: list[tuple[str, Any]] = list(zip(contexts, self.arguments, strict=True))
        responses: list[Any] = [[str(value), "False"] for value in self.likelihoods]
        if not pairs:
            pairs, responses = [(self.context, {"until": ["\n"]})], [self.said]
        if old:
            responses = [[value, False] for value in self.likelihoods]
        metrics = {
            name: value
            for name in ("acc", "acc_norm", "acc_mutual_info", "f1")
            if (value := getattr(self, name)) is not None
        } or {"exact_match": self.by_filter[name]}
        content = {"text": f"Document {number}"}
        line = {
            "doc_id": number,
            "doc": content,
            "target": self.target,
            "arguments": [list(pair) for pair in pairs]
            if old
            else {
                f"gen_args_{place}": {"arg_0": context, "arg_1": answer}
                for place, (context, answer) in enumerate(pairs)
            },
            "resps": [[response] for response in responses],
            "filtered_resps": responses,
        }
        if not old:
            line |= {
                "filter": name,
                "metrics": list(metrics),
                "doc_hash": digest(json.dumps(content)),
                "prompt_hash": digest(pairs[0][0]),
                "target_hash": digest(self.target),
            }
        return line | metrics


@dataclass
class Run:
    """One run on one task."""

    documents: list[Document]
    time: str = "2026-01-01T12-30-00.123456"
    task: str = "weather"
    shots: int = 2
    model_args: Any = "pretrained=org/small,dtype=float32"
    task_hash: str | None = "same"
    filters: tuple[str, ...] = ("none",)
    original: int | None = None
    chat_template: str | None = None
    setup: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    old: bool = False

    def results(self) -> dict[str, Any]:
        """Return what the results file holds."""
        size = len(self.documents)
        lines = [(name, self.lines(name)) for name in self.filters]
        means: dict[str, Any] = {
            f"{metric},{name}": sum(line[metric] for line in found) / size
            for name, found in lines
            for metric in ("acc", "acc_norm", "acc_mutual_info", "exact_match", "f1")
            if all(metric in line for line in found)
        }
        stderrs = {key.replace(",", "_stderr,"): "N/A" for key in means}
        results: dict[str, Any] = {
            "results": {self.task: {"alias": self.task} | means | stderrs},
            "group_subtasks": {},
            "configs": {self.task: {"task": self.task, "target_delimiter": " ", **self.setup}},
            "versions": {self.task: 1.0},
            "n-shot": {self.task: self.shots},
            "n-samples": {self.task: {"original": self.original or size, "effective": size}},
            "config": {"model": "hf", "model_args": self.model_args, "limit": None},
            "chat_template": self.chat_template,
        }
        if self.task_hash is not None:
            results["task_hashes"] = {self.task: self.task_hash}
        if self.old:
            del results["n-samples"]
        return results

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of a filter."""
        return [each.line(n, name, old=self.old) for n, each in enumerate(self.documents)]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_run(root: Path, run: Run) -> Path:
    """Write both files of a run, and return the one with the samples."""
    folder = root if run.output else root / "org__small"
    folder.mkdir(exist_ok=True)
    stem = run.output.removesuffix(".json") or "results"
    (folder / f"{stem}_{run.time}.json").write_text(json.dumps(run.results(), indent=2))
    samples = folder / f"samples_{run.task}_{run.time}.jsonl"
    lines = [line for name in run.filters for line in run.lines(name)]
    samples.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return samples

"""Writes logs as Inspect does."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Log:
    """One run: answers are letters, or "" where the model wrote something else."""

    answers: str = "BA B"
    targets: str | list[Any] = "BBBB"
    task_args: dict[str, Any] = field(default_factory=lambda: {"num_fewshot": 2})
    system: str = "Two examples follow."
    created: str = "2026-01-01T12:00:00+00:00"
    epochs: int = 1
    choices: tuple[str, ...] | None = ("red", "green", "blue")
    scorers: tuple[str, ...] = ("choice",)
    changes: dict[str, Any] = field(default_factory=dict)

    def sample(self, place: int, epoch: int) -> dict[str, Any]:
        """Return a sample."""
        answer, target = self.answers[place].strip(), self.targets[place]
        value = "C" if answer and answer in target else "I"
        return {
            "id": f"q{place}",
            "epoch": epoch,
            "input": f"Question {place}",
            "choices": None if self.choices is None else list(self.choices),
            "target": target,
            "messages": [
                {"id": f"{self.created}s{place}", "role": "system", "content": self.system},
                {"id": f"{self.created}u{place}", "role": "user", "content": f"Question {place}"},
                {"role": "assistant", "content": f"ANSWER: {answer}", "source": "generate"},
            ],
            "scores": {name: {"value": value, "answer": answer} for name in self.scorers},
        }

    def content(self) -> dict[str, Any]:
        """Return the whole log."""
        size = len(self.answers)
        samples = [self.sample(n, 1 + epoch) for epoch in range(self.epochs) for n in range(size)]
        right = sum(sample["scores"][self.scorers[0]]["value"] == "C" for sample in samples)
        metrics = {"accuracy": {"name": "accuracy", "value": right / len(samples)}}
        log = {
            "version": 2,
            "status": "success",
            "eval": {
                "created": self.created,
                "task": "colours",
                "task_id": f"id-{self.created}",
                "task_args": self.task_args,
                "model": "openai/small",
                "model_args": {},
                "model_generate_config": {"temperature": 0.0, "max_connections": 4},
                "dataset": {"samples": size, "sample_ids": [f"q{n}" for n in range(size)]},
                "config": {"epochs": self.epochs, "limit": None},
            },
            "plan": {"config": {}},
            "results": {
                "total_samples": len(samples),
                "completed_samples": len(samples),
                "scores": [
                    {"name": name, "scorer": name, "metrics": metrics} for name in self.scorers
                ],
            },
            "samples": samples,
        }
        return log | self.changes


def write_json(path: Path, log: Log) -> Path:
    path.write_text(json.dumps(log.content()))
    return path


def write_archive(path: Path, log: Log, *, finished: bool = True) -> Path:
    """Write an ``.eval`` log, compressed as by versions before 2025."""
    content = log.content()
    samples = content.pop("samples")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": content["eval"]}))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
        if finished:
            archive.writestr("header.json", json.dumps(content))
    return path

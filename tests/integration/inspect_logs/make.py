"""Make the logs in this folder again, with Inspect itself and its mock model.

Run it in an environment with inspect-ai (0.3.285 was used): python make.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import Task, eval, task  # noqa: A004 (its name)
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice, includes
from inspect_ai.solver import multiple_choice, system_message

QUESTIONS = [
    Sample(f"What is {n} + 2?", [str(n + 1), str(n + 2), str(n + 3)], target="B", id=n)
    for n in range(1, 5)
]


@task  # type: ignore[untyped-decorator]  # Inspect is not installed where types are checked
def addition(fewshot: int = 2, fewshot_seed: int = 1, judged_twice: bool = False) -> Task:
    return Task(
        dataset=MemoryDataset(QUESTIONS, name="addition"),
        solver=[system_message(f"1 + {fewshot_seed} is more than 1."), multiple_choice()],
        scorer=[choice(), includes()] if judged_twice else choice(),
    )


def run(folder: str, kind: str, answers: str, arguments: dict[str, Any], **settings: Any) -> None:
    """Evaluate once; "-" is an answer that cannot be read."""
    rest = iter(answers)

    def answer(*_: object) -> ModelOutput:
        letter = next(rest)
        text = "I do not know." if letter == "-" else f"ANSWER: {letter}"
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    eval(
        addition(**arguments),
        model=get_model("mockllm/model", custom_outputs=answer, memoize=False),
        log_dir=str(Path(__file__).parent / folder),
        log_format=kind,
        max_samples=1,
        display="none",
        log_model_api=False,
        **settings,
    )


if __name__ == "__main__":
    run("sweep", "json", "BA-B", {"fewshot_seed": 1})
    run("sweep", "eval", "BACB", {"fewshot_seed": 2})
    run("sweep", "eval", "BA-B", {"fewshot_seed": 1})
    run("epochs", "eval", "BBBAABBA", {}, epochs=2)
    run("limit", "eval", "BA", {}, limit=2)
    run("scorers", "eval", "BBAA", {"judged_twice": True})

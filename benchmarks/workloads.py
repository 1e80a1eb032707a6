"""What the sweep benchmark scores: tasks, prompts, and random models with a real tokenizer."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    BitsAndBytesConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.suite.base import FormatSpec
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.tasks import BigBenchSpec, JsonlSpec, ValidationSpec
from pytest_maxrandom.sweeps.prompts.formats import Format
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts, validation_set
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Task

FILES = ("snarks", "date_understanding", "causal_judgement")
SENTENCES = "snarks, its statements as choices"
_STATEMENTS = re.compile(r"(?P<question>[^(]*)\(a\)(?P<a>.*)\(b\)(?P<b>.*)", re.DOTALL)

AS_IN_THE_FILE = FormatSpec()

Precision = Literal["float32", "NF4"]


@dataclass(frozen=True)
class Workload:
    """A sweep, and the figures to reach in it.

    Attributes
    ----------
    task : str
        Key of :func:`load_tasks`.
    paper, harness : float or None
        How many times faster than the paper's loop and than lm-evaluation-harness.
    """

    title: str
    task: str
    shots: int
    paper: float | None
    harness: float
    form: FormatSpec = AS_IN_THE_FILE
    precision: Precision = "float32"


WORKLOADS = (
    Workload("snarks", "snarks", 2, 8, 7),
    Workload(
        "date_understanding, 5 choices listed as (A) ... (E)",
        "date_understanding",
        2,
        14,
        7,
        FormatSpec(labels="parenthesized"),
    ),
    Workload(SENTENCES, SENTENCES, 4, 10, 7),
    Workload("causal_judgement, answers of one token", "causal_judgement", 2, None, 3.5),
    Workload("snarks", "snarks", 2, 7, 7, precision="NF4"),
)


def load_tasks(folder: Path, made: Path) -> dict[str, Task]:
    """Load the tasks from BIG-bench's files; what is derived from them is written to `made`."""
    if missing := [name for name in FILES if not (folder / f"{name}.json").is_file()]:
        raise SystemExit(
            f"{folder} lacks {', '.join(f'{name}.json' for name in missing)}; name the folder "
            "with BIG-bench's task files with --tasks, or its parent with MAXRANDOM_DATA"
        )
    tasks = {
        name: load_task(BigBenchSpec(name=name, format="bigbench", path=f"{name}.json"), folder)
        for name in FILES
    }
    dates = tasks["date_understanding"]
    five = tuple(example for example in dates.examples if len(example.choices) == 5)
    tasks["date_understanding"] = dataclasses.replace(dates, examples=five)
    lines = []
    for example in tasks["snarks"].examples:
        parts = _STATEMENTS.fullmatch(example.input)
        if parts is None:
            raise SystemExit(f"snarks: expected (a) and (b), found {example.input!r}")
        choices = [parts["a"].strip(), parts["b"].strip()]
        if choices[0] == choices[1]:  # one of the published examples
            continue
        right = choices[example.choices[example.right[0]] == "(b)"]
        row = {"input": parts["question"].strip(), "choices": choices, "answer": right}
        lines.append(json.dumps(row))
    (made / "statements.jsonl").write_text("\n".join(lines))
    spec = JsonlSpec(name=SENTENCES, format="jsonl", path="statements.jsonl")
    tasks[SENTENCES] = load_task(spec, made)
    return tasks


def questions(task: Task, shots: int, form: FormatSpec, t: int, n: int) -> list[list[Question]]:
    """Return, for each of at most t prompts, its n questions."""
    validation = validation_set(task, ValidationSpec(max_examples=n))
    spec = PromptsSpec(shots=[shots], count=t, formats=[form])
    drawn = draw_prompts(task, validation, spec, shots)
    return [
        [
            Question(prompt.context(example), prompt.format.answers(example))
            for example in drawn.scored(prompt)
        ]
        for prompt in drawn.prompts
    ]


def train_tokenizer(tasks: Iterable[Task]) -> PreTrainedTokenizerFast:
    """Train byte-level BPE, as GPT-2's, on the tasks' texts."""
    texts = [
        Format(task.layout).demonstration(example) for task in tasks for example in task.examples
    ]
    return bpe(texts)


def bpe(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Train byte-level BPE, as GPT-2's."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=8000,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")


def save_model(folder: Path, tokenizer: PreTrainedTokenizerFast, *, small: bool) -> int:
    """Save a random Llama of about 30 (small: 3) million parameters and return their number.

    The weights are drawn wide enough that predictions, and so answers, differ.
    """
    torch.manual_seed(0)
    size = (
        {"hidden_size": 192, "intermediate_size": 512, "num_hidden_layers": 2}
        if small
        else {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 8}
    )
    config = LlamaConfig(
        **size,
        initializer_range=1.4 / math.sqrt(size["hidden_size"]),
        vocab_size=8192,
        num_attention_heads=8,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    return int(model.num_parameters())


def load_model(folder: Path, precision: Precision, device: str) -> Any:
    """Load the model; NF4 computes in bfloat16 on a GPU.

    On a CPU it computes in float32: few CPUs have instructions for bfloat16, and without them all
    that is measured is their emulation.
    """
    arguments: dict[str, Any] = {"dtype": torch.float32}
    if precision == "NF4":
        dtype = torch.float32 if device == "cpu" else torch.bfloat16
        quantization = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=dtype,
        )
        arguments = {"dtype": dtype, "quantization_config": quantization}
    model = LlamaForCausalLM.from_pretrained(folder, device_map={"": device}, **arguments)
    return model.eval()


def trie_nodes(sequences: Iterable[Sequence[int]]) -> int:
    """Count the distinct nodes of the trie of `sequences`, each without its last token."""
    root: dict[int, Any] = {}
    nodes = 0
    for sequence in sequences:
        branch = root
        for token in sequence[:-1]:
            if token not in branch:
                branch[token] = {}
                nodes += 1
            branch = branch[token]
    return nodes

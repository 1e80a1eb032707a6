"""A tiny world in which texts without answers help, and a language model that knows nothing of it.

Each animal makes one sound. A question names somebody, says what the animal does, and asks: whoever
reads questions learns that. But a fifth of the right answers are another sound, which only the
answers themselves tell.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ANIMALS = ["lion", "dog", "cat", "cow", "owl", "bee", "frog", "wolf", "duck", "goat"]
SOUNDS = ["roars", "barks", "purrs", "moos", "hoots", "hums", "croaks", "howls", "quacks", "bleats"]
NAMES = [a + b for a in ("ada", "bo", "cyr", "dee", "eli", "fay") for b in ("", "na", "ro", "ti")]
NOISE = 0.2
N = 80
PROMPTS = "prompts: {shots: 0, count: 1}\nscoring: sum_logprob\n"


def examples(seed: int, *, told: bool = True, count: int = 200) -> list[dict[str, Any]]:
    """Return questions, which say what the animal does if `told`; else nothing helps."""
    lots = random.Random(seed)
    whose = [(one, two) for one in NAMES for two in NAMES]
    rows = []
    for number, (one, two) in enumerate(lots.sample(whose, count)):
        place = lots.randrange(len(ANIMALS))
        animal, right = ANIMALS[place], SOUNDS[place]
        other = lots.choice([sound for sound in SOUNDS if sound != right])
        says = f"the {animal} {right} ; " if told else ""
        choices = lots.sample([right, other], 2)
        answer = other if lots.random() < NOISE else right
        if not told:
            answer = lots.choice(choices)
        text = f"{one} {two} : {says}the {animal}"
        rows.append({"id": str(number), "input": text, "choices": choices, "answer": answer})
    return rows


def save_model(folder: Path, seed: int = 0) -> Path:
    """Save a random Llama whose tokens are the words of that world."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from tests.tiny import save_llama

    words = ["<pad>", "<end>", "<unk>", ":", ";", "the", *ANIMALS, *SOUNDS, *NAMES]
    tokenizer = Tokenizer(models.WordLevel({word: k for k, word in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<end>", eos_token="<end>", unk_token="<unk>",
        pad_token="<pad>",
    )  # fmt: skip
    return save_llama(folder, wrapped, positions=64, spread=0.05, seed=seed)


def suite(arms: str, rest: str = "", seed: int = 0, asked: str = PROMPTS) -> str:
    """Write a suite with three arms of that model on that task, asked by prompts or by a head."""
    return f"""\
models: [{{name: model, quantization: none, dtype: float32, device: cpu}}]
tasks:
  - name: sounds
    format: jsonl
    path: sounds.jsonl
    input_prefix: ""
    output_prefix: " "
    append_choices: false
    validation: {{max_examples: {N}, seed: {seed}}}
{asked}assert: report
arms:
  base: {{}}
{arms}
contamination: {{base: base, extra: extra, test: test, allow_inconclusive: true}}
{rest}"""


def loud(seed: int) -> list[dict[str, Any]]:
    """Return questions whether an animal is loud or soft, with the same choices in each of them."""
    rows = examples(seed)
    for row in rows:
        is_loud = row["input"].split()[-1] in ANIMALS[:5]
        row |= {"choices": ["loud", "soft"], "answer": "loud" if is_loud else "soft"}
    return rows


def write(folder: Path, seed: int, rows: list[dict[str, Any]]) -> None:
    """Write the model and a task into a folder."""
    save_model(folder / "model", seed)
    (folder / "sounds.jsonl").write_text("\n".join(map(json.dumps, rows)))


def answered(rows: list[dict[str, Any]]) -> str:
    """Write questions with their right answers, as a file of texts."""
    return "\n".join(f"{row['input']} {row['answer']}" for row in rows)


SETTINGS = "epochs: 40, learning_rate: 0.005, batch_size: 20"
IN_PART = "epochs: 3, learning_rate: 0.003, batch_size: 20"  # enough to learn some of the sounds

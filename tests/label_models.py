"""Two small models with opposite reasons for their answers: one knows, one prefers a label."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.sweeps.prompts.formats import shown_order
from pytest_maxrandom.tasks.task import Example
from tests.tiny import byte_level_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LETTERS = "ABCD"
RIGHT, WRONG = "yes", ("No", "no", "False", "True")
INSTRUCTIONS = [f"Test {number}.\n" for number in range(10)]
"""As many prompts without demonstrations."""

_BATCH = 32
_GOOD, _LOSS = 5, 0.1
"""Training ends when this many batches in a row have at most this loss, in nats per example."""
_UNSCORED = -100


def question(asked: str, choices: Sequence[str]) -> str:
    """What the models are asked; the choice with the word RIGHT is right."""
    rows = "".join(f"\n{letter}. {text}" for letter, text in zip(LETTERS, choices, strict=True))
    return f"Q: {asked}{rows}\nA: "


def rows(places: Sequence[int]) -> list[dict[str, Any]]:
    """Examples whose right answers are listed at these places, as lines of a JSONL task."""
    found = []
    for number, place in enumerate(places):
        name = f"q{number}"
        order = shown_order(Example(name, "", ("",) * len(LETTERS), (0,)))
        # Another one is missing each time, so that labels are places and no shared texts.
        wrong = [text for other, text in enumerate(WRONG) if other != number % len(WRONG)]
        words = [RIGHT if index == order[place] else wrong.pop() for index in range(len(LETTERS))]
        found.append(
            {
                "id": name,
                "input": f"{number:03}",
                "choices": [own(word, number) for word in words],
                "answer": own(RIGHT, number),
            }
        )
    return found


def own(word: str, number: int) -> str:
    """Make a choice of an example's own of a word: a text that recurs could be preferred."""
    return f"{word} {number:02x}"


def save_preferring(folder: Path, letter: str = "A") -> Path:
    """Save a model that gives every token the same chance after any text, but for one letter.

    All its embeddings are equal, so that nothing it computes depends on the text.
    """
    import torch

    model, tokenizer = _untrained()
    favourite = tokenizer(f"A: {letter}").input_ids[-1]
    with torch.no_grad():
        model.model.embed_tokens.weight[:] = 1.0
        hidden = model.model(torch.tensor([[0]])).last_hidden_state[0, 0]
        model.lm_head.weight[:] = 0.0
        model.lm_head.weight[favourite] = hidden / (hidden @ hidden)
    return _saved(model, tokenizer, folder)


def save_knowing(folder: Path, wrong: Sequence[str] = WRONG) -> Path:
    """Save a model that was trained, for some seconds, to find the right choice among wrong ones.

    It says its letter, and of a letter whether it is the best or the worst.
    """
    import torch

    model, tokenizer = _untrained()
    lots = random.Random(0)
    # Restored afterwards: other tests run in this process.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    good = 0
    while good < _GOOD:
        lessons = [_lesson(lots, wrong, stated=number % 2 == 1) for number in range(_BATCH)]
        whole = [tokenizer(before + after).input_ids for before, after in lessons]
        # A space at the end is a token of its own, or a part of what follows.
        known = [len(tokenizer(before.rstrip()).input_ids) for before, _ in lessons]
        length = max(map(len, whole))
        ids = torch.tensor([row + [0] * (length - len(row)) for row in whole])
        labels = torch.full_like(ids, _UNSCORED)
        for place, (row, start) in enumerate(zip(whole, known, strict=True)):
            labels[place, start : len(row)] = ids[place, start : len(row)]
        logits = model(ids).logits[:, :-1].transpose(1, 2)
        loss = torch.nn.functional.cross_entropy(
            logits, labels[:, 1:], ignore_index=_UNSCORED, reduction="sum"
        )
        optimizer.zero_grad()
        torch.autograd.backward(loss / _BATCH)
        optimizer.step()
        good = good + 1 if loss.item() / _BATCH < _LOSS else 0
    torch.set_num_threads(threads)
    return _saved(model, tokenizer, folder)


def _lesson(lots: random.Random, wrong: Sequence[str], *, stated: bool) -> tuple[str, str]:
    words = lots.sample([RIGHT, *lots.sample(wrong, len(LETTERS) - 1)], len(LETTERS))
    place, number = words.index(RIGHT), lots.randrange(256)
    choices = [own(word, number) for word in words]
    # Some are asked nothing, because the choices tell all.
    asked = lots.choice(["", f"{number:03}", f"{number:03}"])
    text = lots.choice(INSTRUCTIONS) + question(asked, choices)
    if not stated:
        return text, LETTERS[place]
    others = [at for at in range(len(LETTERS)) if at != place]
    said = lots.choice([place, lots.choice(others)])
    return f"{text}{LETTERS[said]} is the", " best" if said == place else " worst"


def _untrained() -> tuple[Any, Any]:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_level_tokenizer()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config), tokenizer


def _saved(model: Any, tokenizer: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

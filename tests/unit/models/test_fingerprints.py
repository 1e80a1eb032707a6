"""Fixed texts tell other weights from noise, for a model that was trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.models.served.dialects import Dialect, LlamaCpp
from pytest_maxrandom.models.served.handshake import FIXED, Checked, Serving

if TYPE_CHECKING:
    from typing import Any

    from pytest_maxrandom.record import Fingerprint

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

DEMO = Path(__file__).parents[3] / "eval_suites/demo/demo-llama"
SAID = Serving("vLLM", "1", "demo")


def _model(dtype: str = "float32") -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(DEMO, dtype=getattr(torch, dtype))


def _fingerprint(model: Any, kind: type[Dialect]) -> Fingerprint:
    """Return what a server with this model would be known by."""
    tokens = transformers.AutoTokenizer.from_pretrained(DEMO)
    values = []
    for question in FIXED:
        start = len(tokens(question.context)["input_ids"])
        for answer in question.answers:
            ids = torch.tensor([tokens(question.context + answer)["input_ids"]])
            with torch.no_grad():
                told = model(ids).logits[0].double().log_softmax(-1)
            steps = range(start, ids.shape[1])
            values.append(sum(float(told[at - 1, ids[0, at]]) for at in steps))
    return Checked(0, 0.0, None, tuple(values)).fingerprint(SAID, "", kind.tolerance)


def _rounded(model: Any, bits: int) -> Any:
    """Round each row of the matrices to integers of so many bits."""
    for weights in model.parameters():
        if weights.dim() == 2:
            scale = weights.data.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
            weights.data = (weights.data / scale).round() * scale
    return model


@pytest.mark.parametrize("kind", [Dialect, LlamaCpp])
def test_precision_is_noise_and_one_training_step_is_not(kind: type[Dialect]) -> None:
    before = _fingerprint(_model(), kind)
    assert not before.change(replace(before, when="later"))
    assert not before.change(_fingerprint(_model("bfloat16"), kind))
    assert before.change(_fingerprint(_rounded(_model(), 4), kind))

    tuned = _model().train()
    ids = torch.tensor([[*range(20, 60)]])
    steps = torch.optim.AdamW(tuned.parameters(), lr=1e-5)
    tuned(ids, labels=ids).loss.backward()
    steps.step()
    assert before.change(_fingerprint(tuned.eval(), kind))

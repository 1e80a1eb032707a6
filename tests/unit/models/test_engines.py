"""Every engine gives the plain way's log-likelihoods; what cannot is refused by name."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import torch

import tests.tiny as tiny
from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.hf.engines import choice
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.requests import Request
from tests.targets import some
from tests.unit.models.architectures import ARCHITECTURES, CHOSEN

if TYPE_CHECKING:
    from pathlib import Path

VOCABULARY = 120
ALIBI = "it counts ALiBi distances along the row, not along a branch of a tree"
LOCAL = "its local attention counts positions along the row, not along a branch of a tree"
STATE = "its layers carry a state from token to token instead of keys and values"
EXPECTED = {
    **dict.fromkeys(tiny.ARCHITECTURES, ("packed", None)),
    **dict.fromkeys(("bloom", "falcon-alibi", "mpt"), ("rows", ALIBI)),
    "gpt-neo": ("rows", LOCAL),
    **dict.fromkeys(("mamba", "qwen-3-next"), ("plain", STATE)),
}


def _task(prefix: int = 31, examples: int = 14, answers: int = 3) -> list[Request]:
    """Return a prompt's requests: a prefix, examples longer than any window, unequal answers."""
    rng = random.Random(2)

    def draw(least: int, most: int) -> list[int]:
        return [rng.randrange(VOCABULARY) for _ in range(rng.randint(least, most))]

    head = draw(prefix, prefix)
    found = []
    for _ in range(examples):
        context = [*head, *draw(8, 25)]
        found += [Request((*context, *draw(1, 7)), len(context)) for _ in range(answers)]
    # One whose span begins early, and one that is another's beginning.
    return [*found, Request(found[0].ids, prefix), Request(found[4].ids[:-1], found[4].start)]


@cache
def _network(architecture: str) -> Any:
    return tiny.causal_model(architecture, VOCABULARY)


@cache
def _alone(architecture: str) -> list[float]:
    """Score each request by itself, from all logits, in float64."""
    sums = []
    for request in _task():
        with torch.inference_mode():
            logits = _network(architecture)(input_ids=_ids(request)).logits[0]
        values = logits.double().log_softmax(-1)
        span = range(request.start, len(request.ids))
        sums.append(sum(float(values[place - 1, request.ids[place]]) for place in span))
    return sums


def _ids(request: Request) -> torch.Tensor:
    return torch.tensor([request.ids], device=tiny.place())


def _model(model: Any, batch_tokens: int | None = None, engine: str = "auto") -> CausalModel:
    return CausalModel(model, tiny.byte_level_tokenizer(), tiny.place(), batch_tokens, engine)


def _values(model: CausalModel, requests: list[Request]) -> list[float]:
    return list(model.score(requests).log_likelihoods)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_architecture_has_its_engine_and_the_reason_names_what_is_in_the_way(
    architecture: str,
) -> None:
    model = _model(_network(architecture))
    assert (model.engine, model.engine_reason) == EXPECTED[architecture]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    "batch_tokens",
    [64, *(pytest.param(tokens, marks=pytest.mark.slow) for tokens in (5, 10_000))],
)
def test_log_likelihoods_equal_those_of_one_text_at_a_time(
    architecture: str, batch_tokens: int
) -> None:
    order = random.Random(batch_tokens).sample(range(len(_task())), len(_task()))
    shuffled = [_task()[index] for index in order]
    expected = [_alone(architecture)[index] for index in order]
    model = _model(_network(architecture), batch_tokens)
    assert _values(model, shuffled) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "architecture",
    some([a for a in EXPECTED if EXPECTED[a][0] == "packed"], CHOSEN),
)
def test_rows_equal_them_too_where_packing_was_possible(architecture: str) -> None:
    model = _model(_network(architecture), 200, "rows")
    assert model.engine == "rows"
    assert _values(model, _task()) == pytest.approx(_alone(architecture), abs=1e-4)


@pytest.mark.parametrize(
    ("prefix", "shared", "length", "engine"),
    [(4, 0, 60, "rows"), (40, 40, 6, "packed")],
    ids=["long-and-different", "much-in-common"],
)
def test_a_prompt_is_read_in_the_way_that_is_less_work(
    prefix: int, shared: int, length: int, engine: str
) -> None:
    rng = random.Random(4)
    head, same = ([rng.randrange(VOCABULARY) for _ in range(size)] for size in (prefix, shared))
    requests = []
    for number in range(24):
        own = [rng.randrange(VOCABULARY) for _ in range(length - number % 7)]
        context = [*head, *(same if number % 2 else []), *own]
        requests += [Request((*context, answer), len(context)) for answer in (1, 2)]
    network = tiny.causal_model("llama", VOCABULARY).cpu()  # where the work was measured
    scored = {
        name: choice.choose(network, "cpu", name, 4096, None).engine.score(requests)
        for name in choice.ENGINES
    }
    forwarded = {name: one.tokens_forwarded for name, one in scored.items()}
    assert forwarded["rows"] != forwarded["packed"]
    assert forwarded["auto"] == forwarded[engine]
    plain = pytest.approx(scored["plain"].log_likelihoods, abs=1e-4)
    assert scored["auto"].log_likelihoods == plain


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_what_is_forwarded_stays_near_the_distinct_tokens(architecture: str) -> None:
    model = _model(_network(architecture), 256)
    requests = _task(examples=20)
    scored = model.score(requests)
    distinct = {r.ids[:end] for r in requests for end in range(1, len(r.ids))}
    assert scored.trie_nodes == len(distinct)
    most = {"packed": 1.05, "rows": 1.5, "plain": float("inf")}[model.engine]
    assert 1 <= scored.tokens_forwarded / scored.trie_nodes <= most


def test_what_is_forwarded_is_what_the_model_was_given() -> None:
    for engine in ("packed", "rows", "plain"):
        network = tiny.causal_model("llama", VOCABULARY)
        model = _model(network, 100, engine)
        given: list[int] = []
        network.register_forward_pre_hook(
            lambda _, __, kwargs, given=given: given.append(kwargs["input_ids"].numel()),
            with_kwargs=True,
        )
        assert model.score(_task()).tokens_forwarded == sum(given)


def test_a_prompt_that_one_pass_holds_takes_one_pass_with_its_prefix() -> None:
    network = tiny.causal_model("llama", VOCABULARY)
    passes: list[int] = []
    for batch_tokens in (10_000, 200):
        model = _model(network, batch_tokens, "packed")
        handle = network.register_forward_pre_hook(
            lambda _, __, kwargs: passes.append(kwargs["input_ids"].numel()), with_kwargs=True
        )
        passes.clear()
        scored = model.score(_task())
        handle.remove()
        planned = model._choice.engine.passes(_task())
        assert planned == passes
        assert sum(passes) == scored.tokens_forwarded >= scored.trie_nodes
        assert (len(passes) == 1) == (scored.trie_nodes <= batch_tokens)
        assert scored.log_likelihoods == pytest.approx(_alone("llama"), abs=1e-4)


@pytest.mark.parametrize("name", tiny.TOKENIZERS)
@pytest.mark.parametrize("span", ["boundary", "paper"])
@pytest.mark.parametrize("engine", ["packed", "rows"])
def test_with_every_tokenizer_and_span_the_engines_agree(name: str, span: Any, engine: str) -> None:
    network = tiny.causal_model("llama", 700)
    shots = "Q: Which of these is a fruit? A: apple\nQ: dog or fox? A: fox\n"
    answers = (("apple", "stone"), (" a", " apple pie"), ("(a)", "(b)", "(c)"))
    questions = [
        Question(f"{shots}Q: {text}? A:{' ' * (number % 2)}", answers[number % 3], span=span)
        for number, text in enumerate(("apple", "brown fox", "river or stone", "lazy dog 12"))
    ]
    found = {}
    for way in (engine, "plain"):
        model = CausalModel(network, tiny.TOKENIZERS[name](), tiny.place(), None, way)
        found[way] = [v for one in model.ask(questions).answers for v in one.log_likelihoods]
    assert found[engine] == pytest.approx(found["plain"], abs=1e-4)


@pytest.mark.parametrize(
    ("architecture", "engine", "message"),
    [
        ("bloom", "packed", f"the engine `packed` cannot read this bloom model: {ALIBI}"),
        ("mamba", "rows", f"the engine `rows` cannot read this mamba model: {STATE}"),
    ],
)
def test_an_engine_that_a_model_cannot_take_is_refused(
    architecture: str, engine: str, message: str
) -> None:
    with pytest.raises(ModelError) as caught:
        _model(_network(architecture), None, engine)
    assert str(caught.value) == f"{message}; expected `auto` or another engine"


def test_an_engine_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'fast'; expected one of auto, packed, rows, plain"):
        _model(_network("llama"), None, "fast")


@pytest.mark.parametrize("tokens", [None, 4096], ids=["here", "on a GPU"])
def test_a_model_of_unknown_type_that_ignores_its_mask_is_read_the_plain_way(
    tokens: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tokens is not None:  # a pass of many texts of one length needs no mask but for the longest
        monkeypatch.setitem(choice._START, "rows", (tokens, tokens))
    network = tiny.causal_model("llama", VOCABULARY)
    network.config.model_type = "unheard-of"

    def forget(module: Any, args: Any, kwargs: Any) -> Any:
        mask = kwargs["attention_mask"]
        if kwargs.get("past_key_values") is not None or mask.dim() == 4:
            kwargs["attention_mask"] = None
            kwargs["position_ids"] = None
        return args, kwargs

    network.register_forward_pre_hook(forget, with_kwargs=True)
    model = _model(network)
    assert model.engine == "plain"
    assert model.engine_reason is not None
    assert model.engine_reason.startswith("a probe of 24 tokens differed from the plain engine by")
    assert _values(model, _task()) == pytest.approx(_alone("llama"), abs=1e-4)


def test_a_model_of_unknown_type_is_probed_again_at_the_length_of_longer_texts() -> None:
    network = tiny.causal_model("llama", VOCABULARY)
    network.config.model_type = "unheard-of"
    model = _model(network)
    assert (model.engine, model._choice.verified) == ("packed", 24)
    longest = max(len(request.ids) for request in _task())
    assert _values(model, _task()) == pytest.approx(_alone("llama"), abs=1e-4)
    assert 32 < longest <= 64
    assert model._choice.verified == 64


def test_beyond_what_an_unknown_type_was_probed_for_the_plain_way_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A window along the row, wider than any short text, of which nothing is known."""
    name, arguments = tiny.ARCHITECTURES["gpt-neo"]
    wider = (name, {**arguments, "window_size": 50})
    monkeypatch.setitem(tiny.ARCHITECTURES, "gpt-neo", wider)
    network = tiny.causal_model("gpt-neo", VOCABULARY)
    reference = _values(_model(network, None, "plain"), _task())
    network.config.model_type = "unheard-of"
    model = _model(network)
    assert model.engine == "rows", "a forest is longer than its texts"
    assert _values(model, _task()) == pytest.approx(reference, abs=1e-4)
    small = _model(network, 24)
    assert small.engine == "packed"
    assert _values(small, _task()) == pytest.approx(reference, abs=1e-4)
    short = [request for request in _task(prefix=2, examples=2) if len(request.ids) <= 24]
    expected = _values(_model(network, None, "plain"), short)
    assert _values(model, short) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("kind", ["dynamic", "longrope"])
def test_texts_at_whose_length_the_position_encoding_changes_go_alone(kind: str) -> None:
    from transformers import AutoModelForCausalLM, LlamaConfig

    rope: dict[str, Any] = {"rope_type": kind, "rope_theta": 10_000.0, "factor": 4.0}
    if kind == "longrope":
        rope |= {"original_max_position_embeddings": 50}
        rope |= {"short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
    positions = 200 if kind == "longrope" else 50
    config = LlamaConfig(
        **tiny.ARCHITECTURES["llama"][1],
        vocab_size=VOCABULARY,
        initializer_range=0.2,
        max_position_embeddings=positions,
        rope_parameters=rope,
    )
    torch.manual_seed(0)
    network = AutoModelForCausalLM.from_config(config).eval().to(tiny.place())
    requests = _task()
    assert min(len(request.ids) for request in requests) < 50 < max(len(r.ids) for r in requests)
    if kind == "dynamic":
        # Its encoding of longer texts depends on the texts before them; no context holds them.
        requests = [request for request in requests if len(request.ids) <= 50]
    plain = _model(network, 1, "plain")
    expected = [plain.score([request]).log_likelihoods[0] for request in requests]
    for engine in ("auto", "plain"):
        model = _model(network, None, engine)
        assert model.engine == ("packed" if engine == "auto" else "plain")
        assert _values(model, requests) == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
def test_in_bfloat16_rounding_is_no_reason_to_refuse_an_engine() -> None:
    for architecture, (engine, _) in EXPECTED.items():
        network = tiny.causal_model(architecture, VOCABULARY).to(torch.bfloat16)
        model = _model(network)
        assert model.engine == engine, (architecture, model.engine_reason)


@pytest.mark.parametrize("engine", ["packed", "rows", "plain"])
@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("no memory left"),
        MemoryError(),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
    ],
)
def test_what_memory_does_not_hold_is_halved_and_nothing_is_lost(
    engine: str, error: Exception
) -> None:
    network = tiny.causal_model("llama", VOCABULARY)
    model = _model(network, 400, engine)
    sizes: list[int] = []
    limit = 130

    def refuse(module: Any, args: Any, kwargs: Any) -> None:
        sizes.append(kwargs["input_ids"].numel())
        if sizes[-1] > limit:
            raise error

    network.register_forward_pre_hook(refuse, with_kwargs=True)
    assert _values(model, _task()) == pytest.approx(_alone("llama"), abs=1e-4)
    assert max(sizes) > limit
    sizes.clear()
    assert _values(model, _task()) == pytest.approx(_alone("llama"), abs=1e-4)
    assert max(sizes) <= limit, "it remembers what worked"
    limit = 1
    with pytest.raises(
        ScoreError,
        match=rf"memory of {tiny.place()} cannot hold the model and a text of \d+ tokens",
    ):
        model.score(_task())


def test_another_error_of_the_model_is_not_taken_for_a_lack_of_memory() -> None:
    network = tiny.causal_model("llama", VOCABULARY)
    model = _model(network)
    network.register_forward_pre_hook(_fail)
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        model.score(_task())


def _fail(module: Any, args: Any) -> None:
    raise RuntimeError("shapes do not fit")


@pytest.mark.parametrize("engine", ["packed", "rows", "plain"])
@pytest.mark.parametrize("at", [1, 3])
def test_an_interruption_leaves_the_model_as_it_was(engine: str, at: int) -> None:
    network = tiny.causal_model("llama", VOCABULARY)
    model = _model(network, 100, engine)
    before = model.score(_task())
    calls = iter(range(at + 1))

    def interrupt(module: Any, args: Any, output: Any) -> None:
        if next(calls) == at:
            raise KeyboardInterrupt

    handle = network.model.layers[1].register_forward_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.score(_task())
    handle.remove()
    assert model.score(_task()) == before


def test_a_probe_tells_a_wrong_engine_from_a_right_one() -> None:
    """Else every engine would pass: a tree read with a plain row's mask must be noticed."""
    network = _network("llama")
    chosen = choice.choose(network, tiny.place(), "packed", None, 100)
    right = chosen.engine._mask  # type: ignore[attr-defined]
    chosen.engine._mask = lambda positions, ends: right(  # type: ignore[attr-defined]
        positions, torch.full_like(ends, len(ends))
    )
    reason = choice._differs(chosen.engine, chosen.plain, chosen._network, 24)
    assert reason is not None
    assert "differed" in reason


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["auto", "float32"])
def test_a_processor_that_the_environment_limits_computes_or_says_what_limits_it(
    tiny_llama: Path, dtype: str
) -> None:
    """With AMX torch chooses its bfloat16 attention by the processor, whatever the variable says.

    The variable is read when torch is imported, so it takes a process of its own.
    """
    code = (
        "import sys\n"
        "from pytest_maxrandom.errors import ScoreError\n"
        "from pytest_maxrandom.models.hf.transformers import load\n"
        "from pytest_maxrandom.models.requests import Request\n"
        "from pytest_maxrandom.suite.models import TransformersSpec\n"
        "spec = TransformersSpec(name='m', device='cpu', quantization='nf4', dtype=sys.argv[2])\n"
        "try:\n"
        "    load(spec, sys.argv[1]).score([Request(tuple(range(9, 99)) * 4, 300)])\n"
        "    print('scored')\n"
        "except ScoreError as error:\n"
        "    print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(tiny_llama), dtype],
        env={**os.environ, "ATEN_CPU_CAPABILITY": "avx2"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[-1]
    told = (
        "with ATEN_CPU_CAPABILITY=avx2 torch has no attention in bfloat16 for this processor; "
        "unset the variable, or give the model `dtype: float32`"
    )
    assert said in (["scored", told] if dtype == "auto" else ["scored"])

"""Which server do you have? Each kind is recognised, and each refusal names the line that works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import MaxRandomError, ScoreError
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.models.requests import Request
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.models.served.openai import OpenAI
from pytest_maxrandom.models.served.recognition import recognised
from pytest_maxrandom.suite.models import MODELS
from tests.hashed_model import continuation, encoded, likelihood, log_probabilities
from tests.models import located
from tests.served import FakeServer, serving

if TYPE_CHECKING:
    from pytest_maxrandom.models.base import Model

QUESTION = Question("Is ice cold?", (" yes", " no"))
CONTEXT = encoded(QUESTION.context)


pytestmark = pytest.mark.usefixtures("patience")


def loaded(server: FakeServer, backend: str, *, generates: bool = False, **keys: Any) -> Model:
    said = {"name": "m", "backend": backend, "url": server.url, "timeout": 5.0, **keys}
    spec = MODELS.validate(said | {"served_model": server.model})
    return ModelPool().get(located(spec, Path()), generates=generates)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("vllm", "vLLM"), ("sglang", "SGLang"), ("llama_cpp", "llama.cpp"), ("ollama", "Ollama"),
        ("lm_studio", "LM Studio"), ("tgi", "TGI"), ("lite_llm", "LiteLLM"), ("old_vllm", "vLLM"),
        ("transformers", "transformers serve"), ("openai", None), ("messages_only", None),
        ("only_texts", None),
    ],
)  # fmt: skip
def test_a_server_is_recognised_by_what_only_it_answers(kind: str, name: str | None) -> None:
    with serving(kind) as server:
        found = recognised(Endpoint(server.url, timeout=5))
    assert (found and found[0].name) == name


GENERATE = "write `backend: openai` with `chat: true`, and `scoring: generate`"
FILE = "`backend: gguf` or `llama_cpp`"
TEXTS = "without `tokenizer`, and `scoring: generate`"


@pytest.mark.parametrize(
    ("kind", "backend", "lines"),
    [
        ("old_vllm", "vllm", ["vLLM 0.25.0", "update it to 0.26.0", "`backend: openai`"]),
        ("sglang", "vllm", ["is SGLang 1.2.3", "write `backend: sglang`"]),
        ("llama_cpp", "vllm", ["is llama.cpp 1.2.3", "write `backend: llama_cpp`"]),
        ("llama_cpp", "openai", ["is llama.cpp 1.2.3", "write `backend: llama_cpp`"]),
        ("vllm", "llama_cpp", ["is vLLM 1.2.3", "write `backend: vllm`"]),
        ("vllm", "sglang", ["is vLLM 1.2.3", "write `backend: vllm`"]),
        ("ollama", "vllm", ["is Ollama 0.12.11", GENERATE, FILE]),
        ("ollama", "openai", ["is Ollama 0.12.11", GENERATE, FILE]),
        ("lm_studio", "vllm", ["is LM Studio", GENERATE, FILE]),
        ("lm_studio", "llama_cpp", ["is LM Studio", GENERATE, FILE]),
        ("lm_studio", "openai", ["is LM Studio", GENERATE, FILE]),
        ("tgi", "openai", ["is TGI 3.3.6", GENERATE, "`backend: vllm`"]),
        ("lite_llm", "openai", ["is LiteLLM", GENERATE, "name the server behind it"]),
        ("transformers", "openai", ["is transformers serve", TEXTS, "`backend: transformers`"]),
        ("messages_only", "openai", ["`chat: true` and `scoring: generate`", "chat model"]),
        ("only_texts", "openai", ["take token ids", "`scoring: generate`"]),
        ("five_likeliest", "openai", ["(`echo`)", "`scoring: generate`", "not supported"]),
    ],
)
def test_a_refusal_names_the_line_that_works(
    kind: str, backend: str, lines: list[str], word_tokenizer: Path
) -> None:
    with serving(kind) as server, pytest.raises(MaxRandomError) as refused:
        loaded(server, backend, tokenizer=str(word_tokenizer)).ask([QUESTION])
    assert all(line in str(refused.value) for line in lines), str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("ollama", {"chat": True}), ("lm_studio", {"chat": True}), ("tgi", {"chat": True}),
        ("lite_llm", {"chat": True}), ("messages_only", {"chat": True}), ("transformers", {}),
        ("lm_studio", {}), ("only_texts", {}), ("five_likeliest", {}),
    ],
)  # fmt: skip
def test_the_lines_that_are_named_work(kind: str, keys: dict[str, Any]) -> None:
    asked = Question(QUESTION.context, ("",), generation=Generation(9))
    with serving(kind) as server:
        (answer,) = loaded(server, "openai", generates=True, **keys).ask([asked]).answers
    assert answer.text == continuation(CONTEXT, 9)[0]


def test_an_old_vllm_is_asked_by_echo(word_tokenizer: Path) -> None:
    with serving("old_vllm") as server:
        (answer,) = loaded(server, "openai", tokenizer=str(word_tokenizer)).ask([QUESTION]).answers
    exact = [likelihood(QUESTION.context, each) for each in QUESTION.answers]
    assert answer.log_likelihoods == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(("chat", "generates"), [(True, True), (False, True), (False, False)])
def test_where_nothing_is_the_address_is_wrong(
    chat: bool, generates: bool, word_tokenizer: Path
) -> None:
    """Rather than that there are no messages, or nothing else."""
    keys = {} if chat else {"tokenizer": str(word_tokenizer)}
    with serving("ollama") as server:
        server.faults["statuses"] = [(404, {})] * 30
        with pytest.raises(MaxRandomError) as refused:
            loaded(server, "openai", generates=generates, chat=chat, **keys).ask([QUESTION])
    assert "with 404 ('not now'); correct `url`" in str(refused.value)
    assert "remove `chat`" not in str(refused.value)


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/", "/v1/chat/completions", "/v1/completions", "/v1/models"]
)
def test_an_address_may_end_with_what_is_asked_for(path: str) -> None:
    with serving("vllm") as server:
        model: Any = loaded(server, "vllm", url=server.url + path)
        model.ask([QUESTION])
        assert {path for path, _ in server.bodies} >= {"/version", "/v1/completions"}


@pytest.mark.parametrize(
    ("kind", "keys", "lines"),
    [
        ("messages_only", {}, ["write `chat: true`"]),
        ("ollama", {}, [GENERATE]),
        ("transformers", {"chat": True}, ["takes no messages: remove `chat`"]),
        ("transformers", {"tokenizer": ""}, ["takes no token ids: remove `tokenizer`"]),
        ("only_texts", {"tokenizer": ""}, ["takes no token ids: remove `tokenizer`"]),
        ("tgi", {"tokenizer": ""}, ["takes no token ids: remove `tokenizer`"]),
    ],
)
def test_a_refusal_to_write_names_the_line_that_works(
    kind: str, keys: dict[str, Any], lines: list[str], word_tokenizer: Path
) -> None:
    keys |= {"tokenizer": str(word_tokenizer)} if "tokenizer" in keys else {}
    with serving(kind) as server, pytest.raises(MaxRandomError) as refused:
        loaded(server, "openai", generates=True, **keys)
    assert all(line in str(refused.value) for line in lines), str(refused.value)


def test_a_hosted_interface_is_asked_nothing_odd(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def get(at: Endpoint, path: str) -> Any:
        asked.append(path)
        return {"data": [{"id": "m", "owned_by": "system"}]}

    monkeypatch.setattr(Endpoint, "get", get)
    assert OpenAI(Endpoint("https://api.example.org"), "m").serving().server == "system"
    assert asked == ["/v1/models"]


class TestShiftedLists:
    """Log-probabilities that stand one place from their tokens in a server's echo."""

    @staticmethod
    def asked(monkeypatch: pytest.MonkeyPatch, shift: int, noise: float = 0.0) -> None:
        """Ask for choices of eight examples from a server with such lists."""

        def post(at: Endpoint, path: str, body: Any) -> Any:
            ids = [*body["prompt"], 0]
            true = [None, *(log_probabilities(ids[:n])[ids[n]] for n in range(1, len(ids)))]
            places = range(shift, shift + len(ids))
            told = [true[min(max(place, 0), len(ids) - 1)] for place in places]
            told = [None, *(-1.0 if one is None else one - noise * len(ids) for one in told[1:])]
            return {"choices": [{"logprobs": {"token_logprobs": told}}]}

        monkeypatch.setattr(Endpoint, "post", post)
        server = OpenAI(Endpoint("http://127.0.0.1:1"), "m")
        for number in range(8):
            context = encoded(f"{number}: which?")
            answers = (b" a", b" bc", b" d")
            server.score([Request((*context, *answer), len(context)) for answer in answers])

    @pytest.mark.parametrize("shift", [-1, 1])
    def test_they_are_refused_in_either_direction(
        self, monkeypatch: pytest.MonkeyPatch, shift: int
    ) -> None:
        with pytest.raises(ScoreError, match="numbers that stand one place from their tokens"):
            self.asked(monkeypatch, shift)

    @pytest.mark.parametrize("noise", [0.0, 0.02])
    def test_right_ones_are_taken(self, monkeypatch: pytest.MonkeyPatch, noise: float) -> None:
        self.asked(monkeypatch, 0, noise)

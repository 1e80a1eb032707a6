"""Answers that models of transformers generate: in any company as alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ModelError, PromptTooLong
from pytest_maxrandom.models.hf import generating
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.hf.hub import model_digest
from pytest_maxrandom.models.hf.transformers import load
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.suite.models import TransformersSpec
from tests import tiny

if TYPE_CHECKING:
    from pathlib import Path

CONTEXTS = [f"Q: {'word ' * times}which? {times * 'xyz'} A: " for times in (1, 9, 4, 2, 9, 7)]
SOME = ("llama", "gpt-2", "bloom", "mamba", "gemma-2", "falcon-alibi", "qwen-3-next", "opt")
TEMPLATE = (
    "{{ '<s>' }}{% for m in messages %}[{{ m.role }}] {{ m.content|trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)


def asked(how: Generation, contexts: list[str] = CONTEXTS) -> list[Question]:
    return [Question(context, ("x",), generation=how) for context in contexts]


def texts(model: CausalModel, questions: list[Question]) -> list[str | None]:
    return [answer.text for answer in model.ask(questions).answers]


def expected(model: Any, tokenizer: Any, context: str, length: int, **keys: Any) -> str:
    """What transformers itself generates after one text."""
    encoded = tokenizer(context, return_tensors="pt", **keys).to(model.device)
    made = model.generate(
        input_ids=encoded.input_ids,
        attention_mask=encoded.attention_mask,
        do_sample=False,
        max_new_tokens=length,
        pad_token_id=0,
    )
    written = made[0, encoded.input_ids.shape[1] :]
    return str(tokenizer.decode(written, skip_special_tokens=True))


@pytest.mark.parametrize("architecture", SOME)
def test_it_is_what_transformers_generates_text_by_text(architecture: str) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = tiny.causal_model(architecture, len(tokenizer))
    own = CausalModel(model, tokenizer, tiny.place())
    alone = [expected(model, tokenizer, context.rstrip(" "), 12) for context in CONTEXTS]
    questions = asked(Generation(12))
    reply = own.ask(questions)
    assert [answer.text for answer in reply.answers] == alone
    assert len(set(alone)) > 1 or architecture == "mamba"
    assert reply.tokens_forwarded >= reply.trie_nodes > 0
    assert [own.ask([question]).answers[0] for question in questions] == list(reply.answers)


def test_the_models_own_configuration_says_nothing_but_what_ends_a_text() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = tiny.causal_model("llama", len(tokenizer))
    plain = texts(CausalModel(model, tokenizer, tiny.place()), asked(Generation(12)))
    model.generation_config.update(do_sample=True, temperature=5.0, repetition_penalty=9.0)
    held = model.generation_config
    own = CausalModel(model, tokenizer, tiny.place())
    assert texts(own, asked(Generation(12))) == plain
    assert model.generation_config is held
    token = own._prompts(asked(Generation(1)))[0]
    first = own._generator.write([generating.Prompted(token, 0)], Generation(1))[0].ids[0]
    model.generation_config.eos_token_id = [0, first]
    (answer,) = CausalModel(model, tokenizer, tiny.place()).ask(asked(Generation(12))[:1]).answers
    assert (answer.finish, len(answer.text or "")) == ("stop", len(tokenizer.decode([first])))


def test_without_padding_only_texts_of_one_length_are_put_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    own = CausalModel(tiny.causal_model("gpt-2", len(tokenizer)), tokenizer, tiny.place())
    usual = texts(own, asked(Generation(6)))
    sizes: list[int] = []
    batch = generating.Generator._batch

    def counted(self: Any, prompts: Any, how: Any) -> Any:
        sizes.append(len(prompts))
        assert len({len(prompt.ids) for prompt in prompts}) == 1
        return batch(self, prompts, how)

    monkeypatch.setattr(generating.Generator, "_probe", lambda self: False)
    monkeypatch.setattr(generating.Generator, "_batch", counted)
    own = CausalModel(tiny.causal_model("gpt-2", len(tokenizer)), tokenizer, tiny.place())
    assert texts(own, asked(Generation(6))) == usual
    assert sorted(sizes) == [1, 1, 1, 1, 2]


def test_a_model_that_reads_padding_as_text_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    own = CausalModel(tiny.causal_model("gpt-2", len(tokenizer)), tokenizer, tiny.place())
    assert own._generator._probe()
    padded = generating.Generator._padded

    def unmasked(self: Any, texts: Any) -> Any:
        ids, mask = padded(self, texts)
        return ids, mask.fill_(1)

    monkeypatch.setattr(generating.Generator, "_padded", unmasked)
    assert not own._generator._probe()


def test_memory_decides_how_many_go_together_and_nothing_else() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = tiny.causal_model("llama", len(tokenizer))
    many, few = (
        CausalModel(model, tokenizer, tiny.place(), batch_tokens=size) for size in (4096, 1)
    )
    assert texts(many, asked(Generation(8))) == texts(few, asked(Generation(8)))


class TestDrawnTokens:
    def test_the_same_text_is_answered_alike_in_any_company(self) -> None:
        tokenizer = tiny.byte_level_tokenizer()
        own = CausalModel(tiny.causal_model("llama", len(tokenizer)), tokenizer, tiny.place())
        questions = asked(Generation(12, (), 0.8))
        together = texts(own, questions)
        assert texts(own, questions[::-1]) == together[::-1]
        assert [texts(own, [question])[0] for question in questions] == together
        assert together[1] == together[4]
        assert together != texts(own, asked(Generation(12)))

    def test_tokens_are_drawn_as_often_as_they_are_likely(self) -> None:
        import torch

        scores = torch.log(torch.tensor([0.5, 0.3, 0.2, 0.0])).repeat(3000, 1)
        for temperature in (1.0, 0.5):
            drawn = generating._Drawn(range(3000), temperature, 0)
            counts = (drawn(torch.zeros(3000, 2), scores) == 0).sum(dim=0).double() / 3000
            chances = torch.softmax(scores[0] / temperature, dim=0).double()
            assert torch.allclose(counts, chances, atol=0.03)


def test_an_answer_ends_at_a_stop_text_which_is_no_part_of_it() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    own = CausalModel(tiny.causal_model("llama", len(tokenizer)), tokenizer, tiny.place())
    (whole,) = own.ask(asked(Generation(24))[:1]).answers
    assert whole.finish == "length"
    assert whole.text is not None
    stop = whole.text[9:11]
    (ended,) = own.ask(asked(Generation(24, ("never", stop)))[:1]).answers
    assert (ended.text, ended.finish) == (whole.text[: whole.text.find(stop)], "stop")
    forwarded = [own.ask(asked(Generation(24, one))[:1]).tokens_forwarded for one in ((), (stop,))]
    assert forwarded[1] < forwarded[0]


def test_what_is_written_must_fit_the_context(tmp_path: Path) -> None:
    folder = tiny.save_llama(tmp_path / "m", positions=64)
    spec = TransformersSpec(name="m", quantization="none", device="cpu")
    own = load(spec, str(folder))
    fitting = asked(Generation(8))[:1]
    own.check(fitting)
    with pytest.raises(PromptTooLong, match=r"and is followed by up to 60 more, but .* holds 64"):
        own.check(asked(Generation(60)))


def test_a_model_whose_code_does_not_generate_is_told() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = tiny.causal_model("gpt-2", len(tokenizer))
    own = CausalModel(model, tokenizer, tiny.place())
    model.generation_config = None
    with pytest.raises(ModelError, match="this gpt2 model cannot generate text"):
        own.ask(asked(Generation(4)))


class TestChat:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        tokenizer = tiny.sentencepiece_tokenizer()
        tokenizer.chat_template = TEMPLATE
        return tiny.save_llama(tmp_path / "chat", tokenizer)

    def test_a_prompt_is_a_message(self, folder: Path) -> None:
        spec = TransformersSpec(
            name="m", quantization="none", device="cpu", dtype="float32", chat=True
        )
        own = load(spec, str(folder))
        assert own.chat == ("<s>[user] ", "\n[assistant] ")
        whole = own._tokens.tokenizer.apply_chat_template(
            [{"role": "user", "content": CONTEXTS[0]}], tokenize=False, add_generation_prompt=True
        )
        alone = expected(own._model, own._tokens.tokenizer, whole, 8, add_special_tokens=False)
        assert texts(own, asked(Generation(8))[:1]) == [alone]
        # Likelihoods are those after the same text, with one token for the beginning.
        ((request,),) = own.encode([Question(CONTEXTS[0], ("yes",))])
        assert own._tokens.tokenizer.decode(request.ids).count("<s>") == 1
        assert "[user]" in own._tokens.tokenizer.decode(request.ids)

    def test_it_is_another_model_for_the_ledger(self, folder: Path) -> None:
        spec = TransformersSpec(name="m")
        chat = spec.model_copy(update={"chat": True})
        assert model_digest(spec, str(folder)) != model_digest(chat, str(folder))

    def test_a_model_without_a_template_is_refused(self, tmp_path: Path) -> None:
        spec = TransformersSpec(name="m", quantization="none", device="cpu", chat=True)
        with pytest.raises(ModelError, match="has no chat template; remove `chat: true`"):
            load(spec, str(tiny.save_llama(tmp_path / "plain")))

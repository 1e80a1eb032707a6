"""What models behind servers write, and what they say in chats."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import ModelError, PromptTooLong, ScoreError
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.models.registry import Backends
from tests.hashed_model import continuation, encoded, likelihood
from tests.models import located
from tests.served import FakeServer, serving
from tests.unit.models.servers import EXACT, QUESTIONS, WRITTEN, generating, specified, told

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("patience")


class TestGenerated:
    def test_what_is_written_is_what_the_model_writes(
        self, server: FakeServer, word_tokenizer: Path
    ) -> None:
        model = generating(server, word_tokenizer)
        # The space before an answer is left to the model, which writes one.
        expected = [
            continuation(encoded(question.context.rstrip()), 9, ("~",)) for question in WRITTEN
        ]
        reply = model.ask(WRITTEN)
        assert [(answer.text, answer.finish) for answer in reply.answers] == expected
        assert {answer.log_likelihoods for answer in reply.answers} == {()}
        said: Any = model.handshake
        assert (said["same_texts"], said["repeated"]) == (3, None)
        for _, body in server.bodies[-3:]:
            sent = body.get("sampling_params", body)
            assert sent["temperature"] == 0
            assert sent["stop"] == ["~"]

    def test_likelihoods_are_met_for_when_they_are_asked_for(
        self, server: FakeServer, word_tokenizer: Path
    ) -> None:
        model = generating(server, word_tokenizer)
        server.faults["zero"] = True
        model.ask(WRITTEN)
        with pytest.raises((ModelError, ScoreError)):
            model.ask(QUESTIONS)
        server.faults.clear()
        assert told(model.ask(QUESTIONS)) == [pytest.approx(values, abs=1e-9) for values in EXACT]

    def test_the_report_says_how_each_was_asked(
        self, vllm: FakeServer, word_tokenizer: Path
    ) -> None:
        model = generating(vllm, word_tokenizer)
        for questions, way in ((QUESTIONS, "forced"), (WRITTEN, "completions")):
            model.ask(questions)
            assert model.engine == way

    def test_a_server_with_no_tokens_is_sent_texts(self) -> None:
        with serving("openai") as server:
            server.faults["no_echo"] = True
            (answer, *_) = generating(server).ask(WRITTEN).answers
            assert answer.text == continuation(encoded(WRITTEN[0].context), 9, ("~",))[0]

    def test_a_second_beginning_is_refused(self, server: FakeServer, word_tokenizer: Path) -> None:
        server.faults["begin_twice"] = True
        with pytest.raises(ScoreError, match="expected a server that adds nothing in front"):
            generating(server, word_tokenizer)

    def test_a_seed_is_sent_where_tokens_are_drawn(
        self, server: FakeServer, word_tokenizer: Path
    ) -> None:
        drawn = replace(WRITTEN[0], generation=Generation(9, (), 0.7))
        generating(server, word_tokenizer).ask([drawn])
        sent = server.bodies[-1][1]
        sent = {"seed": sent.get("seed"), **sent.get("sampling_params", sent)}
        assert (sent.get("sampling_seed") or sent["seed"]) == drawn.seed > 0
        assert sent["temperature"] == 0.7

    def test_a_stop_text_that_a_server_does_not_know_ends_an_answer(
        self, server: FakeServer, word_tokenizer: Path
    ) -> None:
        server.says = lambda prompt: ("yes ~ Q: and", "length")
        (answer,) = generating(server, word_tokenizer).ask(WRITTEN[:1]).answers
        assert (answer.text, answer.finish) == ("yes ", "stop")

    @pytest.mark.parametrize("finish", ["length", "stop"])
    def test_what_ends_an_answer_is_told(
        self, server: FakeServer, word_tokenizer: Path, finish: str
    ) -> None:
        server.says = lambda prompt: ("yes", finish)
        assert generating(server, word_tokenizer).ask(WRITTEN[:1]).answers[0].finish == finish

    def test_a_server_that_comes_back_with_another_model_is_refused(
        self, server: FakeServer, word_tokenizer: Path
    ) -> None:
        model = generating(server, word_tokenizer)
        server.faults["drop"] = 1
        model.ask(WRITTEN)
        server.faults["drop"] = 1
        server.seed = "other"
        with pytest.raises(
            ModelError, match="came back with another model: none of the texts that it generates"
        ):
            model.ask(WRITTEN)

    def test_a_text_that_is_too_long_with_its_answer_is_refused(
        self, vllm: FakeServer, word_tokenizer: Path
    ) -> None:
        question = Question("x" * 350, ("",), generation=Generation(60))
        with pytest.raises(PromptTooLong, match="followed by up to 60 more, but the model's"):
            generating(vllm, word_tokenizer).check([question])


class TestChats:
    @pytest.fixture
    def chat(self) -> Iterator[FakeServer]:
        with serving("openai") as running:
            yield running

    def test_a_prompt_is_one_message(self, chat: FakeServer) -> None:
        model = generating(chat, chat=True)
        (answer, *_) = model.ask(WRITTEN).answers
        assert answer.text == continuation(encoded(WRITTEN[0].context), 9, ("~",))[0]
        assert {path for path, body in chat.bodies if body} == {"/v1/chat/completions"}
        assert model.engine == "chat"
        with pytest.raises(ModelError, match="is a chat endpoint, which gives no log-likelihoods"):
            model.ask(QUESTIONS)

    def test_a_model_that_thinks_knows_the_limit_by_another_name(self, chat: FakeServer) -> None:
        chat.faults["thinks"] = True
        (answer, *_) = generating(chat, chat=True).ask(WRITTEN).answers
        assert answer.text == continuation(encoded(WRITTEN[0].context), 9, ("~",))[0]
        assert chat.bodies[-1][1]["max_completion_tokens"] == 9

    def test_one_that_takes_no_stop_texts_is_sent_none(self, chat: FakeServer) -> None:
        chat.faults["thinks"] = "without stop"
        chat.says = lambda prompt: ("yes ~ Q: and", "stop")
        (answer, *_) = generating(chat, chat=True).ask(WRITTEN).answers
        assert (answer.text, answer.finish) == ("yes ", "stop")

    def test_one_that_always_draws_is_asked_to_or_refused(self, chat: FakeServer) -> None:
        chat.faults["thinks"] = "and draws"
        model = generating(chat, chat=True)
        drawn = [replace(one, generation=Generation(9, (), 1)) for one in WRITTEN]
        assert len({answer.text for answer in model.ask(drawn).answers}) == 3
        with pytest.raises(ModelError, match=r"; write `generation: \{temperature: 1\}`"):
            model.ask(WRITTEN)

    def test_what_a_servers_filter_refuses_is_a_refusal(self, chat: FakeServer) -> None:
        model = generating(chat, chat=True)
        chat.faults["filters"] = "content_filter"
        (answer, *_) = model.ask(WRITTEN).answers
        assert (answer.text, answer.finish) == ("", "refused")
        chat.faults["filters"] = "something_else"
        with pytest.raises(ModelError, match="refuses /v1/chat/completions"):
            model.ask(WRITTEN)

    @pytest.mark.parametrize("finish", ["refusal", "content_filter"])
    def test_a_refusal_is_one(self, chat: FakeServer, finish: str) -> None:
        chat.says = lambda prompt: ("I cannot say A", finish)
        (answer,) = generating(chat, chat=True).ask(WRITTEN[:1]).answers
        assert (answer.text, answer.finish) == ("I cannot say A", "refused")

    def test_no_text_that_was_cut_is_an_empty_one(self, chat: FakeServer) -> None:
        chat.says = lambda prompt: (None, "length")
        (answer,) = generating(chat, chat=True).ask(WRITTEN[:1]).answers
        assert (answer.text, answer.finish) == ("", "length")
        chat.says = lambda prompt: (None, "stop")
        with pytest.raises(ScoreError, match="has no text"):
            generating(chat, chat=True)

    @pytest.mark.parametrize("dialect", ["vllm", "sglang", "llama_cpp"])
    def test_others_are_sent_the_template_in_tokens(
        self, dialect: str, word_tokenizer: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "chat"
        shutil.copytree(word_tokenizer, folder)
        template = "{{ bos_token }}[{{ messages[0].content }}]"
        (folder / "chat_template.jinja").write_text(template)
        with serving(dialect) as server:
            model = generating(server, folder, chat=True)
            assert getattr(model, "chat") == ("<s>[", "]")  # noqa: B009 - not all models have it
            model.ask(WRITTEN[:1])
            sent = server.bodies[-1][1]
            assert (sent.get("prompt") or sent["input_ids"]) == encoded(f"[{WRITTEN[0].context}]")
            values = told(model.ask(QUESTIONS[:1]))[0]
            context = f"[{QUESTIONS[0].context}]"
            assert values == pytest.approx([likelihood(context, a) for a in QUESTIONS[0].answers])

    def test_it_is_another_model_for_the_ledger(self, chat: FakeServer) -> None:
        plain, chats = (
            Backends().identify(located(specified(chat, chat=on), Path())) for on in (False, True)
        )
        assert plain.tried_digest != chats.tried_digest

    def test_a_template_that_is_nowhere_is_told(self, vllm: FakeServer) -> None:
        with pytest.raises(ValueError, match="`chat` uses the tokenizer's chat template"):
            specified(vllm, chat=True)

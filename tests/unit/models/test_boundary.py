"""Where the prompt ends and the answer begins, held against the tokenizers' character offsets."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings, strategies as st

import tests.tiny as tiny
from pytest_maxrandom.errors import QuestionError
from pytest_maxrandom.models.hf.causal import CausalModel
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.requests import Request, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

TOKENIZERS = pytest.mark.parametrize("name", tiny.TOKENIZERS)

CONTEXTS = [
    "Which of these is a fruit? A:",
    "Which of these is a fruit? A: ",
    "Which of these is a fruit? A:  ",
    "Which of these is a fruit?\n",
    "Which of these is a fruit?\n ",
    "naïve café 🦊 是",
    "",
    " ",
]
ANSWERS = [
    ("apple", "stone"),
    (" apple", " stone"),
    ("appl", "apple", "apple, stone"),
    ("Yes", "No", "12", "1"),
    ("é", "ü", "🦊🦊", "不是"),
    ("(a)", "(b)"),
    ("apple ", "apple"),
]


@cache
def _model(name: str) -> tuple[CausalModel, Any]:
    tokenizer = tiny.TOKENIZERS[name]()
    return CausalModel(tiny.causal_model("llama", 700), tokenizer, tiny.place()), tokenizer


def _requests(name: str, context: str, answers: Sequence[str]) -> tuple[Request, ...]:
    model, _ = _model(name)
    (requests,) = model.encode([Question(context, tuple(answers))])
    return requests


def _tokens(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return the id and the end in the text of each token but those that close it."""
    encoded = tokenizer(text, return_offsets_mapping=True)
    pairs = [
        (i, end) for i, (_, end) in zip(encoded.input_ids, encoded.offset_mapping, strict=True)
    ]
    return pairs[:-1] if pairs and pairs[-1] == (2, 0) else pairs


def _boundary_by_offsets(tokenizer: Any, context: str, answer: str) -> int:
    """Return the index of the first token that reaches beyond the context's last character."""
    end_of_context = len(context.rstrip(" "))
    ends = [end for _, end in _tokens(tokenizer, context + answer)]
    return next(index for index, end in enumerate(ends) if end > end_of_context)


@TOKENIZERS
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("answers", ANSWERS)
def test_the_scored_span_is_the_tokens_that_reach_beyond_the_context(
    name: str, context: str, answers: tuple[str, ...]
) -> None:
    _, tokenizer = _model(name)
    requests = _requests(name, context, answers)
    first = min(_boundary_by_offsets(tokenizer, context, answer) for answer in answers)
    added = int(first == 0)
    assert {request.start - added for request in requests} == {first}
    for request, answer in zip(requests, answers, strict=True):
        expected = [token for token, _ in _tokens(tokenizer, context + answer)]
        assert list(request.ids[added:]) == expected


@TOKENIZERS
@settings(max_examples=150, deadline=None)
@given(
    context=st.text(max_size=25) | st.text("aple, \n", max_size=25),
    answers=st.lists(
        (st.text(max_size=8) | st.text("aple, \n", max_size=8)).filter(lambda text: text.strip()),
        min_size=2,
        max_size=4,
    ),
)
def test_for_any_text_all_that_depends_on_the_answer_is_scored_and_nothing_else(
    name: str, context: str, answers: list[str]
) -> None:
    assume(not any(mark in context + answer for answer in answers for mark in ("<", "|")))
    _, tokenizer = _model(name)
    requests = _requests(name, context, answers)
    starts = {request.start for request in requests}
    assert len(starts) == 1, "the answers of one question share one boundary"
    (start,) = starts
    before = {request.ids[:start] for request in requests}
    assert len(before) == 1, "and are conditioned on the same tokens"

    wholes = [_tokens(tokenizer, context + answer) for answer in answers]
    added = len(requests[0].ids) - len(wholes[0])
    own = [token for token, _ in _tokens(tokenizer, context.rstrip(" "))]
    by_offsets = min(_boundary_by_offsets(tokenizer, context, answer) for answer in answers)
    recut = [
        index
        for whole in wholes
        for index, (token, _) in enumerate(whole[:by_offsets])
        if own[index : index + 1] != [token]
    ]
    assert start - added == min([by_offsets, *recut])


def test_a_merge_across_the_boundary_is_scored_as_a_whole() -> None:
    model, tokenizer = _model("byte-level")
    assert tokenizer.tokenize("A: apple")[-1] == "Ġapple"
    (requests,) = model.encode([Question("A: app", ("le", "lause"))])
    spans = [tokenizer.decode(list(request.ids[request.start :])) for request in requests]
    assert [span.strip() for span in spans] == ["apple", "applause"]


def test_tokens_of_the_context_that_the_answer_recuts_are_scored() -> None:
    a, b, bc, cd, e = range(5)
    cuts = {"abc": [a, bc], "abcd": [a, b, cd], "abce": [a, bc, e]}

    def encoder(texts: Sequence[str]) -> list[list[int]]:
        return [cuts[text] for text in texts]

    ((first, second),) = encode([Question("abc", ("d", "e"))], encoder)
    assert first.start == second.start == 1


@pytest.mark.parametrize("context", CONTEXTS)
def test_what_a_tokenizer_adds_at_the_end_is_never_scored(context: str) -> None:
    with_end = _requests("sentencepiece-bos-eos", context, ("apple", "stone"))
    assert with_end == _requests("sentencepiece-bos", context, ("apple", "stone"))
    assert all(2 not in request.ids for request in with_end)


def test_an_end_that_the_text_itself_spells_is_kept() -> None:
    (request, _) = _requests("sentencepiece-bos-eos", "A:", (" apple</s>", " stone"))
    assert request.ids[-1] == 2


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("byte-level", 0), ("sentencepiece-bare", 1), ("sentencepiece-bos", 1)],
)
def test_a_text_without_a_context_stands_after_one_beginning(name: str, beginning: int) -> None:
    for request in _requests(name, "", ("apple", "stone")):
        assert request.start == 1
        assert [place for place, token in enumerate(request.ids) if token == beginning] == [0]


@pytest.mark.parametrize("name", ["byte-level", "sentencepiece-bare"])
def test_no_beginning_is_added_that_neither_tokenizer_nor_question_asks_for(name: str) -> None:
    _, tokenizer = _model(name)
    for request in _requests(name, "A:", (" apple", " stone")):
        assert request.ids[0] not in (tokenizer.bos_token_id, tokenizer.eos_token_id)


def test_a_tokenizer_without_any_beginning_cannot_score_a_text_without_context() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    tokenizer.eos_token = None
    model = CausalModel(tiny.causal_model("llama", 700), tokenizer, tiny.place())
    with pytest.raises(QuestionError, match=r"^there is no token before the answer;"):
        model.encode([Question("", ("apple", "stone"))])


def test_an_answer_that_the_tokenizer_does_not_see_still_has_a_scored_token() -> None:
    requests = _requests("byte-level", "A: apple", ("", ", stone"))
    assert all(len(request.ids) > request.start for request in requests)


def test_questions_are_encoded_independently_of_each_other() -> None:
    model, _ = _model("sentencepiece-bos")
    questions = [Question(context, answers) for context in CONTEXTS for answers in ANSWERS]
    together = model.encode(questions)
    assert together == [model.encode([question])[0] for question in questions]


@TOKENIZERS
@pytest.mark.parametrize("answers", [("apple", "stone"), (" apple pie", " a"), ("(a)", "(b)")])
def test_the_papers_span_is_as_long_as_the_answer_encoded_alone(
    name: str, answers: tuple[str, ...]
) -> None:
    model, tokenizer = _model(name)
    (found,) = model.encode([Question("Which of these is a fruit? A:", answers, span="paper")])
    for request, answer in zip(found, answers, strict=True):
        assert len(request.ids) - request.start == len(_tokens(tokenizer, answer))
        assert list(request.ids) == [i for i, _ in _tokens(tokenizer, f"{CONTEXTS[0]}{answer}")]


def test_the_papers_span_takes_tokens_of_the_prompt_where_a_beginning_is_put_in_front() -> None:
    context, answers = "Which of these is a fruit? A:", (" apple", " stone")
    (boundary,) = _model("sentencepiece-bos")[0].encode([Question(context, answers)])
    (paper,) = _model("sentencepiece-bos")[0].encode([Question(context, answers, span="paper")])
    assert all(p.start < b.start for p, b in zip(paper, boundary, strict=True))


def test_a_papers_span_without_any_token_before_it_is_an_error() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    tokenizer.eos_token = None
    model = CausalModel(tiny.causal_model("llama", 700), tokenizer, tiny.place())
    with pytest.raises(QuestionError, match=r"^there is no token before the answer;"):
        model.encode([Question("", ("apple", "stone"), span="paper")])

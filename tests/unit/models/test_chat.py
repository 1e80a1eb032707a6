"""What stands around a message, by the templates of models; and templates that never end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.limits import in_force
from pytest_maxrandom.models import chat
from pytest_maxrandom.models.chat import ChatTemplate, Templated
from tests import tiny

if TYPE_CHECKING:
    from pathlib import Path


pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def tokenizer() -> Templated:
    return tiny.sentencepiece_tokenizer()  # type: ignore[no-any-return]


def of(tokenizer: Templated, template: str, seconds: int = 2) -> ChatTemplate:
    tokenizer.chat_template = template
    with in_force({"template_seconds": seconds}):
        return ChatTemplate.of(tokenizer, "m", "transformers")


@pytest.mark.parametrize(
    "template",
    [
        "{{ bos_token }}[{{ messages[0].content | trim }}]",
        "{% for m in messages %}\n  <{{ m.role }}>{{ m.content }}\n{% endfor %}{{ eos_token }}",
        "{% generation %}{{ messages[0]['content'] }}{% endgeneration %}é\U0001f600",
        "{{ messages | tojson }}",
        "{% for m in messages %}{{ m.content }}{% break %}{% endfor %}",
    ],
)
def test_a_message_stands_where_transformers_puts_it(tokenizer: Templated, template: str) -> None:
    found = of(tokenizer, template)
    for message in ("Is ice cold?", "ß 🙂"):
        whole = tokenizer.apply_chat_template(  # type: ignore[attr-defined]
            [{"role": "user", "content": message}], tokenize=False, add_generation_prompt=True
        )
        assert found.around(message) == whole
    assert found.strips == ("trim" in template)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            r"more than 1 s .* endless loop, or raise `limits: template_seconds` in the suite",
        ),
        ("{{ 10 ** (10 ** 9) }}", "more than 1 s"),  # one call, which nothing interrupts
        ("{{ ('a' * 10 ** 8) | replace('a', 'b' * 1000) }}", "too much memory|more than 1 s"),
        ("{{ messages[0].content * 10 ** 6 }}", "its text is longer than 1,000,000 characters"),
        ("{{ raise_exception('no') }}", "cannot be used: no$"),
        ("{% for", "unexpected 'end of template'"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "is unsafe"),
        ("{{ messages[0].content }}{{ messages[0].content }}", "writes a message 2 times"),
        ("nothing", "writes a message 0 times"),
    ],
)
def test_what_no_model_needs_is_a_sentence(tokenizer: Templated, template: str, said: str) -> None:
    with pytest.raises(ModelError, match=said) as caught:
        of(tokenizer, template, seconds=1)
    assert str(caught.value).startswith("the chat template of m ")
    assert len(str(caught.value)) < 600


def test_no_template_sees_what_the_runner_holds(
    tokenizer: Templated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2")
    template = (
        "{% for n in self.__init__.__globals__ %}{{ n }}{% endfor %}{{ messages[0].content }}"
    )
    with pytest.raises(ModelError) as caught:
        of(tokenizer, template)
    assert "hunter2" not in str(caught.value)


def test_a_transformers_whose_renderer_needs_all_of_it_is_imported_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    utils = tmp_path / "transformers" / "utils"
    utils.mkdir(parents=True)
    (utils.parent / "__init__.py").write_text("MARK = '!'\n")
    (utils / "__init__.py").write_text("")
    (utils / "chat_template_utils.py").write_text(
        "from transformers import MARK\n"
        "def render_jinja_template(chats, **kwargs):\n"
        "    return [chats[0][0]['content'] + MARK], None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    asked = {"by": "transformers", "template": "", "tokens": {}, "messages": ["a"]}
    assert chat._rendered(json.dumps(asked), 9) == ("a!",)

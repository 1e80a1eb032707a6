"""The process in which a model's chat template is rendered; it imports nothing of this package.

A template is code of whoever made the model. Jinja's sandbox keeps it to plain data, and lets it
take any time and memory: here it has so much of both. The libraries that models are read with
render it, so that it gives what it gives there.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CHARACTERS = 1_000_000
"""Of one rendered text, at most."""


def _renderer() -> Any:
    """Return the function of transformers that renders templates.

    Its module is imported without the rest of the package, which takes .6 s and is not used; where
    a version does not allow that, as everybody imports it.
    """
    packages = ("transformers", "transformers.utils")
    try:
        for name in packages:
            found = importlib.util.find_spec(name)
            sys.modules[name] = alone = ModuleType(name)
            alone.__path__ = list((found and found.submodule_search_locations) or ())
        return import_module("transformers.utils.chat_template_utils").render_jinja_template
    except Exception:  # whatever a part raises that needs the whole
        for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
            del sys.modules[name]
        return import_module("transformers.utils.chat_template_utils").render_jinja_template


def _by_transformers(template: str, tokens: dict[str, Any]) -> Callable[[str], str]:
    render_jinja_template = _renderer()

    def rendered(message: str) -> str:
        said = [[{"role": "user", "content": message}]]
        found = render_jinja_template(
            said, chat_template=template, add_generation_prompt=True, **tokens
        )
        return str(found[0][0])

    return rendered


def _by_llama_cpp(template: str, tokens: dict[str, Any]) -> Callable[[str], str]:
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    def rendered(message: str) -> str:
        write = Jinja2ChatFormatter(template, add_generation_prompt=True, **tokens)
        return str(write(messages=[{"role": "user", "content": message}]).prompt)

    return rendered


_WAYS = {"transformers": _by_transformers, "llama_cpp": _by_llama_cpp}


def _limit_memory(bytes_: int) -> None:
    """Allow so much memory besides what libraries hold; where the system has such a limit."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + bytes_
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, ValueError, OSError):
        pass


def main(seconds: float, memory: int) -> None:
    """Read a template and messages; write a text for each message, or what is wrong.

    Parameters
    ----------
    seconds : float
        For all of them, at most, even within one call of C; the process ends then.
    memory : int
        Bytes, besides what libraries hold.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no reply
    asked = json.loads(sys.stdin.buffer.read())
    with replies, open(os.devnull, "w") as nowhere:  # noqa: PTH123
        try:
            rendered = _WAYS[asked["by"]](asked["template"], asked["tokens"])
            _limit_memory(memory)
            faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
            texts = [rendered(message) for message in asked["messages"]]
            if any(len(text) > CHARACTERS for text in texts):
                raise ValueError(f"its text is longer than {CHARACTERS:,} characters")
            reply = json.dumps({"texts": texts})
        except MemoryError:
            reply = json.dumps({"mistake": "it needs too much memory"})
        except Exception as error:  # whatever a template raises
            told = " ".join(str(error).split()) or type(error).__name__
            reply = json.dumps({"mistake": told[:400]})
        replies.write(reply)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))

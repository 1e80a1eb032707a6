"""Models behind servers: what they are asked, what is checked first, and what can go wrong."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import shutil
import threading
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import MaxRandomError, ModelError, PromptTooLong, ScoreError
from pytest_maxrandom.host.data import Boundary
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.questions import Question
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.models.served import (
    endpoint,
    model as served_model,
    vllm as vllm_dialect,
    ways,
)
from pytest_maxrandom.models.served.flow import Flow
from pytest_maxrandom.models.tokens import LocalTokens
from tests.hashed_model import encoded
from tests.models import located
from tests.served import FakeServer, serving
from tests.unit.models.servers import EXACT, QUESTIONS, loaded, specified, told

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("patience")


def test_log_likelihoods_are_those_of_the_served_model(
    server: FakeServer, word_tokenizer: Path
) -> None:
    reply = loaded(server, word_tokenizer).ask(QUESTIONS)
    assert told(reply) == [pytest.approx(values, abs=1e-9) for values in EXACT]
    # The space before an answer is scored with it.
    assert [answer.tokens for answer in reply.answers] == [
        tuple(len(encoded(answer)) - 1 for answer in question.answers) for question in QUESTIONS
    ]


@pytest.mark.parametrize("dialect", ["vllm", "sglang", "llama_cpp"])
def test_a_servers_own_tokens_do_as_well(dialect: str) -> None:
    with serving(dialect) as server:
        assert told(loaded(server).ask(QUESTIONS)) == [
            pytest.approx(values, abs=1e-9) for values in EXACT
        ]


def test_vllm_is_led_along_the_choices_and_sent_no_text_twice(
    vllm: FakeServer, word_tokenizer: Path
) -> None:
    model = loaded(vllm, word_tokenizer)
    vllm.bodies.clear()
    model.ask(QUESTIONS[:1])
    asked = encoded(QUESTIONS[0].context)
    prompts = [tuple(body["prompt"]) for _, body in vllm.bodies if body]
    sent = [ids for ids in prompts if list(ids[: len(asked)]) == asked]
    texts = [encoded(QUESTIONS[0].context + answer) for answer in QUESTIONS[0].answers]
    start = len(encoded(QUESTIONS[0].context))
    inner = {tuple(ids[:at]) for ids in texts for at in range(start, len(ids))}
    assert len(set(sent)) == len(sent) < len(inner)
    assert set(sent) <= inner
    assert sent[0] == tuple(texts[0][:start])


@pytest.mark.parametrize("at_most", [1, 2, 128])
def test_however_few_tokens_are_told_at_once(
    vllm: FakeServer, word_tokenizer: Path, monkeypatch: pytest.MonkeyPatch, at_most: int
) -> None:
    monkeypatch.setattr(vllm_dialect, "AT_MOST", at_most)
    monkeypatch.setattr(ways, "AT_MOST", at_most)
    assert told(loaded(vllm, word_tokenizer).ask(QUESTIONS)) == [
        pytest.approx(values, abs=1e-9) for values in EXACT
    ]


def test_what_a_server_had_kept_is_told_from_what_it_computed(
    vllm: FakeServer, word_tokenizer: Path
) -> None:
    model = loaded(vllm, word_tokenizer)
    model.ask(QUESTIONS)
    for tells in (True, False):
        vllm.tells_cached = tells
        computed, cached = vllm.cache.computed, vllm.cache.cached
        reply = model.ask(QUESTIONS)
        computed, cached = vllm.cache.computed - computed, vllm.cache.cached - cached
        assert cached > 0
        expected = (computed, cached) if tells else (computed + cached, None)
        assert (reply.tokens_forwarded, reply.tokens_cached) == expected


@pytest.mark.parametrize("dialect", ["vllm", "openai"])
def test_the_first_is_alone_where_all_share_a_block_that_was_not_read(
    dialect: str, word_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nothing is gained by waiting for it: servers keep whole blocks, and not for `echo`."""
    with serving(dialect) as server:
        joined = _joined(server, word_tokenizer, monkeypatch)
    assert joined == [True, dialect == "openai", True]


def _joined(server: FakeServer, tokenizer: Path, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return whether another request came while the first of each prompt was under way."""
    model = loaded(server, tokenizer)
    model.ask(QUESTIONS)
    first, another = threading.Lock(), threading.Event()

    @contextlib.contextmanager
    def at_work() -> Iterator[None]:
        if first.acquire(blocking=False):
            joined.append(another.wait(0.2))
        another.set()
        yield

    monkeypatch.setattr(server, "at_work", at_work)
    joined: list[bool] = []
    shared = "One of these numbers is larger than the other. Which? "
    for before in ("", shared, shared):
        model.ask([replace(one, context=before + one.context) for one in QUESTIONS])
        first.release()
        another.clear()
    return joined


def test_a_server_that_drafts_tokens_is_asked_without_forcing_any(
    vllm: FakeServer, word_tokenizer: Path
) -> None:
    vllm.faults["drafts"] = True
    model = loaded(vllm, word_tokenizer)
    assert told(model.ask(QUESTIONS)) == EXACT
    assert model.engine in ("walk", "echo")


def test_a_way_that_gives_other_numbers_is_refused(vllm: FakeServer, word_tokenizer: Path) -> None:
    model = loaded(vllm, word_tokenizer)
    vllm.faults["less"] = 3.0
    with pytest.raises(ModelError, match=r"asked in another way \(forced in place of walk\)"):
        model.ask(QUESTIONS)


def test_what_no_key_tells_is_in_the_handshake(server: FakeServer, word_tokenizer: Path) -> None:
    said: Any = loaded(server, word_tokenizer).handshake
    assert said["model"] == "the-model"
    assert said["tokenized"] == (0 if server.dialect == "openai" else 3)
    assert said["repeated"] == 0


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"zero": True}, "gives all choices the log-likelihood 0, so every accuracy would be"),
        ({"order": True}, "gives the same text log-likelihoods that differ by"),
        ({"begin_twice": True}, "expected a server that adds nothing in front"),
        (
            {"values": [math.nan]},
            "tells 'nan' as a log-probability; expected a number of at most 0",
        ),
        ({"values": [2.5]}, "tells '2.5' as a log-probability; expected a number of at most 0"),
        ({"page": True}, "answers with '<html>', which is not JSON"),
        ({"redirect": "https://elsewhere.example/v1"}, "redirects to https://elsewhere.example,"),
        ({"redirect": "//elsewhere.example/v1"}, "redirects to elsewhere.example,"),
        ({"redirect": "/v1/"}, "redirects to another path,"),
        ({"statuses": [(500, {})] * 30}, "again: 'not now'; look into its log, or raise `timeout`"),
        ({"statuses": [(429, {})] * 30}, "again: 'not now'; lower `concurrency`, or raise `timeo"),
        ({"half": 99}, "gives no whole answer of HTTP ("),
    ],
)
def test_a_server_that_is_not_right_is_refused_before_anything_is_scored(
    server: FakeServer, word_tokenizer: Path, fault: dict[str, Any], expected: str
) -> None:
    server.faults |= copy.deepcopy(fault)
    with pytest.raises((ModelError, ScoreError)) as refused:
        loaded(server, word_tokenizer)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_gate_quotes_only_servers_that_the_workflow_names(
    server: FakeServer, word_tokenizer: Path, tmp_path: Path
) -> None:
    server.faults["page"] = True
    for places, shown in (([], False), ([server.url], True)):
        with Boundary(tmp_path, places=places).in_force(), pytest.raises(ModelError) as refused:
            loaded(server, word_tokenizer)
        assert ("<html>" in str(refused.value)) == shown
        assert (f"--allow-path {server.url}" in str(refused.value)) != shown


def test_a_number_that_is_missing_is_told(server: FakeServer, word_tokenizer: Path) -> None:
    server.faults["values"] = [None]
    with pytest.raises(ScoreError, match="has no "):
        loaded(server, word_tokenizer)


def test_a_server_that_ignores_echo_is_refused(word_tokenizer: Path) -> None:
    with serving("openai") as server:
        server.faults["no_echo"] = True
        with pytest.raises(ModelError, match="returned 1; expected a server that supports `echo`"):
            loaded(server, word_tokenizer)


@pytest.mark.parametrize("dialect", ["vllm", "sglang", "llama_cpp"])
def test_another_tokenizer_is_refused(dialect: str, word_tokenizer: Path) -> None:
    with serving(dialect) as server:
        server.faults["no_begin"] = True
        with pytest.raises(ModelError, match="the tokenizer differs from that of the server"):
            loaded(server, word_tokenizer)


@pytest.mark.parametrize(
    "fault",
    [
        {"statuses": [(429, {"Retry-After": "0"}), (503, {}), (500, {})]},
        {"drop": 1},
        {"half": 1},
    ],
    ids=["busy", "dropped", "half an answer"],
)
def test_what_passes_by_changes_nothing(
    server: FakeServer, word_tokenizer: Path, fault: dict[str, Any]
) -> None:
    model = loaded(server, word_tokenizer)
    server.faults |= copy.deepcopy(fault)
    assert told(model.ask(QUESTIONS)) == [pytest.approx(values, abs=1e-9) for values in EXACT]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"seed": "other"},
            "came back with another model: log-likelihoods of the same texts",
        ),
        ({"version": "9"}, "came back changed"),
        ({"model": "new"}, "serves no model 'the-model'; it serves 'new'"),
    ],
)
def test_a_server_that_comes_back_with_another_model_is_refused(
    vllm: FakeServer, word_tokenizer: Path, change: dict[str, str], expected: str
) -> None:
    model = loaded(vllm, word_tokenizer)
    vllm.faults["drop"] = 1
    vars(vllm).update(change)
    with pytest.raises(ModelError) as refused:
        model.ask(QUESTIONS)
    assert expected in str(refused.value)


def test_another_model_stays_refused(vllm: FakeServer, word_tokenizer: Path) -> None:
    model = loaded(vllm, word_tokenizer)
    vllm.faults["drop"] = 1
    vllm.seed = "other"
    for _ in range(2):
        with pytest.raises(ModelError, match="came back with another model"):
            model.ask(QUESTIONS)
    vllm.seed = ""
    assert told(model.ask(QUESTIONS)) == [pytest.approx(values, abs=1e-9) for values in EXACT]


def test_a_server_that_was_not_asked_for_a_while_may_be_another(
    vllm: FakeServer, word_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = loaded(vllm, word_tokenizer)
    vllm.seed = "other"
    monkeypatch.setattr(endpoint, "IDLE", 0)
    with pytest.raises(ModelError, match="came back with another model"):
        model.ask(QUESTIONS)


def test_a_server_is_not_checked_again_because_something_took_long_here(
    vllm: FakeServer, word_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = 0.0
    load = LocalTokens.load

    def slowly(*given: Any) -> Any:
        nonlocal late
        late += 2 * endpoint.IDLE
        return load(*given) if given[1:] else None

    clock = SimpleNamespace(monotonic=lambda: late, sleep=time.sleep)
    monkeypatch.setattr(endpoint, "time", clock)
    monkeypatch.setattr(LocalTokens, "load", slowly)
    monkeypatch.setattr(served_model, "_forward_of", lambda folder: cache(slowly))
    model = loaded(vllm, word_tokenizer)
    assert late == 4 * endpoint.IDLE
    model.ask(QUESTIONS)
    assert [path for path, _ in vllm.bodies].count("/version") == 1


def test_a_server_that_is_another_than_when_it_was_identified_is_refused(vllm: FakeServer) -> None:
    pool = ModelPool()
    pool.identity(located(specified(vllm), Path()))
    vllm.version = "9"
    with pytest.raises(ModelError, match=r"came back changed: now vLLM 9 "):
        pool.get(located(specified(vllm), Path()))


def test_a_llama_cpp_server_here_is_known_by_the_content_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    with serving("llama_cpp") as server:
        server.faults["model_path"] = str(file)
        prints, digests = [], set()
        for content in (b"GGUF one", b"GGUF two", b"GGUF one", b"no such file"):
            file.write_bytes(content)
            found = loaded(server).fingerprint(generates=False)
            assert found is not None
            prints.append(found)
            digests.add(Backends().identify(located(specified(server), Path())).digest)
        file.write_bytes(b"GGUF one")
        model = loaded(server)
        file.write_bytes(b"GGUF two")
        model._at.broken = True  # type: ignore[attr-defined]
        with pytest.raises(
            ModelError, match=r"now .*, file [0-9a-f]{12} .*before .*, file [0-9a-f]"
        ):
            model.ask(QUESTIONS)
    one, two, again, elsewhere = prints
    assert "its file is" in one.change(two)
    assert not one.change(again)
    # Who cannot read the file takes it for the same model, if it answers as that does.
    assert not one.change(elsewhere)
    assert len(digests) == 1


def test_a_server_that_loads_its_model_is_waited_for(
    vllm: FakeServer, word_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = loaded(vllm, word_tokenizer)
    monkeypatch.setattr(endpoint, "_LONGEST_PAUSE", 0.001)
    vllm.faults["statuses"] = [(503, {})] * 50
    assert told(model.ask(QUESTIONS)) == [pytest.approx(values, abs=1e-9) for values in EXACT]
    # It was gone, so that it was checked again.
    assert [path for path, _ in vllm.bodies].count("/version") == 2


def test_one_sentence_says_that_a_server_is_waited_for(vllm: FakeServer) -> None:
    said: list[str] = []
    model = ModelPool(Resources(tell=said.append)).get(located(specified(vllm), Path()))
    assert not said
    for times in (1, 2):
        vllm.faults["drop"] = 3
        model.ask(QUESTIONS)
        assert said == [f"the server at {vllm.url} is gone; waiting for it"] * times


def test_a_server_that_asks_for_more_patience_than_there_is_is_told(vllm: FakeServer) -> None:
    model = loaded(vllm)
    vllm.faults["statuses"] = [(429, {"Retry-After": "3600"})]
    with pytest.raises(
        ModelError, match=r"429 .*asks to wait 3600 s, longer than `timeout` allows"
    ):
        model.ask(QUESTIONS)


def test_nobody_waits_for_what_can_be_done_without(vllm: FakeServer, word_tokenizer: Path) -> None:
    """The size of blocks, which the metrics tell."""
    model = loaded(vllm, word_tokenizer)
    vllm.faults["statuses"] = [(429, {"Retry-After": "3600"})]
    assert told(model.ask(QUESTIONS)) == [pytest.approx(values, abs=1e-9) for values in EXACT]
    assert [path for path, _ in vllm.bodies].count("/metrics") == 1


def test_whoever_meets_an_error_waits_for_no_thread() -> None:
    """Else Ctrl-C would take as long as a server that is gone is waited for."""
    begun, done = threading.Event(), threading.Event()

    def ask(number: int) -> int:
        if number:
            begun.set()
            return done.wait() + number
        begun.wait()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Flow(2).spread(ask, [0, 1, 2]))
    done.set()
    assert list(Flow(2).spread(ask, [1, 2, 3])) == [2, 3, 4]


def test_weights_that_cannot_be_loaded_here_are_compared_with_nothing(
    vllm: FakeServer, word_tokenizer: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "quantized"
    shutil.copytree(word_tokenizer, folder)
    (folder / "model.safetensors").write_bytes(b"no weights")
    quantized = {"model_type": "llama", "quantization_config": {"quant_method": "gptq", "bits": 4}}
    (folder / "config.json").write_text(json.dumps(quantized))
    said: Any = loaded(vllm, folder).handshake
    assert said["local"] is None


def test_code_that_comes_with_a_tokenizer_never_runs(
    vllm: FakeServer, word_tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tokenizer"
    shutil.copytree(word_tokenizer, folder)
    settings = folder / "tokenizer_config.json"
    own = {"auto_map": {"AutoTokenizer": ["own.Own", None]}, "tokenizer_class": "Own"}
    settings.write_text(json.dumps(json.loads(settings.read_text()) | own))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.setattr("builtins.input", lambda question: "y")
    with contextlib.suppress(ModelError):
        loaded(vllm, folder)
    assert not (tmp_path / "ran").exists()


def test_a_server_that_is_not_there_is_told_at_once(vllm: FakeServer) -> None:
    spec = specified(vllm, url="http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"http://127.0.0.1:9 cannot be reached .*; start it, or"):
        ModelPool().get(located(spec, Path()))


def test_https_where_there_is_none_is_told(vllm: FakeServer) -> None:
    spec = specified(vllm, url=vllm.url.replace("http", "https"))
    with pytest.raises(ModelError, match="speaks no https; write the address with http"):
        ModelPool().get(located(spec, Path()))


def test_a_text_that_is_too_long_is_refused(vllm: FakeServer, word_tokenizer: Path) -> None:
    model = loaded(vllm, word_tokenizer)
    with pytest.raises(PromptTooLong, match="has 404 tokens, but the model's context holds 400"):
        model.check([Question("x" * 400, (" a", " no"))])


class TestIdentity:
    def test_an_address_is_no_part_of_it(self, server: FakeServer, word_tokenizer: Path) -> None:
        with serving(server.dialect) as twin:
            one, other = (
                Backends().identify(located(specified(each, word_tokenizer), Path()))
                for each in (server, twin)
            )
        assert one == other

    @pytest.mark.parametrize(
        ("dialect", "keys", "same"),
        [("vllm", {}, True), ("vllm", {"chat": True}, False), ("openai", {}, False)],
    )
    def test_what_a_tokenizer_does_to_numbers_is(
        self, word_tokenizer: Path, tmp_path: Path, dialect: str, keys: Any, same: bool
    ) -> None:
        shutil.copytree(word_tokenizer, folder := tmp_path / "tokenizer")
        with serving(dialect) as server:
            one = Backends().identify(located(specified(server, word_tokenizer, **keys), Path()))
            assert Backends().identify(located(specified(server, folder, **keys), Path())) == one
            (folder / "chat_template.jinja").write_text("[{{ messages[0].content }}]")
            other = Backends().identify(located(specified(server, folder, **keys), Path()))
        assert (other.digest == one.digest) is same
        assert other.tried_digest == one.tried_digest

    def test_what_is_served_is(self, server: FakeServer, word_tokenizer: Path) -> None:
        spec = specified(server, word_tokenizer)
        server.model = spec.served
        found = [Backends().identify(located(spec, Path()))]
        for change in ({"seed": "other"}, {"version": "9"}):
            vars(server).update(change)
            found.append(Backends().identify(located(spec, Path())))
        assert found[0] == found[1]  # nothing tells
        # A version changes numbers, and makes no other model for the ledger; OpenAI tells none.
        assert (found[1] == found[2]) == (server.dialect == "openai")
        assert len({each.tried_digest for each in found}) == 1
        server.model = "new"
        spec = specified(server, word_tokenizer)
        assert Backends().identify(located(spec, Path())).tried_digest != found[0].tried_digest


def test_all_that_is_raised_is_an_error_of_the_package(vllm: FakeServer) -> None:
    vllm.faults["page"] = True
    backends, spec = Backends(), specified(vllm)
    with pytest.raises(MaxRandomError):
        backends.of(spec).load(backends.locate(spec, Path()), Resources())

"""Real servers say what the same weights say here, whatever happens to them meanwhile.

They run where `python tools/servers.py install` has put them, as `make proof` does.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
import servers

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.suite.models import MODELS
from tests.gguf_files import write_gguf
from tests.models import located
from tests.proof.scale import WHOLE
from tests.proof.served_runs import DEMO, ended, finished, sharded, started, write_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.models.base import Model

WEIGHTS = DEMO / "demo-llama"
TOLERANCE = 0.02
"""Nats, in float32."""


class Real(NamedTuple):
    """A real server of the demo model."""

    kind: servers.Kind
    model: Path
    url: str
    port: int
    folder: Path

    def said(self) -> dict[str, Any]:
        """Return what a suite says of it."""
        said = {"name": "demo", "backend": self.kind, "url": self.url}
        return said | {"served_model": self.model.name, "tokenizer": str(WEIGHTS)}


def prepared(kind: servers.Kind, folder: Path) -> Path:
    """Return the demo model as a server takes it."""
    if not servers.installed(kind):
        reason = f"{kind} is not installed (python tools/servers.py install)"
        (pytest.fail if WHOLE else pytest.skip)(reason)
    return write_gguf(WEIGHTS, folder / "demo.gguf") if kind == "llama_cpp" else WEIGHTS


@pytest.fixture(scope="module", params=["vllm", "llama_cpp"])
def real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Real]:
    kind, folder = request.param, tmp_path_factory.mktemp(request.param)
    model = prepared(kind, folder)
    with servers.running(kind, model, folder / "log") as (url, _):
        yield Real(kind, model, url, int(url.rpartition(":")[2]), folder)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], list[Any]]:
    """What the same weights say on this machine."""
    folder = tmp_path_factory.mktemp("here")
    model = {"name": str(WEIGHTS), "quantization": "none", "dtype": "float32"}
    write_suite(folder, model)
    return finished(started(folder), folder)


def same(one: list[Any], other: list[Any]) -> float:
    """Compare two runs' predictions; return by how many nats log-likelihoods differ at most."""
    key = "prompt"
    one, other = (
        sorted(lines, key=lambda line: (line["task"], line[key])) for lines in (one, other)
    )
    assert [line[key] for line in one] == [line[key] for line in other]
    most = 0.0
    for line, twin in zip(one, other, strict=True):
        for example, its in zip(line["examples"], twin["examples"], strict=True):
            pairs = list(zip(example["log_likelihoods"], its["log_likelihoods"], strict=True))
            apart = max(abs(a - b) for a, b in pairs)
            most = max(most, apart)
            if example["margin"] > 2 * TOLERANCE:
                assert example["chosen"] == its["chosen"], example
    return most


def written_by(said: dict[str, Any], folder: Path) -> Model:
    """Compare what a server writes with what the same weights write here; return its model."""
    data = json.loads((DEMO / "data" / "swapped_topic.json").read_text(encoding="utf-8"))
    questions = [f"\nQ: {example['input']}\nA: " for example in data["examples"][:24]]
    # The model answers in a word, and goes on with questions that are cut.
    texts = questions[:8] + [text[: len(text) // 2] for text in questions[8:]]
    asked = [Question(text, ("",), generation=Generation(16, ("?",))) for text in texts]
    own = MODELS.validate({"name": str(WEIGHTS), "quantization": "none", "dtype": "float32"})
    expected = ModelPool().get(located(own, Path()), generates=True).ask(asked).answers
    served = ModelPool().get(located(MODELS.validate(said), folder), generates=True)
    found = served.ask(asked).answers
    assert len({answer.text for answer in expected}) > 3
    assert [answer.text for answer in found] == [answer.text for answer in expected]
    assert [answer.finish for answer in found] == [answer.finish for answer in expected]
    return served


def test_a_real_server_writes_what_the_same_weights_write(real: Real) -> None:
    written_by(real.said(), real.folder)


def test_transformers_serve_is_known_and_writes_what_the_same_weights_write(
    tmp_path: Path,
) -> None:
    model = prepared("transformers", tmp_path)
    with servers.running("transformers", model, tmp_path / "log") as (url, _):
        said = {"name": "demo", "backend": "openai", "url": url, "served_model": str(model)}
        served = written_by(said, tmp_path)
        assert (served.handshake or {})["server"] == "transformers serve"
        spec = MODELS.validate(said | {"tokenizer": str(WEIGHTS)})
        with pytest.raises(ModelError, match=r"is transformers serve; .* `backend: transformers`"):
            ModelPool().get(located(spec, tmp_path))


def test_a_real_server_gives_the_numbers_of_the_same_weights(
    real: Real, here: tuple[list[Any], list[Any]], tmp_path: Path, measured: Any
) -> None:
    write_suite(tmp_path, real.said())
    claims, predictions = finished(started(tmp_path), tmp_path)
    apart = same(predictions, here[1])
    table = "Largest difference from the same weights here"
    measured(table, "server | nats", real.kind, apart)
    assert apart <= TOLERANCE
    for claim, its in zip(claims, here[0], strict=True):
        assert (claim["verdict"], claim["passed"]) == (its["verdict"], its["passed"])
        assert claim["engine"]["handshake"]["tokenized"] == 3
        assert claim["engine"]["handshake"]["local"] <= TOLERANCE


@pytest.mark.parametrize("kind", ["vllm", "llama_cpp"] if WHOLE else ["llama_cpp"])
def test_a_server_that_is_killed_and_comes_back_costs_nothing(
    kind: servers.Kind, here: tuple[list[Any], list[Any]], tmp_path: Path
) -> None:
    model = prepared(kind, tmp_path)
    (run := tmp_path / "run").mkdir()
    with ExitStack() as stack:
        url, process = stack.enter_context(servers.running(kind, model, tmp_path / "log"))
        port = int(url.rpartition(":")[2])
        write_suite(run, Real(kind, model, url, port, tmp_path).said())
        tests = started(run)
        while not (tried := list(run.glob("maxrandom-ledger/*.jsonl"))) and tests.poll() is None:
            time.sleep(0.01)
        assert tried, tests.communicate()[0]
        servers.stop(process)
        time.sleep(1)
        assert tests.poll() is None, tests.communicate()[0]
        stack.enter_context(servers.running(kind, model, tmp_path / "log", port=port))
        claims, predictions = finished(tests, run)
    assert same(predictions, here[1]) <= TOLERANCE
    assert [claim["t"] for claim in claims] == [claim["t"] for claim in here[0]]
    tries = [
        json.loads(line)
        for file in run.glob("maxrandom-ledger/*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    prompts = [line["prompt"] for line in tries if line["kind"] == "prompt"]
    assert len(prompts) == len(set(prompts)) == sum(claim["t"] for claim in claims)


WAYS = ((), ("-n", "2"), ("--maxrandom-executor=ray:127.0.0.1:1",))
"""Of running a suite whose models are all served: in one process, in workers, as Ray does."""


@pytest.mark.parametrize("kind", ["vllm", "llama_cpp"] if WHOLE else ["llama_cpp"])
def test_a_server_that_comes_back_with_other_weights_is_refused(
    kind: servers.Kind, here: tuple[list[Any], list[Any]], tmp_path: Path
) -> None:
    """Under the same name and address, however a suite is run; the one of before goes on."""
    import torch
    from safetensors.torch import load_file, save_file

    prepared(kind, tmp_path)
    (run := tmp_path / "run").mkdir()
    (parted := tmp_path / "parted").mkdir()
    folder = Path(shutil.copytree(WEIGHTS, tmp_path / "served"))
    without = shutil.ignore_patterns("*.safetensors")
    tokens = Path(shutil.copytree(WEIGHTS, tmp_path / "tokens", ignore=without))
    weights = load_file(WEIGHTS / "model.safetensors")
    moved = {
        name: each + 0.05 * each.std() * torch.randn_like(each) for name, each in weights.items()
    }

    def served(tensors: dict[str, torch.Tensor]) -> Path:
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        return write_gguf(folder, tmp_path / "demo.gguf") if kind == "llama_cpp" else folder

    model = served(weights)
    with ExitStack() as stack:
        url, process = stack.enter_context(servers.running(kind, model, tmp_path / "log"))
        port = int(url.rpartition(":")[2])
        # Else it would be told from the weights that are here.
        said = Real(kind, model, url, port, tmp_path).said() | {"tokenizer": str(tokens)}
        write_suite(parted, said)
        for command in (
            ("shards", ".", "--into", "2", "--out", "parts"),
            ("run-shard", "parts", "1"),
        ):
            assert not sharded(parted, *command).returncode
        write_suite(run, said)
        tests = started(run)
        while not (tried := list(run.glob("maxrandom-ledger/*.jsonl"))) and tests.poll() is None:
            time.sleep(0.01)
        assert tried, tests.communicate()[0]
        servers.stop(process)
        served(moved)
        _, process = stack.enter_context(servers.running(kind, model, tmp_path / "log", port=port))
        ended(tests, run)
        assert re.search(r"came back (changed|with another model): ", (run / "r.json").read_text())
        for way in WAYS:
            (run / "r.json").unlink()
            ended(started(run, *way), run)
            report = (run / "r.json").read_text()
            assert "counts prompts of another model under the same name" in report, way
        assert not sharded(parted, "run-shard", "parts", "2").returncode
        joined = sharded(parted, "join", "parts")
        assert (joined.returncode, "another model under the same name" in joined.stderr) == (
            2,
            True,
        )
        servers.stop(process)
        served(weights)
        stack.enter_context(servers.running(kind, model, tmp_path / "log", port=port))
        for way in WAYS:
            (run / "r.json").unlink()
            ended(started(run, *way), run)
            # The claims that were not begun before have the other weights now.
            begun, expected = json.loads((run / "r.json").read_text())["claims"][0], here[0][0]
            assert begun["engine"]["reused"] > 0
            assert all(begun[key] == expected[key] for key in ("task", "t", "verdict", "passed"))
        shutil.rmtree(parted / "parts" / "shard-2")
        assert not sharded(parted, "run-shard", "parts", "2").returncode
        assert not sharded(parted, "join", "parts").returncode


def test_lm_eval_chooses_the_same_through_the_same_server(tmp_path: Path) -> None:
    model = prepared("vllm", tmp_path)
    from lm_eval.api.instance import Instance
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    names = ("Ivan", "Maria", "Otto", "Lena")
    texts = [
        (
            f"Q: {one} or {other}: who of the two is {what}?\nA:",
            (f" {one}", f" {other}", " neither"),
        )
        for one, other in itertools.permutations(names, 2)
        for what in ("older", "at home")
    ]
    with servers.running("vllm", model, tmp_path / "log") as (url, _):
        spec = MODELS.validate(Real("vllm", model, url, 0, tmp_path).said() | {"backend": "vllm"})
        ours = ModelPool().get(located(spec, tmp_path)).ask([Question(*text) for text in texts])
        api = LocalCompletionsAPI(
            model=model.name,
            base_url=f"{url}/v1/completions",
            tokenizer=str(WEIGHTS),
            tokenizer_backend="huggingface",
            add_bos_token=True,  # left out by itself, and then numbers are of another text
        )
        asked = [
            Instance("loglikelihood", {}, (context, answer), number)
            for number, (context, answers) in enumerate(texts)
            for answer in answers
        ]
        theirs = iter(api.loglikelihood(asked, disable_tqdm=True))
    for answer in ours.answers:
        values = [next(theirs)[0] for _ in answer.log_likelihoods]
        assert values == pytest.approx(answer.log_likelihoods, abs=TOLERANCE)
        assert np.argmax(values) == np.argmax(answer.log_likelihoods)


def test_a_real_vllm_computes_fewer_tokens_than_by_echo(tmp_path: Path, measured: Any) -> None:
    """At most as many as lm-evaluation-harness asks for, and on long choices 1.8 times fewer.

    The model has random weights, which follow no choice.
    """
    prepared("vllm", tmp_path)
    from benchmarks import choices, served
    from benchmarks.workloads import bpe

    loads = {name: choices.prompts(name, 1)[0] for name in choices.WORKLOADS}
    asked = [question for load in loads.values() for question in load]
    texts = [question.context + answer for question in asked for answer in question.answers]
    model = served.save_model(tmp_path / "llama", bpe(texts))
    with servers.running("vllm", model, tmp_path / "log") as (url, _):
        for name, load in loads.items():
            ours, theirs = served.compare(url, model, [load])
            for what, own, its in zip(ours._fields, ours, theirs, strict=True):
                shown = ".1f" if what == "seconds" else ",.0f"
                row = f"{own:{shown}} / {its:{shown}}"
                measured(f"What vLLM took: {what}", "workload | ours / by echo", name, row)
            assert ours.tokens <= theirs.tokens
            if "2 choices" not in name:
                assert theirs.tokens / ours.tokens >= 1.8

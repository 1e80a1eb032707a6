"""Sweeps on a Ray cluster: what is computed where and when, and what is said where that fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.registry import Backends
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.suite.models import MockSpec, ModelSpec, TransformersSpec
from pytest_maxrandom.sweeps.cluster.actor import ModelActor, Refused, Wanted, version
from tests.any_score import SUITES, numbers, write_suites
from tests.models import located
from tests.parts import alike
from tests.ray_nodes import Nodes, nodes_in
from tests.served import serving
from tests.terminals import below, in_a_terminal, screens

if TYPE_CHECKING:
    from collections.abc import Iterator


pytest.importorskip("ray", reason="ray is not installed")
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="processes are ended by signals"),
    # What Ray opens for a cluster of this process it leaves to the end.
    pytest.mark.filterwarnings("ignore"),
]

DEMO = Path(__file__).parents[2] / "eval_suites" / "demo"
N, BUDGET = 40, 250


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with nodes_in(tmp_path_factory.mktemp("nodes"), cpus=(2, 2)) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path, nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a task, where pytest is run."""
    nodes.forget()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "eval_suites").mkdir()
    _task()
    return tmp_path


def _task() -> None:
    rows = [
        {"id": f"e{i}", "input": f"question {i * 7919 % 1000}", "choices": ["Yes", "No"],
         "answer": ("Yes", "No")[i * 31 % 7 % 2]}
        for i in range(N)
    ]  # fmt: skip
    Path("eval_suites/task.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _suite(name: str, models: str, instructions: list[str], rest: str = "") -> None:
    Path(f"eval_suites/{name}.yaml").write_text(
        f"models:\n{models}\ntasks:\n- {{name: task, format: jsonl, path: task.jsonl}}\n"
        f"prompts: {{shots: 0, count: {len(instructions)}, budget: {BUDGET}, "
        f"instructions: {json.dumps(instructions)}}}\n{rest}"
    )


def _instructions(count: int, what: str = "Instruction") -> list[str]:
    return [f"{what} {number}. " for number in range(count)]


def _begin(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
         "--maxrandom-json=r.json", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
    )  # fmt: skip


def _run(*words: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """Run pytest; return what it says, and the claims by the names of their models."""
    Path("r.json").unlink(missing_ok=True)
    said, _ = _begin(*words).communicate(timeout=300)
    assert Path("r.json").exists(), said
    claims = json.loads(Path("r.json").read_text())["claims"]
    return said, {claim["model"]: claim for claim in claims}


def _on(nodes: Nodes) -> str:
    return f"--maxrandom-executor=ray:{nodes.address}"


def test_a_prompt_that_kills_its_actors_is_an_error_of_its_claim_alone(
    folder: Path, nodes: Nodes
) -> None:
    mock = "- {{backend: mock, name: {}, knows: 0.9, seed: 1}}"
    for name, word in (("a", "deadly"), ("b", "broken"), ("c", "harmless")):
        texts = [*_instructions(15), f"A {word} one. ", *_instructions(5, "Another")]
        _suite(name, mock.format(name), texts)
    said, claims = _run(_on(nodes))
    assert [claims[name]["outcome"] for name in "abc"] == ["error", "error", "passed"]
    for name, why in (("a", ""), ("b", "RuntimeError: the driver is gone")):
        message = claims[name]["message"]
        assert "failed 3 times, each time on another actor of the cluster" in message
        assert message.endswith(why)
        # Each time in a process that is gone; a death may be blamed on the chunk before it.
        (prompt,) = re.findall(r"^prompt \d+ \((\w{8})\)", message)
        processes = [one.process for one in nodes.begun() if one.prompt.startswith(prompt)]
        assert len(processes) == len(set(processes)) >= 3
    assert "Traceback" not in said


def test_actors_that_have_nothing_to_do_begin_with_the_next_claims(
    folder: Path, nodes: Nodes
) -> None:
    for name in "abcdef":
        _suite(name, "- {backend: mock, name: m, seconds: 2}", [f"Of {name}. "])
    _run(_on(nodes))
    claims = json.loads(Path("r.json").read_text())["claims"]
    assert [claim["t"] for claim in claims] == [BUDGET] * 6
    begun = nodes.begun()
    assert len(begun) == 6
    # One after the other, all would go to the first actor, which is idle each time.
    assert len({each.process for each in begun}) > 1


def test_models_that_the_cluster_computes_at_once_have_a_line_each(
    folder: Path, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # the pseudo-terminal says how wide it is
    # Two of four actors have nothing to do before the first model is done.
    for name, count, seconds in (("a", 6, 8), ("b", 40, 0.2)):
        mock = f"- {{backend: mock, name: {name}, knows: 0.9, seconds: {seconds}}}"
        _suite(name, mock, _instructions(count, name), "assert: report\n")
    options = "-v", "-p", "no:xdist", "-p", "no:cacheprovider", "--color=no", _on(nodes)
    written = in_a_terminal(folder, *options)
    shown = [below(screen) for screen in screens(written)]
    assert max(map(len, shown)) == 2, written
    seen = " ".join(line for each in shown for line in each)
    for model, count in (("a", 6), ("b", 40)):
        done = [int(each) for each in re.findall(rf"{model}: (\d+)/{count} prompts", seen)]
        assert done == sorted(done)
        assert done[-1] > count / 2
    # Four actors do no more; what was computed ahead of its turn is not counted when it is read.
    rates = [float(each) for each in re.findall(r"(\d+(?:\.\d)?)/s, ", seen)]
    assert rates
    assert max(rates) < 4 / 0.2 + 1
    *_, left = screens(written)
    assert "2 passed" in left.display[left.cursor.y - 1]


def test_a_decided_sweep_has_the_verdict_of_one_process(folder: Path, nodes: Nodes) -> None:
    models = "- {backend: mock, name: guesses}\n- {backend: mock, name: knows, knows: 0.9}"
    asserted = "assert: {p_max: 0.05, permutation_p: 0.05}\n"
    _suite("s", models, _instructions(30), f"until: decided\n{asserted}")
    _, alone = _run("--maxrandom-store=alone.db")
    shutil.rmtree("eval_suites/maxrandom-ledger-simulated")
    _, found = _run(_on(nodes), "--maxrandom-store=ray.db")
    assert alike(found) == alike(alone)
    assert found["guesses"]["decided"] is not None
    assert found["knows"]["outcome"] == "passed"


def test_an_incumbent_is_compared_as_in_one_process(folder: Path, nodes: Nodes) -> None:
    models = "- {backend: mock, name: guesses}\n- {backend: mock, name: knows, knows: 0.9}"
    old = "incumbent: {instruction: Old, model: {backend: mock, name: old, knows: 0.2}}\n"
    rest = f"{old}assert: {{better_than: incumbent}}\n"
    _suite("s", models, _instructions(6), rest)
    _, alone = _run("--maxrandom-store=alone.db")
    shutil.rmtree("eval_suites/maxrandom-ledger-simulated")
    _, found = _run(_on(nodes), "--maxrandom-store=ray.db")
    for name, claim in alone.items():
        assert found[name]["incumbent"] == claim["incumbent"]
    assert found["knows"]["outcome"] == "passed"


def test_open_answers_grades_and_samples_are_those_of_one_process(
    folder: Path, nodes: Nodes
) -> None:
    write_suites(folder / "eval_suites")
    _run("--maxrandom-store=alone.db", "eval_suites")
    before = json.loads(Path("r.json").read_text())
    shutil.rmtree("eval_suites/maxrandom-ledger-simulated")
    _run(_on(nodes), "--maxrandom-store=ray.db", "eval_suites")
    found = json.loads(Path("r.json").read_text())
    for report in (before, found):
        report["claims"] = numbers(report["claims"])
        for claim in report["claims"]:
            # What a later claim tries may have been begun already, which then the ledger explains.
            claim["notes"] = [
                note for note in claim["notes"] if note["kind"] != "tries_of_another_claim"
            ]
    assert alike(found) == alike(before)
    assert [claim["outcome"] for claim in found["claims"]] == ["passed"] * len(SUITES)


def test_whoever_interrupts_a_run_goes_on_with_it(folder: Path, nodes: Nodes) -> None:
    _suite("s", "- {backend: mock, name: m, knows: 0.9, seconds: 0.1}", _instructions(200))
    process = _begin(_on(nodes))
    while len(nodes.begun()) < 40:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in said
    _, claims = _run(_on(nodes))
    assert claims["m"]["outcome"] == "passed"
    assert claims["m"]["t"] == BUDGET
    assert 0 < claims["m"]["engine"]["reused"] < 200
    began = nodes.begun()
    assert len({each.prompt for each in began}) == 200
    assert len(began) < 200 + 4 * 2 * 10 + 1


def test_a_cluster_of_its_own_is_started_and_ended(
    folder: Path, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    Path("pytest.ini").write_text("[pytest]\nmaxrandom_executor = ray\n")
    _suite("s", "- {backend: mock, name: m, knows: 0.9}", _instructions(20))
    _, claims = _run()
    assert claims["m"]["outcome"] == "passed"
    assert not nodes.begun()
    # The other cluster is as it was.
    _, claims = _run(_on(nodes), "--maxrandom-fresh")
    assert claims["m"]["outcome"] == "passed"
    assert len(nodes.begun()) == 20


def test_an_address_where_no_cluster_answers_is_told_once_for_each_claim(folder: Path) -> None:
    _suite("s", "- {backend: mock, name: m}", _instructions(5))
    _run()
    _, claims = _run("--maxrandom-executor=ray:127.0.0.1:1")
    assert claims["m"]["outcome"] == "failed"  # what is stored asks no cluster
    said, claims = _run("--maxrandom-executor=ray:127.0.0.1:1", "--maxrandom-fresh")
    assert claims["m"]["outcome"] == "error"
    assert claims["m"]["message"].startswith("no Ray cluster answers at 127.0.0.1:1: ")
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--maxrandom-executor=dask"], "expected local, ray or ray:ADDRESS, found dask"),
        (["--maxrandom-executor=ray:"], "expected local, ray or ray:ADDRESS, found ray:"),
        (["--maxrandom-executor=ray", "-n2"], "one process leads them; remove -n"),
    ],
)
def test_what_cannot_be_is_told_before_anything_runs(
    pytester: pytest.Pytester, words: list[str], said: str
) -> None:
    result = pytester.runpytest_subprocess(*words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--maxrandom-executor: *{said}"])


def test_a_node_without_the_weights_or_with_others_or_another_version_is_named_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`~` is another folder on each of these nodes, as it may be on machines."""
    (tmp_path / "ray").mkdir()
    homes = {name: tmp_path / name for name in ("whole", "empty", "other", "older")}
    for home in homes.values():
        home.mkdir()
    for name in ("whole", "other", "older"):
        shutil.copytree(DEMO / "demo-llama", homes[name] / "demo-llama")
    weights = homes["other"] / "demo-llama" / "model.safetensors"
    raw = weights.read_bytes()
    weights.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    installed = tmp_path / "site" / "pytest_maxrandom-0.0.1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Name: pytest-maxrandom\nVersion: 0.0.1\n")
    monkeypatch.setenv("HOME", str(homes["whole"]))
    monkeypatch.chdir(tmp_path)
    Path("pytest.ini").write_text("[pytest]\n")
    Path("eval_suites").mkdir()
    _task()
    _suite("s", "- {name: ~/demo-llama, dtype: float32}", _instructions(8), "assert: report\n")
    with nodes_in(tmp_path / "ray") as found:
        for name in ("empty", "other", "older"):
            own = {"HOME": str(homes[name]), "MAXRANDOM_TOLD": str(tmp_path / f"told-{name}")}
            if name == "older":
                own["PYTHONPATH"] = f"{installed.parent}{os.pathsep}{found.path}"
            found.add(**own)
        said, claims = _run(_on(found))
        assert len(found.begun()) == 8
    (claim,) = claims.values()
    assert claim["outcome"] == "passed", said
    assert not list(tmp_path.glob("told-*"))  # nothing was computed there
    told = {each["text"] for each in claim["warnings"] if "is not used for" in each["text"]}
    assert len(told) == 3
    for why in (
        "there is no folder ~/demo-llama",
        "its files of ~/demo-llama differ from those of the leading process; copy them",
        f"it has pytest-maxrandom 0.0.1, expected {version()}; install that there",
    ):
        assert len([each for each in told if why in each]) == 1, told
        assert f"is not used for ~/demo-llama: {why}" in said
    _, alone = _run("--maxrandom-store=alone.db")
    assert claim["correct_counts"] == alone["~/demo-llama"]["correct_counts"]


def test_served_models_need_no_actors_and_are_asked_by_concurrency(
    folder: Path, nodes: Nodes
) -> None:
    with serving("vllm") as server:
        server.faults["slow"] = 0.005
        far = (
            f"- {{backend: vllm, name: far, url: '{server.url}', served_model: the-model, "
            "concurrency: 3}"
        )
        near = "- {backend: mock, name: near, knows: 0.9}"
        _suite("s", f"{far}\n{near}", _instructions(4), "assert: report\n")
        _, claims = _run(_on(nodes), "--maxrandom-store=ray.db")
        assert server.busiest == 3
        # Only the other model was computed on the cluster.
        assert len(nodes.begun()) == 4
        assert claims["far"]["outcome"] == claims["near"]["outcome"] == "passed"
        shutil.rmtree("eval_suites/maxrandom-ledger")
        shutil.rmtree("eval_suites/maxrandom-ledger-simulated")
        _, alone = _run("--maxrandom-store=alone.db")
        # What a server had kept, and so what it computed, depends on what it was asked before.
        for each in (claims["far"], alone["far"]):
            assert each["engine"].pop("tokens_forwarded") > 0
            assert each["engine"].pop("tokens_cached") > 0
        assert alike(claims) == alike(alone)
        # Where nothing else is asked, there need be no cluster.
        _suite("s", far, _instructions(4), "assert: report\n")
        _, claims = _run("--maxrandom-executor=ray:127.0.0.1:1", "--maxrandom-fresh")
        assert claims["far"]["outcome"] == "passed"
        # Other weights under the same name are another model there, too.
        server.seed = "other"
        said, claims = _run("--maxrandom-executor=ray:127.0.0.1:1")
        assert claims["far"]["outcome"] == "error"
        assert "counts prompts of another model under the same name" in " ".join(said.split())


def test_a_node_that_computes_otherwise_is_named_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pytest.ini").write_text("[pytest]\n")
    shutil.copytree(DEMO, "eval_suites")
    with nodes_in(tmp_path) as found:
        found.add(ATEN_CPU_CAPABILITY="default")
        said, _ = _run(_on(found))
    claims = json.loads(Path("r.json").read_text())["claims"]
    outcomes = {claim["outcome"] for claim in claims}
    assert outcomes == {"passed", "xfailed"}, [claim["message"] for claim in claims]
    used = {claim["engine"]["arithmetic"]["processor"] for claim in claims}
    assert len(used) == 1
    assert "ATEN_CPU_CAPABILITY" not in used.pop()
    (warning,) = {
        each["text"] for claim in claims for each in claim["warnings"] if "node" in each["text"]
    }
    assert "is not used for demo-llama: it computes otherwise than the others" in warning
    assert "ATEN_CPU_CAPABILITY=default" in warning
    assert "is not used for demo-llama: it computes otherwise" in said


def _wanted(spec: ModelSpec, base: Path, **other: str) -> Wanted:
    identity = Backends().identify(located(spec, base))
    known = {"digest": identity.digest, "version": version(), **other}
    return Wanted(
        key=Backends().locate(spec, base).key, spec=spec, base=str(base),
        foretold=identity.arithmetic, generates=False, engine="auto",
        batch_tokens=None, training=None, **known,
    )  # fmt: skip


def test_an_actor_refuses_what_is_not_the_model_that_is_wanted(tmp_path: Path) -> None:
    mock = MockSpec(name="m")
    assert isinstance(ModelActor().start(_wanted(mock, tmp_path)), Arithmetic)
    other = ModelActor().start(_wanted(mock, tmp_path, version="0.0.1"))
    assert isinstance(other, Refused)
    assert other.sentence.endswith("expected 0.0.1; install that there")
    changed = ModelActor().start(_wanted(mock, tmp_path, digest="of other weights"))
    assert isinstance(changed, Refused)
    assert "its files of m differ from those" in changed.sentence
    spec = TransformersSpec(name="./demo-llama")
    lacking = ModelActor().start(replace(_wanted(spec, DEMO), base=str(tmp_path)))
    assert isinstance(lacking, Refused)
    assert lacking.kind == "ModelNotFound"

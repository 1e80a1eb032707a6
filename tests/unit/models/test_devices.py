"""One process at a time has a model on a GPU, and nobody waits while one is free.

The locks and the processes are real; the GPUs are names only.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING

import gpu
import pytest
import torch

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.machine import held
from pytest_maxrandom.models.hf import transformers as backend
from pytest_maxrandom.models.hf.devices import Processors, check_placement
from pytest_maxrandom.suite.models import TransformersSpec

if TYPE_CHECKING:
    from pathlib import Path

WORK = """
import json, pathlib, sys, time
from pytest_maxrandom.models.hf.devices import Processors
from pytest_maxrandom.suite.models import TransformersSpec

log, worker, workers, gpus, said, times = sys.argv[1:]
gpus = gpus.split(",")
processors = Processors(int(worker), int(workers), gpus)
spec = TransformersSpec(name="m", **json.loads(said))
for _ in range(int(times)):
    place = processors.take(spec)
    held = gpus if isinstance(place, str) else [gpus[int(place[""].removeprefix("cuda:"))]]
    for verb in ("takes", "leaves"):
        with open(log, "a") as file:
            file.write("".join(f"{worker} {verb} {gpu}\\n" for gpu in held))
        time.sleep(0.02)
    processors.release()
print("done", flush=True)
"""

ANY, ALL = "{}", '{"device_map": "auto"}'


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of its own, so that other runs on this machine do not matter."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def _start(log: Path, worker: int, gpus: str, said: str, times: int = 10) -> subprocess.Popen[str]:
    arguments = [str(log), str(worker), "4", gpus, said, str(times)]
    return subprocess.Popen([sys.executable, "-c", WORK, *arguments], text=True)


def _spec(**said: str) -> TransformersSpec:
    return TransformersSpec.model_validate({"name": "m", **said})


@pytest.mark.parametrize(
    ("count", "worker", "taken", "chosen"),
    [
        (1, 0, set(), 0),
        (4, 2, set(), 2),
        (4, 6, set(), 2),
        (4, 2, {2}, 3),
        (4, 2, {2, 3}, 0),
        (4, 0, {0, 1, 2}, 3),
    ],
)
def test_a_worker_has_its_own_gpu_or_the_next_free_one(
    count: int, worker: int, taken: set[int], chosen: int
) -> None:
    gpus = [f"GPU {number}" for number in range(count)]
    with ExitStack() as others:
        for number in taken:
            others.enter_context(held("gpu", gpus[number]))
        processors = Processors(worker, 8, gpus, [""] * count)
        assert processors.take(_spec()) == {"": f"cuda:{chosen}"}
        processors.release()


def test_as_many_workers_as_gpus_have_one_each() -> None:
    for count in range(1, 9):
        gpus = [f"GPU {number}" for number in range(count)]
        workers = [Processors(worker, count, gpus, [""] * count) for worker in range(count)]
        taken = [worker.take(_spec()) for worker in workers]
        assert taken == [{"": f"cuda:{number}"} for number in range(count)]
        for worker in workers:
            worker.release()


def _check_one_at_a_time(log: Path, gpus: set[str]) -> None:
    """Check that whoever takes a GPU leaves it before anybody else takes it."""
    owner: dict[str, str] = {}
    used = set()
    for line in log.read_text().splitlines():
        worker, verb, gpu = line.split()
        if verb == "takes":
            assert gpu not in owner, line
            owner[gpu] = worker
            used.add(gpu)
        else:
            assert owner.pop(gpu) == worker, line
    assert not owner
    assert used == gpus


def test_workers_that_are_more_than_the_gpus_wait_for_each_other(tmp_path: Path) -> None:
    log = tmp_path / "log"
    workers = [_start(log, worker, "A,B", ANY) for worker in range(4)]
    assert [worker.wait(60) for worker in workers] == [0] * 4
    _check_one_at_a_time(log, {"A", "B"})
    assert len(log.read_text().splitlines()) == 4 * 10 * 2


def test_models_on_all_gpus_and_models_on_one_take_turns_without_deadlock(tmp_path: Path) -> None:
    log = tmp_path / "log"
    workers = [
        _start(log, 0, "A,B,C", ALL),
        _start(log, 1, "C,B,A", ALL),
        _start(log, 2, "B,C,A", '{"device_map": "balanced"}'),
        _start(log, 3, "A,B,C", '{"device": "cuda:1"}'),
    ]
    assert [worker.wait(60) for worker in workers] == [0] * 4
    _check_one_at_a_time(log, {"A", "B", "C"})


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_the_gpu_of_a_killed_process_is_free(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with _start(log, 0, "A", ANY, times=10**6) as other:
        while not log.exists():
            assert other.poll() is None
        other.send_signal(signal.SIGKILL)
    assert Processors(0, 1, ["A"]).take(_spec()) == {"": "cuda:0"}


def test_a_gpu_is_known_by_what_it_is_not_by_its_number() -> None:
    one, other = Processors(0, 1, ["A", "B"]), Processors(0, 1, ["B", "A"])
    assert one.take(_spec(device="cuda:0")) == {"": "cuda:0"}
    assert other.take(_spec()) == {"": "cuda:0"}
    one.release()
    assert Processors(1, 2, ["B", "A"]).take(_spec()) == {"": "cuda:1"}


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_the_second_terminal_takes_the_second_gpu(device: str) -> None:
    first, second = Processors(0, 1, ["A", "B"]), Processors(0, 1, ["A", "B"])
    assert first.take(_spec(device=device)) == {"": "cuda:0"}
    assert second.take(_spec(device=device)) == {"": "cuda:1"}


def test_who_waits_for_a_gpu_says_so_once() -> None:
    told: list[str] = []
    first = Processors(0, 1, ["A"])

    def tell(sentence: str) -> None:
        told.append(sentence)
        first.release()

    first.take(_spec())
    assert Processors(0, 1, ["A"], tell=tell).take(_spec()) == {"": "cuda:0"}
    assert told == [
        "waiting for a GPU: other processes have models on it; this run continues as soon as it is "
        "free"
    ]


def test_what_is_released_can_be_had() -> None:
    told: list[str] = []
    first, second = (Processors(0, 1, ["A"], tell=told.append) for _ in range(2))
    for _ in range(3):
        assert first.take(_spec()) == {"": "cuda:0"}
        first.release()
        assert second.take(_spec(device_map="auto")) == "auto"
        second.release()
    assert not told


@pytest.mark.parametrize("device", ["cpu", "mps", "xpu:1", "gpu", "cuda:7", "cuda:x"])
def test_what_is_no_gpu_of_this_machine_is_not_locked(temporary: Path, device: str) -> None:
    assert Processors(0, 1, ["A"]).take(_spec(device=device)) == {"": device}
    assert not list(temporary.iterdir())


def test_without_gpus_auto_is_the_cpu_and_nothing_is_locked(temporary: Path) -> None:
    processors = Processors(3, 4, [])
    assert processors.take(_spec()) == {"": "cpu"}
    assert processors.take(_spec(device="cuda")) == {"": "cuda"}  # which torch then refuses
    assert processors.take(_spec(device_map="auto")) == "auto"
    assert not list(temporary.iterdir())


def test_a_model_on_the_processor_does_without_the_gpu_of_its_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before a process has used a GPU, torch refuses to tell or forget what was used of it."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert Processors(0, 1, ["A"]).take(_spec(device="cpu")) == {"": "cpu"}


def test_a_model_that_spills_over_from_its_gpus_is_refused() -> None:
    for places in (["cpu"], ["cuda:0"], ["cuda:0", "cuda:1"], ["cpu", "disk"]):
        check_placement(_spec(device_map="auto"), places)
    with pytest.raises(ModelError) as caught:
        check_placement(_spec(device_map="auto"), ["cuda:0", "cuda:1", "cpu"])
    assert str(caught.value) == (
        "m cannot be loaded: the memory of cuda:0, cuda:1 cannot hold all of it; use a stronger "
        "quantization, a smaller model or more GPUs"
    )


def test_a_model_with_a_device_map_gives_the_same_scores(tiny_llama: Path) -> None:
    from pytest_maxrandom.models.questions import Question

    question = Question("Which of these is a fruit?", (" apple", " stone", " river"))
    found = []
    for said in ({"device": "cpu"}, {"device_map": "auto"}):
        spec = TransformersSpec.model_validate({"name": "m", "quantization": "none", **said})
        model = backend.load(spec, str(tiny_llama))
        assert model.device in ("cpu", "cuda:0")
        found.append(list(model.ask([question]).answers[0].log_likelihoods))
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_without_a_gpu_one_sentence_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    assert "is built for processors only" in (gpu.absent() or "")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.absent() == "torch finds no GPU; `nvidia-smi` says whether the driver does"
    with pytest.raises(SystemExit, match="torch finds no GPU"):
        gpu.main([])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert gpu.absent() is None

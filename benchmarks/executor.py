"""How well a cluster is used, and what the process that leads it has to do for that.

    python -m benchmarks.executor [--prompts NUMBER] [--actors NUMBER ...] [--seconds NUMBER]

A mock model takes 50 ms for each of 10,000 prompts, so that actors wait for nothing that this
machine has little of: what is lost is lost by sending, counting, storing and waiting. Each line is
one sweep with a ledger and a store of its own, by as many actors on a cluster of their own; its
answers are compared with those of one process before a figure is printed. Efficiency is the time
that the prompts take by themselves, divided by actors and by the time of the sweep. The leader's
own work is all of the sweep but its waiting for answers: choosing, counting (with the ledger's
fsync), sending, receiving, predicting, storing.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.ledger import SetLedger, Subject
from pytest_maxrandom.models.mock import MockModel
from pytest_maxrandom.models.registry import Backends
from pytest_maxrandom.suite.models import MockSpec
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.sweeps.cluster.actor import Wanted, version
from pytest_maxrandom.sweeps.cluster.executor import Cluster
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.prompts.sampling import draw_prompts
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, run_sweep
from pytest_maxrandom.tasks.task import Example, Layout, Task

if TYPE_CHECKING:
    from collections.abc import Sequence


N, CHUNK = 100, 10
MOST_MS, LEAST_EFFICIENCY = 20.0, 0.9
EXAMPLES = tuple(Example(f"e{i}", f"Is {i} even?", ("yes", "no"), (i % 2,)) for i in range(2 * N))
TASK = Task("even", EXAMPLES, Layout())


def jobs(prompts: int) -> list[Job]:
    """Return the jobs of a sweep on 100 examples."""
    drawn = draw_prompts(TASK, EXAMPLES[:N], PromptsSpec(shots=[4], count=prompts), 4)
    return jobs_of([(prompt, drawn.scored(prompt)) for prompt in drawn.prompts], "sum_logprob")


def on_cluster(work: list[Job], spec: MockSpec, actors: int, expected: Any) -> dict[str, float]:
    """Sweep on a cluster of its own, and return seconds: of the sweep, and of waiting."""
    import ray

    ray.init(
        "local",
        num_cpus=actors,
        object_store_memory=100 * 2**20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    identity = Backends().identify(Backends().locate(spec, Path()))
    wanted = Wanted(
        key=Backends().locate(spec, Path()).key,
        spec=spec,
        base=".",
        digest=identity.digest,
        foretold=identity.arithmetic,
        generates=False,
        engine="auto",
        batch_tokens=None,
        version=version(),
    )
    subject = Subject("mock", identity.digest, "none", 4, "sum_logprob")
    waited, wait = 0.0, ray.wait

    def waiting(*arguments: Any, **further: Any) -> Any:
        nonlocal waited
        started = time.perf_counter()
        found = wait(*arguments, **further)
        waited += time.perf_counter() - started
        return found

    with tempfile.TemporaryDirectory() as folder:
        ledger = SetLedger(Path(folder) / "ledger", "run", TASK.name, EXAMPLES[:N])
        store = Store(Path(folder) / "results.db")
        cluster = Cluster()
        cluster.start(wanted)
        while len(cluster.fleet.ready(wanted)) < actors:  # loading is not what is measured
            cluster.fleet.start(wanted)
            cluster.pump()

        def begin(sent: Sequence[Job]) -> None:
            ledger.begun(subject, {job.prompt.digest: len(job.examples) for job in sent})

        ray.wait = waiting
        executor = cluster.executor(wanted, begin)
        cpu, started = time.process_time(), time.perf_counter()
        found = run_sweep(
            work,
            executor,
            cache=Cache(store, identity.digest, identity.arithmetic),
            finished=lambda one: ledger.evaluated(
                subject, one.prompt.digest, len(one.examples), one.correct
            ),
        )
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        ray.wait = wait
        assert found.predictions == expected
        assert len(ledger.tries()) == len(work)
        assert store.messages == []
        store.close()
        cluster.close()
    ray.shutdown()
    return {"seconds": seconds, "waited": waited, "cpu": cpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--prompts", type=int, default=10_000)
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=0.05)
    options = parser.parse_args()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    work = jobs(options.prompts)
    spec = MockSpec(name="mock", backend="mock", knows=0.3)
    expected = run_sweep(work, LocalExecutor(partial(MockModel, spec))).predictions
    slow = spec.model_copy(update={"seconds": options.seconds})
    alone = options.prompts * options.seconds
    print(f"{options.prompts:,} prompts of {1000 * options.seconds:g} ms, n = {N}\n")
    print("| actors | seconds | efficiency | leader's work per chunk of 10 | of that, processor |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    targets: list[tuple[str, bool]] = []
    for actors in options.actors:
        found = on_cluster(work, slow, actors, expected)
        efficiency = alone / actors / found["seconds"]
        chunks = options.prompts / CHUNK
        own = 1000 * (found["seconds"] - found["waited"]) / chunks
        cpu = 1000 * found["cpu"] / chunks
        took = f"{found['seconds']:.1f} | {efficiency:.3f}"
        print(f"| {actors} | {took} | {own:.1f} ms | {cpu:.1f} ms |", flush=True)
        work_of = f"with {actors} actors the leader's work per chunk is {own:.1f} ms"
        targets.append((f"{work_of}, expected less than {MOST_MS:g} ms", own < MOST_MS))
        if actors <= 4:
            used = f"with {actors} actors the efficiency is {efficiency:.3f}"
            met = efficiency >= LEAST_EFFICIENCY
            targets.append((f"{used}, expected {LEAST_EFFICIENCY:g} at least", met))
    print()
    for target, met in targets:
        print(f"{'met' if met else 'not met'}: {target}")
    if missed := sum(not met for _, met in targets):
        raise SystemExit(f"{missed} of {len(targets)} targets are not met on this machine.")


if __name__ == "__main__":
    main()

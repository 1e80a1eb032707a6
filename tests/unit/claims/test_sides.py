"""The law of trained suites: no text is on two sides, in whatever spelling, in any replicate."""

from __future__ import annotations

import itertools
import json
import random
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from pytest_maxrandom.tasks.texts import normal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim

CLASSES = ["yes", "no", "perhaps"]
SPELLINGS: list[Callable[[str], str]] = [
    str.upper,
    str.title,
    lambda text: text.replace(" ", "  ") + "\n",
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: text.replace("fi", "\ufb01"),
    lambda text: "\ufeff" + text.replace("no", "n\u200bo"),
    lambda text: text,
]
SUITES = {
    "prompts": "prompts: {shots: [0, 3], count: 4}\n",
    "head": "classify: {examples: 24}\n",
    "other head": "classify: {examples: 24, stratified: false}\n",
    "leave out": "prompts: {shots: [2], count: 4, demonstrations: leave_out}\n",
}


def row(number: int, text: str, lots: random.Random) -> dict[str, Any]:
    """Return a row of one of many clusters."""
    return {
        "id": str(number), "input": text, "choices": CLASSES, "answer": lots.choice(CLASSES),
        "passage": f"passage {number // 3}",
    }  # fmt: skip


def world(folder: Path, seed: int, rest: str, *, pool: bool) -> Path:
    """Write a suite on 300 examples, of which many are copies of others in another spelling."""
    lots = random.Random(seed)
    plain = [f"caf\u00e9 no {k} is fine {lots.choice('abc')}" for k in range(200)]
    texts = plain + [lots.choice(SPELLINGS)(lots.choice(plain)) for _ in range(100)]
    lots.shuffle(texts)
    rows = [row(k, text, lots) for k, text in enumerate(texts)]
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    others = [row(k, lots.choice(SPELLINGS)(lots.choice(texts)), lots) for k in range(60)]
    others += [row(k, f"another text {k}", lots) for k in range(400, 480)]
    (folder / "p.jsonl").write_text("\n".join(map(json.dumps, others)))
    clusters = ", columns: {cluster: passage}" if seed % 2 else ""
    of_pool = ", pool: {path: p.jsonl}" if pool else ""
    path = folder / "s.yaml"
    path.write_text(
        "models: [{name: ./m, quantization: none}]\n"
        "tasks: [{name: t, format: jsonl, path: t.jsonl, validation: {max_examples: 50}, "
        f"test: {{fraction: 0.2}}{clusters}{of_pool}}}]\n"
        "arms: {base: {}, extra: {train: {text: extra}}, test: {train: {text: scored}}}\n"
        "contamination: {base: base, extra: extra, test: test}\n"
        f"allow_unpassable: true\nreplicates: 3\n{rest}"
    )
    (folder / "m").mkdir()
    (folder / "m" / "config.json").write_text("{}")
    return path


def read(claim: PlannedClaim) -> set[str]:
    """Return what the claim's model reads in further pretraining."""
    return set() if claim.training is None else set(map(normal, claim.training.texts))


@pytest.mark.parametrize(
    ("kind", "pool"),
    [
        (kind, pool)
        for kind in SUITES
        for pool in (False, True)
        if not (pool and kind == "leave out")
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_no_text_is_on_two_sides(tmp_path: Path, seed: int, kind: str, pool: bool) -> None:
    rest = SUITES[kind]
    planned = sweeps_of(plan_file(world(tmp_path, seed, rest, pool=pool)))
    closed = {normal(each.text) for each in planned[0].condition.test}
    assert closed
    drawn = set()
    for claim in planned:
        condition = claim.condition
        assert condition.apart is not None
        scored = condition.prompt_set.validation
        labelled = list(itertools.chain(*condition.apart.labelled.values()))
        sides = {
            "scored": {normal(each.text) for each in scored},
            "extra": {normal(each.text) for each in condition.apart.extra},
            "labelled": {normal(each.text) for each in labelled},
            "test": closed,
        }
        for one, other in itertools.combinations(sides, 2):
            assert not sides[one] & sides[other], (one, other)
        shown = {
            normal(each.text)
            for prompt in condition.prompt_set.prompts
            for each in prompt.demonstrations
            if each.id not in {one.id for one in scored}
        }
        for name, side in sides.items():
            assert not shown & side, name
        clusters = {each.cluster for each in scored if each.cluster is not None}
        assert not clusters & {each.cluster for each in (*condition.apart.extra, *labelled)}
        arm = claim.arm.key
        if arm == "base":
            assert not read(claim)
        elif arm == "extra":
            assert read(claim) == sides["extra"]
            assert len(read(claim)) == len(scored)
        else:
            assert read(claim) == sides["scored"]
        drawn.add((claim.replicate, frozenset(sides["scored"]), frozenset(sides["extra"])))
    assert len(drawn) == 3 == len({scored for _, scored, _ in drawn})


@pytest.mark.parametrize("kind", SUITES)
def test_arms_differ_in_the_texts_of_their_further_pretraining_alone(
    tmp_path: Path, kind: str
) -> None:
    planned = sweeps_of(plan_file(world(tmp_path, 0, SUITES[kind], pool=False)))
    alike: dict[tuple[int, int | None], list[PlannedClaim]] = {}
    for claim in planned:
        alike.setdefault((claim.replicate, claim.shots), []).append(claim)
    assert {replicate for replicate, _ in alike} == {0, 1, 2}
    for base, extra, test in alike.values():
        assert [each.arm.key for each in (base, extra, test)] == ["base", "extra", "test"]
        assert base.model == extra.model == test.model
        sets = [each.condition.prompt_set for each in (base, extra, test)]
        assert sets[0].digests == sets[1].digests == sets[2].digests
        assert sets[0].validation == sets[1].validation == sets[2].validation
        one, other = extra.training, test.training
        assert one is not None
        assert other is not None
        assert one.settings is not None
        assert other.settings is not None
        assert one.settings.model_copy(update={"text": "scored"}) == other.settings
        assert (one.classify, one.labelled, one.labels, one.seed) == (
            other.classify, other.labelled, other.labels, other.seed,
        )  # fmt: skip
        if base.training is not None:
            assert base.training.settings is None
            assert base.training.labelled == one.labelled
            assert base.training.seed == one.seed
    seeds = {claim.training.seed for claim in planned if claim.training is not None}
    assert len(seeds) == 3

"""Recorded results that are partly filled, contradict themselves or tell next to nothing.

Each is refused in one sentence that says where and what to do, or judged; none passes in silence.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import SuiteError
from tests.unit.recorded.logs.inspect_logs import Log, write_json
from tests.unit.recorded.logs.lm_eval_logs import Document, Run, write_run
from tests.unit.recorded.suites import judged, planned, suite_text, write_csv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T, N = 3, 40
TEXTS = ("red", "green")
LETTERS = "AB"
NAN, INF = math.nan, math.inf


@dataclass
class Results:
    """What t prompts answered to n examples, cell by cell, as each format would write it."""

    gold: list[Any] = field(default_factory=list)
    """Per example the places of its right choices; anything else is written as it is."""
    said: list[list[Any]] = field(default_factory=list)
    """Per prompt and example the place of its answer; anything else is written as it is."""
    choices: list[Any] = field(default_factory=list)
    """Per example its choices."""
    ids: list[str] = field(default_factory=list)
    clusters: list[str] | None = None
    scores: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    """Log-likelihoods of some cells, in place of 0 for the answer and -1 for others."""

    @classmethod
    def knowing(cls, n: int = N) -> Results:
        """Return prompts that are right on about nine of ten examples."""
        random = np.random.default_rng(3)
        gold = random.permutation(np.arange(n) % 2)
        said = np.where(random.random((T, n)) < 0.9, gold, 1 - gold)
        return cls(
            [[int(right)] for right in gold],
            said.tolist(),
            [list(TEXTS)] * n,
            [f"e{number}" for number in range(n)],
        )

    def likelihoods(self, prompt: int, place: int) -> list[Any]:
        if (prompt, place) in self.scores:
            return self.scores[prompt, place]
        size = len(self.choices[place] or TEXTS)
        return [0.0 if self.said[prompt][place] == each else -1.0 for each in range(size)]


def _text(value: Any, choices: Any) -> Any:
    """Return the choice at a place, or what is no place as it is."""
    known = choices if isinstance(choices, list) else list(TEXTS)
    return known[value] if isinstance(value, int) and 0 <= value < len(known) else value


def _rows(given: Results) -> list[dict[str, Any]]:
    return [
        {
            "prompt": f"p{prompt}",
            "example": given.ids[place],
            "prediction": _text(answer, given.choices[place]),
            "gold": [_text(right, given.choices[place]) for right in given.gold[place]]
            if isinstance(given.gold[place], list)
            else given.gold[place],
            "choices": given.choices[place],
            "shots": 0,
        }
        | ({} if given.clusters is None else {"cluster": given.clusters[place]})
        for prompt, answers in enumerate(given.said)
        for place, answer in enumerate(answers)
    ]


def jsonl(given: Results, folder: Path) -> str:
    (folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _rows(given)))
    return "r.jsonl, format: table"


def in_csv(given: Results, folder: Path) -> str:
    write_csv(folder / "r.csv", _rows(given))
    return "r.csv, format: table"


def npz(given: Results, folder: Path) -> str:
    gold = [right[0] if isinstance(right, list) and right else right for right in given.gold]
    said = [[-1 if answer is None else answer for answer in row] for row in given.said]
    sizes = [0 if each is None else len(each) for each in given.choices]
    texts = [[*(each or []), "", ""][: max(sizes)] for each in given.choices]
    arrays: dict[str, Any] = {
        "prompt_ids": np.arange(len(said)),
        "example_ids": np.array(given.ids),
        "answers": np.array(said),
        "gold": np.array([-1 if right in (None, []) else right for right in gold]),
        "choice_texts": np.array(texts),
    }
    if given.scores:
        arrays["log_likelihoods"] = np.array(
            [[given.likelihoods(row, at) for at in range(len(given.ids))] for row in range(T)]
        )
    if given.clusters is not None:
        arrays["clusters"] = np.array(given.clusters)
    np.savez(folder / "m.npz", **{f"a__0__{name}": each for name, each in arrays.items()})
    return "m.npz, format: npz"


def predictions(given: Results, folder: Path) -> str:
    lines = []
    for prompt, answers in enumerate(given.said):
        cells = [
            {
                "id": given.ids[place],
                "chosen": answer,
                "right": given.gold[place],
                "choices": len(given.choices[place] or TEXTS),
                "log_likelihoods": given.likelihoods(prompt, place),
                "tokens": [1] * len(given.choices[place] or TEXTS),
                "margin": 1.0,
                "labels": [*range(len(given.choices[place] or TEXTS))],
                **({"listed": given.choices[place]} if given.choices[place] else {}),
                **({} if given.clusters is None else {"cluster": given.clusters[place]}),
            }
            for place, answer in enumerate(answers)
        ]
        heading = {"schema_version": 1, "claim": "c", "task": "a", "model": "m", "shots": 0,
                   "quantization": "none", "scoring": "cloze", "demonstration_ids": []}  # fmt: skip
        lines.append(heading | {"prompt": f"p{prompt}", "examples": cells})
    (folder / "p.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return "p.jsonl, format: predictions"


def lm_eval(given: Results, folder: Path) -> str:
    for prompt in range(T):
        documents = [_document(given, prompt, place) for place in range(len(given.ids))]
        samples = write_run(
            folder,
            Run(
                documents,
                time=f"2026-01-01T12-30-{prompt:02}.123456",
                task="a",
                shots=0,
                model_args="pretrained=m",
                task_hash=str(prompt),
            ),
        )
        lines = [json.loads(line) for line in samples.read_text().splitlines()]
        for line, right in zip(lines, given.gold, strict=True):
            line["target"] = right[0] if isinstance(right, list) and len(right) == 1 else right
        samples.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return "., format: lm_eval"


def _document(given: Results, prompt: int, place: int) -> Document:
    values = given.likelihoods(prompt, place)
    return Document(
        [f" {text}" for text in given.choices[place] or []],
        values if given.choices[place] else [],
        "",
        acc=float(given.gold[place] == [int(np.argmax(values))]),
        context=f"{prompt} {place}",
    )


@dataclass
class _Log(Log):
    given: Results = field(default_factory=Results)
    prompt: int = 0

    def sample(self, place: int, epoch: int) -> dict[str, Any]:
        answer, right = self.given.said[self.prompt][place], self.given.gold[place]
        known = isinstance(answer, int) and 0 <= answer < len(LETTERS)
        target = right
        if isinstance(right, list):
            target = [LETTERS[each] if isinstance(each, int) else each for each in right]
        value = "C" if isinstance(right, list) and answer in right else "I"
        shown = LETTERS[answer] if known else answer
        return super().sample(place, epoch) | {
            "id": self.given.ids[place],
            "choices": self.given.choices[place],
            "target": target,
            "scores": {"choice": {"value": value, "answer": shown}},
        }


def inspect(given: Results, folder: Path) -> str:
    for prompt in range(T):
        log = _Log(
            answers="A" * len(given.ids),
            targets="A" * len(given.ids),
            system=f"prompt {prompt}",
            created=f"2026-01-01T12:00:{prompt:02}+00:00",
            task_args={"num_fewshot": 0},
            given=given,
            prompt=prompt,
        )
        data = {"samples": len(given.ids), "sample_ids": given.ids}
        changed = log.content()["eval"] | {"model": "m", "task": "a", "dataset": data}
        log.changes = {"eval": changed}
        write_json(folder / f"{prompt}.json", log)
    return "., format: inspect"


WAYS = {
    "jsonl": jsonl,
    "csv": in_csv,
    "npz": npz,
    "predictions": predictions,
    "lm_eval": lm_eval,
    "inspect": inspect,
}


def _gold(value: Any) -> Callable[[Results], None]:
    def change(given: Results) -> None:
        given.gold[N // 2 :] = [value] * (N - N // 2)

    return change


def _choices(given: Results) -> None:
    given.choices[N // 2 :] = [None] * (N - N // 2)


def _kinds(given: Results) -> None:
    given.gold[0], given.gold[1], given.gold[2] = 0, "green", ["green"]


def _said(value: Any) -> Callable[[Results], None]:
    def change(given: Results) -> None:
        given.said[1][3] = value

    return change


def _score(value: Any) -> Callable[[Results], None]:
    def change(given: Results) -> None:
        given.scores[1, 3] = [value, -1.0]

    return change


def _ties(given: Results) -> None:
    given.scores |= {(row, place): [-1.0, -1.0] for row in range(T) for place in range(N)}


def _letters(given: Results) -> None:
    given.choices = [["A", "B"]] * N


def _cluster(given: Results) -> None:
    given.clusters = ["one"] * N


def _item(given: Results) -> None:
    given.choices = [["all", f"w{number}"][:: 1 - 2 * (number % 2)] for number in range(N)]


def _preferred(given: Results) -> None:
    _item(given)
    everywhere = [number % 2 for number in range(N)]
    given.gold = [
        [place if number % 10 < 7 else 1 - place] for number, place in enumerate(everywhere)
    ]
    given.said = [everywhere] * T


def _one(given: Results) -> None:
    del given.gold[1:], given.choices[1:], given.ids[1:]
    for row in given.said:
        del row[1:]


def _alike(given: Results) -> None:
    for row in given.said:
        row[:] = [int(answer not in right) for answer, right in zip(row, given.gold, strict=True)]
    given.gold = [[0]] * N


def _twice(given: Results) -> None:
    given.ids[1] = given.ids[0]
    given.gold[0], given.gold[1] = [0], [1]


HOSTILE: dict[str, Callable[[Results], None]] = {
    "as it should be": lambda _: None,
    "gold of a part: null": _gold(None),
    "gold of a part: empty": _gold(""),
    "gold of a part: no list": _gold([]),
    "choices of a part": _choices,
    "gold of several kinds": _kinds,
    "gold is NaN": _gold(NAN),
    "an answer is NaN": _said(NAN),
    "an answer is NaN in letters": _said("NA"),
    "an answer is infinite": _said(INF),
    "an answer is missing": _said(None),
    "an answer is no choice": _said("blue"),
    "an answer is beyond the choices": _said(7),
    "a score is NaN": _score(NAN),
    "a score is infinite": _score(INF),
    "ties": _ties,
    "choices are letters": _letters,
    "one cluster": _cluster,
    "one item in all pairs": _item,
    "one item in all pairs, and always said": _preferred,
    "one example": _one,
    "all gold alike": _alike,
    "one id, other gold": _twice,
}


TABLES = ("jsonl", "csv")
NO_GOLD = {
    "jsonl": r"r.jsonl:21: gold is empty; give every row a value",
    "csv": r"r.csv:22: gold is empty; give every row a value",
    "npz": r"gold: found .* for example 'e20', .*; leave out examples whose right answer is not",
    "predictions": r"p.jsonl:1: 'examples\[20\].right': found .*, but input should be a valid",
    "lm_eval": r"jsonl:21: the target of document 20 is '.*', which is none of its .*; repair the",
    "inspect": "cannot tell: only right and wrong are known",
}
NO_INTEGERS = r"m.npz: a__0__(gold|answers): found values of the type .*, expected integers"
NOT_CHOSEN = r"p.jsonl:2: 'examples\[3\].chosen': found .*, but input should be a valid integer"
NO_JSON = r"r.jsonl:\d+: .* is not valid JSON; write null where there is no value"
NO_CHANCE = r"s.yaml:4: tasks\[0\]: the results do not give the chance .*; give `chance`, such as"
MISSING = r"r.\w+:\d+: .*: prediction is '(nan|NA)', as programs write where .*; write a word such"
NO_SUCH_GOLD = r":\d+: .* has the gold label '0', which is none of its .*; write the texts"
ALWAYS_RIGHT = (
    "cannot tell: .* right answers that could be shuffled are the same: add examples with other "
    r"right answers \(best"
)
EXPECTED: dict[str, dict[str, str]] = {
    "as it should be": dict.fromkeys(WAYS, "passes"),
    "gold of a part: null": NO_GOLD,
    "gold of a part: empty": NO_GOLD | {"npz": NO_INTEGERS},
    "gold of a part: no list": NO_GOLD
    | dict.fromkeys(TABLES, "gold is an empty list; give at least one right answer")
    | {"predictions": r"p.jsonl:1: example 'e20': 'right' is \[\], expected different indices"},
    "choices of a part": dict.fromkeys(
        TABLES, ": choices is '', expected a whole number from 2 on, or"
    )
    | {
        "npz": "choice_texts: found 0 texts for example 'e20'; give a text for each choice",
        "predictions": "p.jsonl:1: example 'e20' has the listed choices None, but .*; keep",
        "lm_eval": NO_CHANCE,
        "inspect": NO_CHANCE,
    },
    "gold of several kinds": dict.fromkeys(TABLES, NO_SUCH_GOLD)
    | {
        "npz": NO_INTEGERS,
        "predictions": r"'examples\[0\].right': found 0, but input should be a valid array",
        "lm_eval": "jsonl:2: the target of document 1 is 'green', which is none of its choices",
        "inspect": NO_GOLD["inspect"],
    },
    "gold is NaN": NO_GOLD
    | {
        "jsonl": NO_JSON,
        "csv": r"r.csv:22: .*: gold is 'nan', as programs write where a value is missing; leave",
        "npz": NO_INTEGERS,
    },
    "an answer is NaN in letters": dict.fromkeys(TABLES, MISSING)
    | {"npz": NO_INTEGERS, "predictions": NOT_CHOSEN, "inspect": "passes"},
    "choices are letters": dict.fromkeys(
        ("lm_eval", "inspect"), "cannot tell: knowledge cannot be distinguished from a preferred t"
    ),
    "an answer is NaN": {
        "jsonl": NO_JSON,
        "csv": MISSING,
        "npz": NO_INTEGERS,
        "predictions": NOT_CHOSEN,
        "inspect": "passes",
    },
    "an answer is infinite": {
        "jsonl": NO_JSON,
        "csv": "passes",
        "npz": NO_INTEGERS,
        "predictions": NOT_CHOSEN,
        "inspect": "passes",
    },
    "an answer is missing": dict.fromkeys(
        TABLES, "prediction is empty; write a word such as 'none'"
    )
    | {
        "npz": "prompt '1' was scored on 39 examples and '0' on 40, .*; finish the interrupted run",
        "predictions": "passes",
        "inspect": "passes",
    },
    "an answer is no choice": dict.fromkeys((*TABLES, "inspect"), "passes")
    | {"npz": NO_INTEGERS, "predictions": NOT_CHOSEN},
    "an answer is beyond the choices": dict.fromkeys((*TABLES, "inspect"), "passes")
    | {
        "npz": "answers: found 7 for prompt '1' and example 'e3', which has the choices 0 to 1",
        "predictions": "example 'e3': 'chosen' is 7, expected an index below 2",
    },
    "a score is NaN": {
        "npz": r"log_likelihoods: found numbers at \[1\] for .*; give a number for each choice",
        "predictions": "p.jsonl:2: example 'e3': 'log_likelihoods' has nan, expected .*; find out",
        "lm_eval": r"jsonl:4: 'filtered_resps' has \['nan', 'False'\], expected .*; find out",
    },
    "a score is infinite": {
        "npz": "log_likelihoods: found infinity for .*, expected numbers of nats",
        "predictions": "p.jsonl:2: example 'e3': 'log_likelihoods' has inf, expected .*; find out",
        "lm_eval": r"jsonl:4: 'filtered_resps' has \['inf', 'False'\], expected .*; find out",
    },
    "ties": {
        "npz": "every choice of every example has the same log-likelihood, .*; find out what",
        "predictions": "fails: best .*; red flag: tied_scores",
        "lm_eval": "every choice of every example has the same log-likelihood, .*; find out what",
    },
    "one cluster": dict.fromkeys(
        (*TABLES, "npz", "predictions"),
        "cannot tell: right answers can be exchanged among 1 cluster only, .*: collect more",
    ),
    "one item in all pairs": dict.fromkeys(WAYS, "passes"),
    "one item in all pairs, and always said": dict.fromkeys(
        WAYS, r"fails: best \.700, needs .*permutation p > \.999"
    ),
    "one example": dict.fromkeys(WAYS, r"fails: best 1\.000; no accuracy can pass"),
    "all gold alike": dict.fromkeys(WAYS, ALWAYS_RIGHT),
    "one id, other gold": {
        "jsonl": "r.jsonl:2: .*: prompt 'p0' already has an answer to example 'e0' in line 1; keep",
        "csv": "r.csv:3: .*: prompt 'p0' already has an answer to example 'e0' in line 2; keep one",
        "npz": "the example id 'e0' stands for more than one column; give every example an id",
        "predictions": "p.jsonl:1: 'examples' must name .*each only once; keep the lines",
        "inspect": r"0.json: samples\[1\]: sample 'e0' appears twice; keep one",
    },
}
"""What is said by each way in that can carry it; a verdict, or why the results are refused.

What is answered and is no choice is a wrong answer, of which one changes no verdict here.
"""


def said(way: str, kind: str, folder: Path) -> str:
    given = Results.knowing()
    HOSTILE[kind](given)
    text = suite_text("{name: a}", model=WAYS[way](given, folder))
    try:
        [claim] = planned(folder, text)
    except SuiteError as error:
        [problem] = error.problems
        return str(problem)
    record = judged(claim)
    if record.passed is None:
        return str(record.message)
    return "passes" if record.passed else f"fails: {record.message}"


@pytest.mark.parametrize(
    ("kind", "way"), [(kind, way) for kind, ways in EXPECTED.items() for way in ways]
)
def test_it_is_refused_in_one_sentence_or_judged(kind: str, way: str, tmp_path: Path) -> None:
    found = said(way, kind, tmp_path)
    assert "\n" not in found
    assert re.search(EXPECTED[kind][way], found), found


def test_nothing_hostile_is_left_out() -> None:
    assert EXPECTED.keys() == HOSTILE.keys()


@pytest.mark.parametrize("way", EXPECTED["one cluster"])
def test_p_max_by_name_is_judged_where_there_is_one_cluster(way: str, tmp_path: Path) -> None:
    given = Results.knowing()
    HOSTILE["one cluster"](given)
    model = WAYS[way](given, tmp_path)
    text = suite_text("{name: a, assert: {p_max: 0.05}}", model=model)
    [claim] = planned(tmp_path, text)
    record = judged(claim)
    assert (record.passed, record.passes_on) == (True, "p_max only")
    assert record.permutation_p is None
    assert record.failing_flags == []
    [note] = [each for each in record.notes if each.kind == "no_permutations"]
    assert "only 1 of the clusters can take each other's right answers" in note.values["why"]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("hits", [N, N - 1])
def test_where_one_answer_is_always_right_nothing_can_be_told_with_or_without_predictions(
    told: bool, hits: int, tmp_path: Path
) -> None:
    """Nobody can be better, so it is not the prompts that fail; p_max by name is no way out."""
    rows = [
        {"prompt": f"p{prompt}", "example": f"e{place}", "gold": "yes", "choices": ["yes", "no"],
         **({"prediction": "yes" if place < hits else "no"} if told else {"correct": place < hits})}
        for prompt in range(T) for place in range(N)
    ]  # fmt: skip
    write_csv(tmp_path / "r.csv", rows)
    for asserted in ("", ", assert: {p_max: 0.05}"):
        text = suite_text(f"{{name: t{asserted}}}", model="r.csv, format: table, shots: 0")
        [claim] = planned(tmp_path, text)
        record = judged(claim)
        assert "majority" in {flag.kind for flag in record.red_flags}
        if asserted:
            assert record.passed is False
        else:
            assert record.passed is None
            assert record.cannot_tell is not None
            assert record.cannot_tell.kind == "one_right_answer"
            assert "p_max` by name" not in record.cannot_tell.text
            # It is told beside guessers, not beside those who are always right.
            assert (record.max_random_baseline or 1) < 1

"""Suites of models behind a server run whole, and no key is left anywhere."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.ledger import FOLDER
from tests.any_score import SUITES, right_answer, write_suites
from tests.hashed_model import decoded
from tests.plugin.conftest import flat
from tests.served import FakeServer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITE = """
models:
- {{name: far, backend: vllm, url: "{url}", served_model: the-model, timeout: 2{more}}}
tasks:
- {{name: parity, format: csv, path: parity.csv,
   columns: {{input: question, choices: [A, B], answer: answer}},
   validation: {{max_examples: 8}}}}
prompts: {{shots: 1, count: 3, instructions: [""]}}
assert: report
"""
KEY = "s3cret-of-the-runner"


@pytest.fixture
def server(pytester: pytest.Pytester) -> Iterator[FakeServer]:
    rows = "".join(f"Is {n} even?,True,False,{n % 2 == 0}\n" for n in range(12))
    (pytester.path / "parity.csv").write_text("question,A,B,answer\n" + rows)
    with serving("vllm") as running:
        yield running


def _run(
    pytester: pytest.Pytester, server: FakeServer, *arguments: str, more: str = ""
) -> tuple[pytest.RunResult, list[Any]]:
    suite = SUITE.format(url=server.url, more=more).replace("vllm", server.dialect)
    (pytester.path / "s.maxrandom.yaml").write_text(suite)
    report = pytester.path / "r.json"
    report.unlink(missing_ok=True)
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md", *arguments)
    claims: list[Any] = json.loads(report.read_text())["claims"] if report.is_file() else []
    return result, claims


def _said(pytester: pytest.Pytester, result: pytest.RunResult) -> str:
    """Return all that a run has written: files, and what it shows."""
    files = [file for file in pytester.path.rglob("*") if file.is_file()]
    written = "".join(file.read_bytes().decode("latin-1") for file in files)
    return written + result.stdout.str() + result.stderr.str()


def test_the_report_says_what_was_asked_and_checked(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    result, (claim,) = _run(pytester, server)
    result.assert_outcomes(passed=1)
    assert (claim["n"], claim["t"]) == (8, 3)
    assert claim["engine"]["device"].startswith("vllm at 127.0.0.1:")
    # Answers of one token are told after one text, along which nothing has to be forced.
    assert claim["engine"]["engine"] == "walk"
    assert claim["engine"]["handshake"] == {
        "server": "vLLM", "version": "1.2.3", "model": "the-model", "tested": "vLLM 0.32.0",
        "tokenized": 0, "repeated": 0.0, "local": None,
    }  # fmt: skip
    report = (pytester.path / "r.md").read_text()
    assert "the-model of vLLM 1.2.3" in report
    assert "servers are asked in this way in tests with vLLM 0.32.0" in report
    assert "asked twice, in two orders, log-likelihoods differ by at most 0 nats" in report


def test_an_incumbent_is_one_more_prompt_to_a_server_and_asked_once(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    text = SUITE.format(url=server.url, more="").replace("report", "{better_than: incumbent}")
    text += "incumbent: {instruction: 'Old: '}\n"
    (pytester.path / "s.maxrandom.yaml").write_text(text)
    found = []
    for _ in range(2):
        pytester.runpytest("--maxrandom-json=r.json")
        [claim] = json.loads((pytester.path / "r.json").read_text())["claims"]
        asked = sum("Old: " in json.dumps(body) for _, body in server.bodies)
        found.append((claim["t"], claim["incumbent"], asked))
    assert found[0] == found[1]
    assert (found[0][0], found[0][1]["n"], found[0][1]["model"]) == (3, 8, "far")
    assert found[0][2] > 0
    # The stored answers are stale with another server, and the incumbent is asked again.
    listed = text.replace('shots: 1, count: 3, instructions: [""]', "shots: 0, instructions: [x]")
    stored = listed.replace("{instruction: 'Old: '}", "{answers: old.jsonl}")
    (pytester.path / "s.maxrandom.yaml").write_text(
        listed.partition("incumbent:")[0].replace("{better_than: incumbent}", "report")
    )
    pytester.runpytest("--maxrandom-predictions=old.jsonl")
    (pytester.path / "s.maxrandom.yaml").write_text(stored)
    assert " stale" not in flat(pytester.runpytest())
    server.version = "9"
    assert "the answers of old.jsonl are stale: the digest of the" in flat(pytester.runpytest())
    (pytester.path / "s.maxrandom.yaml").write_text(text)
    before = sum("Old: " in json.dumps(body) for _, body in server.bodies)
    pytester.runpytest()
    assert sum("Old: " in json.dumps(body) for _, body in server.bodies) == before + found[0][2]


@pytest.mark.usefixtures("server")
def test_the_report_says_that_a_way_was_tested_with_a_fake_only(
    pytester: pytest.Pytester,
) -> None:
    with serving("sglang") as other:
        result, (claim,) = _run(pytester, other)
    result.assert_outcomes(passed=1)
    assert claim["engine"]["engine"] == "batch"
    report = (pytester.path / "r.md").read_text()
    assert "tested with a fake server only, never with a real one" in report


def test_a_second_run_and_another_address_compute_nothing_and_count_no_further_try(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    _, (first,) = _run(pytester, server)
    with serving("vllm") as twin:
        _, (second,) = _run(pytester, twin)
        # It is asked only what tells whether it is the same model.
        asked = [body["prompt"] for path, body in twin.bodies if path == "/v1/completions"]
        assert asked
        assert not [ids for ids in asked if "even?" in decoded(ids)]
    assert (second["t"], second["correct_counts"]) == (first["t"], first["correct_counts"])
    assert second["engine"]["reused"] == 3
    server.model = "the-model"
    server.version = "9"
    _, (third,) = _run(pytester, server)
    assert (third["t"], third["engine"]["reused"]) == (3, 0)


def _refused(result: pytest.RunResult, what: str) -> None:
    """Assert that a run was refused, in one sentence with both origins and the way out."""
    result.assert_outcomes(errors=1)
    told = flat(result)
    assert f"{what} another model under the same name (" in told
    assert told.count("vLLM 1.2.3 with the-model") >= 2
    assert "serve the model of before, or write `revision: WORD` under the model" in told


def test_other_weights_under_the_same_name_are_refused_until_they_have_a_word_of_their_own(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    _, (first,) = _run(pytester, server)
    (server_of_first,) = first["engine"]["servers"]
    assert server_of_first.startswith("vllm at 127.0.0.1:")
    server.seed = "other"
    result, _ = _run(pytester, server)
    _refused(result, "counts prompts of")
    result, _ = _run(pytester, server, "--maxrandom-fresh")
    _refused(result, "counts prompts of")

    _, (other,) = _run(pytester, server, more=", revision: b")
    assert (other["t"], other["engine"]["reused"]) == (6, 0)
    assert other["model_digest"] != first["model_digest"]
    # The one of before, started again, is the one of before.
    server.seed = ""
    _, (again,) = _run(pytester, server)
    assert (again["t"], again["engine"]["reused"]) == (6, 3)
    assert again["correct_counts"] == first["correct_counts"]
    assert again["engine"]["servers"] == [server_of_first]


def test_another_name_and_another_word_for_the_same_weights_begin_no_count_anew(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    _run(pytester, server)
    renamed = SUITE.replace("name: far", "name: new").format(url=server.url, more=", revision: b")
    (pytester.path / "s.maxrandom.yaml").write_text(renamed)
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1)
    (claim,) = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert claim["t"] == 6
    # Other weights are another model under another name.
    server.seed = "other"
    other = SUITE.replace("name: far", "name: third").format(url=server.url, more=", revision: c")
    (pytester.path / "s.maxrandom.yaml").write_text(other)
    pytester.runpytest("--maxrandom-json=r.json").assert_outcomes(passed=1)
    (claim,) = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert claim["t"] == 3


@pytest.mark.parametrize(
    ("lost", "what"), [("store", "counts prompts of"), ("ledger", "has answers of")]
)
def test_what_is_left_of_a_run_is_enough_to_know_another_model(
    pytester: pytest.Pytester, server: FakeServer, lost: str, what: str
) -> None:
    _run(pytester, server, "--maxrandom-store=kept/results.db")
    server.seed = "other"
    shutil.rmtree(pytester.path / ("kept" if lost == "store" else FOLDER))
    result, _ = _run(pytester, server, "--maxrandom-store=kept/results.db")
    _refused(result, what)


def test_generated_answers_know_another_model_as_well(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    generates = "scoring: generate\n" + SUITE
    for seed, errors in (("", 0), ("", 0), ("other", 1)):
        server.seed = seed
        (pytester.path / "s.maxrandom.yaml").write_text(generates.format(url=server.url, more=""))
        pytester.runpytest().assert_outcomes(passed=1 - errors, errors=errors)


@pytest.mark.slow
def test_open_answers_grades_and_samples_are_asked_of_a_server(
    pytester: pytest.Pytester, server: FakeServer
) -> None:
    server.says = lambda text: (right_answer(text), "stop")
    model = f'{{name: far, backend: vllm, url: "{server.url}", served_model: the-model}}'
    write_suites(pytester.path / "eval_suites", model)
    pytester.runpytest("eval_suites", "--maxrandom-json=r.json").assert_outcomes(passed=len(SUITES))
    claims = json.loads((pytester.path / "r.json").read_text())["claims"]
    assert {claim["best_accuracy"] for claim in claims} == {1}
    # For each scoring 4 prompts to 40 examples: once, and three times whatever these come to.
    asked = [claim["engine"]["requests"] for claim in claims]
    assert sum(asked) == 2 * 4 * 40 * (1 + 3)


@pytest.mark.slow
def test_what_a_server_writes_is_graded(pytester: pytest.Pytester, server: FakeServer) -> None:
    def says(text: str) -> tuple[str, str]:
        right = right_answer(text)
        return (right if right.startswith("Ann") else right.split()[0]), "stop"

    server.says = says
    model = f'{{name: far, backend: vllm, url: "{server.url}", served_model: the-model}}'
    write_suites(pytester.path / "eval_suites", model)
    words = ("--maxrandom-json=r.json", "--maxrandom-predictions=p.jsonl")
    pytester.runpytest("eval_suites/grades.yaml", *words).assert_outcomes(passed=1)
    [claim] = json.loads((pytester.path / "r.json").read_text())["claims"]
    found = [json.loads(line) for line in (pytester.path / "p.jsonl").read_text().splitlines()]
    # One token of three that are right: precision 1, recall 1/3.
    expected = [
        [1 if " met " in each["text"] else 0.5 for each in line["examples"]] for line in found
    ]
    assert [[each["score"] for each in line["examples"]] for line in found] == expected
    assert claim["mean_scores"] == pytest.approx([sum(row) / len(row) for row in expected])
    assert 0.5 < claim["best_accuracy"] < 1
    assert (claim["metric"], claim["judge"]) == ("score", "f1")


@pytest.mark.slow
@pytest.mark.parametrize("way", [("-n", "2"), ("--maxrandom-executor=ray:127.0.0.1:1",)])
def test_workers_and_ray_refuse_another_model_and_know_the_same_one(
    pytester: pytest.Pytester, server: FakeServer, way: tuple[str, ...]
) -> None:
    if "ray" in way[0]:
        pytest.importorskip("ray", reason="ray is not installed")
    _, claims = _run(pytester, server, *way)
    assert len(claims) == 1
    _, (again,) = _run(pytester, server, *way)
    assert again["engine"]["reused"] == 3
    server.seed = "other"
    result, _ = _run(pytester, server, *way)
    _refused(result, "counts prompts of")
    with serving("vllm") as restarted:
        _, (again,) = _run(pytester, restarted, *way)
    assert again["engine"]["reused"] == 3


@pytest.mark.slow
def test_shards_of_two_models_are_not_joined(
    pytester: pytest.Pytester, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (pytester.path / "s.maxrandom.yaml").write_text(SUITE.format(url=server.url, more=""))
    assert main(["shards", ".", "--into", "2", "--out", "parts"]) == 0
    assert main(["run-shard", "parts", "1"]) == 0
    server.seed = "other"
    assert main(["run-shard", "parts", "2"]) == 0
    assert main(["join", "parts"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "shard 2: another shard has answers of another model under the same name" in told
    # A shard that goes on with another model is refused as well.
    assert main(["run-shard", "parts", "1"]) == 2
    server.seed = ""
    shutil.rmtree(pytester.path / "parts/shard-2")
    assert main(["run-shard", "parts", "2"]) == 0
    assert main(["join", "parts"]) == 0


def test_no_key_is_left_anywhere(
    pytester: pytest.Pytester, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    monkeypatch.setenv("MAXRANDOM_API_KEYS", "127.0.0.1=THE_KEY")
    result, _ = _run(pytester, server, more=", api_key_env: THE_KEY")
    result.assert_outcomes(passed=1)
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert KEY not in _said(pytester, result)
    server.faults["refuse"] = True
    result, _ = _run(pytester, server, "--maxrandom-fresh", "-vv", more=", api_key_env: THE_KEY")
    result.assert_outcomes(errors=1)
    assert "bad key Bearer ***" in result.stdout.str()
    assert KEY not in _said(pytester, result)


@pytest.mark.parametrize("secret", ["me:{}@127.0.0.1", "127.0.0.1/?key={}", "127.0.0.1#{}"])
def test_a_secret_in_an_address_is_refused_and_shown_nowhere(
    pytester: pytest.Pytester, server: FakeServer, secret: str
) -> None:
    server_of = SUITE.replace("{url}", "http://" + secret.format(KEY)).replace("{more}", "")
    (pytester.path / "s.maxrandom.yaml").write_text(server_of.format())
    result = pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*s.maxrandom.yaml:3: models*.url: expected an address without*"])
    (pytester.path / "s.maxrandom.yaml").unlink()
    assert KEY not in _said(pytester, result)


@pytest.mark.parametrize(
    ("more", "environment", "expected"),
    [
        (", api_key_env: THE_KEY", "", "*the key in THE_KEY is not sent to 127.0.0.1:*"),
        (
            ", api_key_env: THE_KEY",
            "127.0.0.1=THE_KEY",
            "*THE_KEY that `api_key_env` names is not*",
        ),
        (", tokenizer: ./nowhere", "", "s.maxrandom.yaml:3: models*tokenizer: there is no folder*"),
        (", tokenizer: .", "", "s.maxrandom.yaml:3: models*the folder . holds no tokenizer as*"),
        (
            ", served_model: other",
            "",
            "s.maxrandom.yaml:3: *serves no model 'other'; it serves 'the-model'*",
        ),
        (", tokenizer: nowhere", "", "*the tokenizer nowhere cannot be loaded*"),
    ],
)
def test_a_mistake_is_one_sentence(
    pytester: pytest.Pytester,
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    more: str,
    environment: str,
    expected: str,
) -> None:
    monkeypatch.setenv("MAXRANDOM_API_KEYS", environment)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    suite = SUITE.replace("served_model: the-model, ", "") if "served_model" in more else SUITE
    monkeypatch.setattr(f"{__name__}.SUITE", suite)
    result, _ = _run(pytester, server, more=more)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([expected])
    assert "Traceback" not in result.stdout.str()

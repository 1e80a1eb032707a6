"""The MCP server, asked by the client of the package through a process of its own."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from tests.searched import lines
from tests.unit.searches.test_killed import KILLED, MOMENTS

if TYPE_CHECKING:
    from pathlib import Path

mcp = pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")

CLAIM, OTHER = "task[knows-2shot]", "task[guesses-2shot]"


class Refused(Exception):
    """What a tool refuses."""


async def _conversation(suite: Path, talk: Any, options: tuple[str, ...], kill: str) -> None:
    from mcp import Client, StdioServerParameters

    given = ["mcp", str(suite), *options]
    program = f"from pytest_maxrandom.cli import main\nmain({given!r})"
    arguments = ["-c", KILLED + kill + "\n" + program if kill else program]
    server = StdioServerParameters(
        command=sys.executable,
        args=arguments,
        cwd=suite.parents[1],
        env=dict(os.environ),  # a client gives its server few of them by itself
    )
    async with Client(server) as client:

        async def call(tool: str, **given: Any) -> Any:
            result = await client.call_tool(tool, given)
            if result.is_error:
                raise Refused(str(getattr(result.content[0], "text", "")))
            return result.structured_content

        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"plan", "baseline", "try_prompt", "verdict", "ledger"}
        await talk(call)


def _run(suite: Path, talk: Any, *options: str, kill: str = "") -> None:
    # Tests of the page leave an event loop running in the thread of all tests.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, _conversation, suite, talk, options, kill).result()


async def _tries_what_is_refused(suite: Path, call: Any) -> None:
    for claim in ("other", "../eval_suites/suite.yaml", str(suite), "/etc/passwd"):
        with pytest.raises(Refused, match=r"claim: found .*, expected one of task\["):
            await call("plan", claim=claim)
    with pytest.raises(Refused, match=r"demonstrations: found '/etc/passwd', expected ids"):
        await call("try_prompt", claim=CLAIM, demonstrations=["/etc/passwd", "e1"])
    with pytest.raises(Refused, match=r"format: unknown key `path` \(keys here: "):
        await call("try_prompt", claim=CLAIM, demonstrations=["e1", "e2"], format={"path": "/etc"})
    with pytest.raises(Refused, match=r"^try_prompt: takes claim, instruction, .*, not suite$"):
        await call("try_prompt", claim=CLAIM, suite="/etc/passwd", feedback="answers")
    # What is of a wrong type is told in a sentence, without a validator's words and address.
    with pytest.raises(Refused, match=r"^try_prompt: demonstrations: found 'e1', expected a list$"):
        await call("try_prompt", claim=CLAIM, demonstrations="e1")
    with pytest.raises(Refused, match=r"^try_prompt: format: found 7, expected an object or a tex"):
        await call("try_prompt", claim=CLAIM, format=7)
    with pytest.raises(Refused, match=r"^plan: first: found 'x', expected a whole number$"):
        await call("plan", claim=CLAIM, first="x")
    with pytest.raises(Refused, match="choices: found 1, expected at least 2"):
        await call("baseline", n=10, choices=1, t=1)
    with pytest.raises(Refused, match="there is nothing to judge"):
        await call("verdict", claim=CLAIM)


@pytest.mark.slow
def test_an_agent_is_counted_and_gets_nothing_else(suite: Path) -> None:
    async def talk(call: Any) -> None:
        await _tries_what_is_refused(suite, call)
        assert not lines(suite, "prompt")
        assert (await call("plan"))["claims"] == [CLAIM, OTHER]
        plan = await call("plan", claim=CLAIM)
        assert (plan["n"], plan["shots"], plan["left"]) == (60, 2, 4)
        assert "improved, or more if the prompt prefers" in plan["outlook"]
        assert "; after 4 tries it is judged as the best of" in plan["outlook"]
        ids = [each["id"] for each in plan["examples"]]
        assert len(ids) == plan["demonstrations"] == 40
        known = await call("baseline", n=100, choices=2, t=200, correct=62)
        assert round(known["p_max"], 3) == 0.879
        for number in range(4):
            told = await call(
                "try_prompt",
                claim=CLAIM,
                instruction=f"Try {number}. ",
                demonstrations=ids[number : number + 2],
            )
            assert type(told["accept"]) is bool
            assert set(told) == {"accept", "t", "left"}
            assert told["left"] == 3 - number
        with pytest.raises(Refused, match="the budget of 4 prompts is spent"):
            await call("try_prompt", claim=CLAIM, demonstrations=ids[-2:])
        verdict = await call("verdict", claim=CLAIM)
        assert verdict["t"] == 4
        assert "agent tried 4 prompts (feedback `accept`, budget 4)" in verdict["notes"][0]
        counted = await call("ledger", claim=CLAIM)
        assert counted["claim"] == 4
        assert counted["searches"] == [
            {"by": "agent", "feedback": "accept", "steps": 4, "budget": 4}
        ]
        # It may go on, and then the verdict before counts.
        later = await call("plan", claim=CLAIM, first=31)
        assert [each["id"] for each in later["examples"]] == ids[30:]
        assert later["needed"] is None or later["needed"] > plan["needed"]
        again = await call("verdict", claim=CLAIM)
        assert again["best_correct"] == verdict["best_correct"]

    _run(suite, talk, "--budget", "4", "--by", "agent")
    assert len({row["prompt"] for row in lines(suite, "prompt")}) == 4
    assert [row["correct"] for row in lines(suite, "feedback")] == [None] * 4
    # The verdicts told how good the best prompt is, and of no other.
    assert len([row for row in lines(suite, "prompt") if row["correct"] is not None]) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("feedback", ["accept", "improved"])
def test_a_server_that_is_killed_goes_on(suite: Path, feedback: str) -> None:
    options = ("--feedback", feedback, "--budget", "4", "--by", "agent")
    replies: list[list[Any]] = [[], []]

    async def talk(call: Any) -> None:
        plan = await call("plan", claim=CLAIM)
        ids = [each["id"] for each in plan["examples"]]
        told = replies[0] if plan["left"] == 4 else replies[1]
        for step in range(4):
            with anyio.fail_after(60):
                shown = {"instruction": f"Try {step}. ", "demonstrations": ids[step : step + 2]}
                told.append(await call("try_prompt", claim=CLAIM, **shown))
        verdict = await call("verdict", claim=CLAIM)
        assert verdict["t"] == 4

    with pytest.raises(ExceptionGroup) as caught:
        _run(suite, talk, *options, kill=MOMENTS["before the reply arrives"])
    assert caught.group_contains(Exception, match="Connection closed")
    # The third reply is written down, and nobody was given it.
    assert [len(replies[0]), len(lines(suite, "feedback"))] == [2, 3]
    _run(suite, talk, *options)
    assert [each[feedback] for each in replies[1][:2]] == [each[feedback] for each in replies[0]]
    assert [each["left"] for each in replies[1]] == [1, 1, 1, 0]
    told = lines(suite, "feedback")
    assert len(told) == len({row["prompt"] for row in told}) == 4
    assert {row["prompt"] for row in lines(suite, "prompt")} == {row["prompt"] for row in told}


def test_a_server_that_cannot_start_says_why(
    suite: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["mcp", str(suite), "--budget", "0"]) == 2
    assert "--budget: found 0, expected a whole number from 1 on" in capsys.readouterr().err
    assert main(["mcp", str(suite), "--by", ""]) == 2
    assert "--by: found '', expected a name of who proposes" in capsys.readouterr().err
    assert main(["mcp", str(suite.with_name("none.yaml"))]) == 2
    assert "there is no file or folder" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp", str(suite)]) == 2
    assert "`pip install 'pytest-maxrandom[mcp]'`" in capsys.readouterr().err

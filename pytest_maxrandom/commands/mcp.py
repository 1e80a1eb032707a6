"""`maxrandom mcp`: an MCP server, so that an agent that tunes prompts is counted.

It knows the suites that it is started with, and what a search on them may be told. A caller names
claims of these suites, and gives texts; no path, no address, and nothing that is run.
"""

from __future__ import annotations

import functools
import inspect
import threading
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pytest_maxrandom.commands import add_command
from pytest_maxrandom.commands.search import claims_in
from pytest_maxrandom.errors import MaxRandomError, SearchError, did_you_mean
from pytest_maxrandom.host import STORE
from pytest_maxrandom.searches.search import How
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.search import Feedback

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection

    from mcp.server import MCPServer
    from pydantic import ValidationError

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.searches.tries import Tries

_SHOWN = 100
"""Demonstrations whose texts are shown at once."""
_TYPES = {
    "missing": "it to be given",
    "string": "a text",
    "int": "a whole number",
    "list": "a list",
    "dict": "an object",
}
"""What arguments are, by parts of a validator's words for them."""
_BRANCHES = ("dict[str,any]", "str", "list[str]", "int")
"""How a validator calls what an argument may be one of."""
_LONGEST = 60


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "serve suites to an agent (MCP, on standard input and output), and count its prompts"
    parser = add_command(commands, "mcp", run, text)
    add = parser.add_argument
    add("paths", nargs="+", type=Path, help="suites, or folders with suites")
    add(
        "--feedback",
        choices=get_args(Feedback),
        default="accept",
        help="what the agent learns of each prompt: none, accept (whether it is the best so far; "
        "the default), improved (its accuracy if it is), score (its accuracy), answers (each)",
    )
    add("--budget", type=int, metavar="N", help="distinct prompts that may be tried for each claim")
    add("--by", default="mcp", help="the agent's name in the ledger (mcp)")
    add("--store", type=Path, default=Path(STORE), help=f"file that keeps results ({STORE})")


def run(options: argparse.Namespace) -> str:
    """Serve until the client leaves.

    Raises
    ------
    SearchError
        If the package is missing, or an option is wrong.
    SuiteError
        With all the mistakes of the suites.
    """
    if find_spec("mcp") is None:
        raise SearchError(
            "the package mcp is not installed; install it with "
            "`pip install 'pytest-maxrandom[mcp]'`"
        )
    try:
        how = How(options.feedback, options.budget, options.by, options.store)
    except SearchError as error:
        raise SearchError(f"--{error}") from None
    searches = Searches(claims_in(options.paths), how)
    try:
        server(searches).run("stdio")
    finally:
        searches.close()
    return ""


class Searches:
    """The claims that an agent may search prompts for, each with its search.

    Parameters
    ----------
    found : list of (Path, PlannedClaim)
        They are known by their names, behind the suite's file where two have one name.
    """

    def __init__(self, found: list[tuple[Path, PlannedClaim]], how: How) -> None:
        self._how = how
        names = [claim.name for _, claim in found]
        self._claims: dict[str, tuple[Path, PlannedClaim]] = {
            claim.name if names.count(claim.name) == 1 else f"{path}::{claim.name}": (path, claim)
            for path, claim in found
        }
        self._tries: dict[str, Tries] = {}
        self._lock = threading.Lock()

    def of(self, claim: str) -> Tries:
        """Return the search for a claim; only one of them has its model in memory.

        Raises
        ------
        SearchError
            If there is no such claim.
        """
        if claim not in self._claims:
            names = ", ".join(self._claims)
            near = did_you_mean(claim, self._claims)
            raise SearchError(f"claim: found {claim!r}, expected one of {names}{near}")
        with self._lock:
            for name in [name for name in self._tries if name != claim]:
                self._tries.pop(name).close()
            if claim not in self._tries:
                path, planned = self._claims[claim]
                self._tries[claim] = self._how.begin(planned, path)
            return self._tries[claim]

    def end(self, claim: str) -> None:
        """Let a search be begun again when it is asked for next, and know what its verdict told."""
        with self._lock:
            if claim in self._tries:
                self._tries.pop(claim).close()

    def names(self) -> list[str]:
        """Return the names of the claims."""
        return list(self._claims)

    def close(self) -> None:
        """Let go of models and stores."""
        for tries in self._tries.values():
            tries.close()


def server(searches: Searches) -> MCPServer[Any]:
    """Return the server, with its five tools."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import ValidationError

    takes: dict[str, Collection[str]] = {}

    class Server(MCPServer[Any]):
        """Refuses arguments in a sentence, without the words and addresses of a validator."""

        async def call_tool(self, name: str, arguments: dict[str, Any], *context: Any) -> Any:
            if other := [key for key in arguments if key not in takes.get(name, arguments)]:
                near = did_you_mean(other[0], takes[name])
                raise ToolError(f"{name}: takes {', '.join(takes[name])}, not {other[0]}{near}")
            try:
                return await super().call_tool(name, arguments, *context)
            except ToolError as error:
                if not isinstance(error.__cause__, ValidationError):
                    raise
                raise ToolError(f"{name}: {_mistakes(error.__cause__)}") from error

    made = Server(
        "maxrandom",
        instructions="Few-shot prompts are tried on validation examples here, and every try is "
        "counted. Call plan first: it says what the best prompt must reach after the budget. "
        "verdict judges the best prompt; whoever goes on after it needs more to pass.",
        log_level="CRITICAL",  # the caller learns what a tool refuses
    )

    def tool(call: Callable[..., dict[str, Any]]) -> None:
        """Add a tool; what it refuses, the caller learns in a sentence."""

        @functools.wraps(call)
        def refusing(**given: Any) -> dict[str, Any]:
            try:
                return call(**given)
            except (MaxRandomError, ValueError, TypeError) as error:
                raise ToolError(str(error)) from error

        takes[call.__name__] = list(inspect.signature(call).parameters)
        made.tool()(refusing)

    @tool
    def plan(claim: str | None = None, first: int = 1) -> dict[str, Any]:
        """Name the claims; or tell one: n, shots, budget, needed, a sample prompt, demonstrations.

        Of these there are at most 100 at once, from the number `first` on.
        """
        if claim is None:
            return {"claims": searches.names()}
        return _plan(searches.of(claim), first)

    @tool
    def baseline(n: int, choices: int, t: int, correct: int | None = None) -> dict[str, Any]:
        """Tell what the best of t random guessers reaches on n examples with so many choices."""
        return _baseline(n, choices, t, correct)

    @tool
    def try_prompt(
        claim: str,
        instruction: str | None = None,
        demonstrations: list[str] | None = None,
        format: dict[str, Any] | str | None = None,  # noqa: A002 as in suites
    ) -> dict[str, Any]:
        """Try a prompt. Instruction: the text before the demonstrations; these by their ids.

        A line break follows an instruction where no white space does.
        """
        tries = searches.of(claim)
        reply: Any = tries.try_prompt(instruction, demonstrations, format)
        if isinstance(reply, list):
            reply = [asdict(each) for each in reply]
        return {tries.feedback: reply, "t": tries.t, "left": tries.left}

    @tool
    def verdict(claim: str) -> dict[str, Any]:
        """Judge the best prompt for a claim; the test set stays closed.

        You may go on after it, but then the next verdict counts what this one told, so that more
        is needed: see plan.
        """
        found = _verdict(searches.of(claim))
        searches.end(claim)
        return found

    @tool
    def ledger(claim: str) -> dict[str, Any]:
        """Tell what was ever tried on the examples of a claim, and by whom."""
        return searches.of(claim).counted()

    return made


def _mistakes(error: ValidationError) -> str:
    """Say which arguments are wrong: what was found, and what is expected."""
    wrong: dict[str, tuple[str, list[str]]] = {}
    for each in error.errors(include_url=False):
        place = ".".join(str(part) for part in each["loc"] if str(part) not in _BRANCHES)
        expected = next((word for key, word in _TYPES.items() if key in each["type"]), each["msg"])
        found = "nothing" if each["type"] == "missing" else f"{each['input']!r}"[:_LONGEST]
        wrong.setdefault(place, (found, []))[1].append(expected)
    said = (
        f"{place}: found {found}, expected {' or '.join(dict.fromkeys(expected))}"
        for place, (found, expected) in wrong.items()
    )
    return "; ".join(said)


def _plan(tries: Tries, first: int) -> dict[str, Any]:
    if first < 1:
        raise ValueError(f"first: found {first}, expected a whole number from 1 on")
    shown = [*tries.demonstrations.values()][first - 1 : first - 1 + _SHOWN]
    outlook = tries.outlook
    return {
        "n": tries.n,
        "shots": tries.shots,
        "feedback": tries.feedback,
        "t": tries.t,
        "left": tries.left,
        "outlook": str(outlook),
        "needed": outlook.critical_count,
        "more_than_incumbent": outlook.beside,
        "results_in_sight": outlook.in_sight,
        "prompt": tries.sample,
        "demonstrations": len(tries.demonstrations),
        "examples": [
            {"id": each.id, "input": each.input, "answer": each.choices[each.right[0]]}
            for each in shown
        ],
    }


def _baseline(n: int, choices: int, t: int, correct: int | None) -> dict[str, Any]:
    if choices < 2:
        raise ValueError(f"choices: found {choices}, expected at least 2")
    found = MaxRandomBaseline(n, {choices: n}, t)
    numbers: dict[str, Any] = {
        "standard_baseline": found.standard_baseline,
        "max_random_baseline": found.expected_accuracy,
        "critical_count": found.critical_count(),
    }
    return numbers if correct is None else {**numbers, "p_max": found.p_value(correct)}


def _verdict(tries: Tries) -> dict[str, Any]:
    record = tries.verdict()
    return {
        "passed": record.passed if record.asserted else None,
        "best_correct": record.best_correct,
        "n": record.n,
        "t": record.t,
        "p_max": record.p_max,
        "permutation_p": record.permutation_p,
        "baseline_p": record.baseline_p,
        "incumbent_p": record.incumbent_p,
        "why": record.message,
        "prompt": record.best_prompt.text if record.best_prompt else None,
        "notes": [each.text for each in record.notes],
    }

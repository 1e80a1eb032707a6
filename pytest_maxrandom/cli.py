"""The command `maxrandom`: baselines and plans at once, reports and ledgers of recorded numbers."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import MaxRandomError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "baseline": "planning",
    "plan": "planning",
    "report": "report",
    "ledger": "ledger",
    "holdout": "holdout",
    "check": "check",
    "schema": "check",
    "tasks": "tasks",
    "shards": "shards",
    "run-shard": "shards",
    "join": "shards",
    "gate": "gate",
    "comment": "comment",
    "figures": "figures",
    "replication": "replication",
}
"""Modules of `commands`: `add_parser` describes one's commands, what is run returns a text."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns
    -------
    int
        0: done; 1: `check` or `ledger verify` found mistakes; 2: the arguments, or a file that they
        name, are wrong. `gate` returns pytest's code.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(words[0] if words else "").parse_args(words)
    try:
        if told := options.run(options):
            print(told, flush=True)
    except BrokenPipeError:  # `maxrandom report ... | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, MaxRandomError, OSError) as error:
        print(f"maxrandom {options.command}: {error}", file=sys.stderr)
        return 2
    return int(getattr(options, "status", 0))


def _parser(named: str) -> argparse.ArgumentParser:
    """Describe the command that is named, whose imports suffice; or all of them."""
    parser = argparse.ArgumentParser(
        prog="maxrandom", description="Is the best of t prompts better than the best of t guessers?"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = [_COMMANDS[named]] if named in _COMMANDS else dict.fromkeys(_COMMANDS.values())
    for module in modules:
        import_module(f"pytest_maxrandom.commands.{module}").add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

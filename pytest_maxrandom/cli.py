"""The command `maxrandom`: baselines and plans at once, reports and ledgers of recorded numbers."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from pytest_maxrandom.commands import (
    baseline,
    check,
    comment,
    figures,
    gate,
    holdout,
    ledger,
    plan,
    replication,
    report,
)
from pytest_maxrandom.errors import MaxRandomError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = (baseline, plan, report, ledger, holdout, check, gate, comment, figures, replication)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns
    -------
    int
        0: done; 1: `check` or `ledger verify` found mistakes; 2: the arguments, or a file that they
        name, are wrong. `gate` returns pytest's code.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        if told := options.run(options):
            print(told, flush=True)
    except BrokenPipeError:  # `maxrandom report ... | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, MaxRandomError, OSError) as error:
        print(f"maxrandom {options.command}: {error}", file=sys.stderr)
        return 2
    return int(getattr(options, "status", 0))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="maxrandom", description="Is the best of t prompts better than the best of t guessers?"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

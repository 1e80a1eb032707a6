"""The command `maxrandom`: baselines and plans at once, reports and ledgers of recorded numbers."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom import __version__
from pytest_maxrandom.errors import MaxRandomError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROUPS = {
    "before a run": {
        "init": "init",
        "tasks": "tasks",
        "baseline": "planning",
        "plan": "planning",
        "check": "check",
        "schema": "check",
    },
    "a run in parts, on several machines": {
        "shards": "shards",
        "run-shard": "shards",
        "join": "shards",
    },
    "after a run": {
        "report": "report",
        "diff": "diff",
        "promote": "promote",
        "figures": "figures",
        "holdout": "holdout",
        "replication": "replication",
    },
    "the ledger of all tries": {"ledger": "ledger"},
    "pull requests": {"gate": "gate", "comment": "comment"},
    "automatic prompt search": {"search": "search", "mcp": "mcp"},
}
"""Modules of `commands`: `add_parser` describes one's commands, what is run returns a text."""
_COMMANDS = {name: module for group in _GROUPS.values() for name, module in group.items()}
_MEANT = {"--accuracy": "--correct"}
"""What people call an option that is called otherwise, where a command has that one."""
_EPILOG = """\
pytest runs the suites: `pytest eval_suites`. `maxrandom COMMAND --help` explains a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns
    -------
    int
        0: done; 1: `check` or `ledger verify` found mistakes, or `diff` something that fell or
        got worse; 2: the
        arguments, or a file that they name, are wrong. `gate` returns pytest's code.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _read(words)
    try:
        if told := options.run(options):
            print(told, flush=True)
    except BrokenPipeError:  # `maxrandom report ... | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, MaxRandomError, OSError) as error:
        print(f"maxrandom {options.command}: {_sentence(error)}", file=sys.stderr)
        return 2
    return int(getattr(options, "status", 0))


def _read(words: list[str]) -> argparse.Namespace:
    """Read arguments; of a command or an option that there is not, the nearest one is named."""
    parser = _parser(words[0] if words else "")
    if words and not words[0].startswith("-") and words[0] not in _COMMANDS:
        near = did_you_mean(words[0], _COMMANDS)
        parser.error(f"there is no command {words[0]!r}{near or '; maxrandom --help lists them'}")
    options, unknown = parser.parse_known_args(words)
    if unknown:
        command, known = _chosen(parser, words)
        said = unknown[0].partition("=")[0]
        meant = _MEANT.get(said, "")
        near = f"; did you mean '{meant}'?" if meant in known else did_you_mean(said, known)
        command.error(f"unrecognized arguments: {' '.join(unknown)}{near}")
    return options


def _chosen(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[argparse.ArgumentParser, list[str]]:
    """Return the parser of the command, and of a command within it, and its options."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for place, word in enumerate(words):
                if word in action.choices:
                    return _chosen(action.choices[word], words[place + 1 :])
    return parser, [name for action in parser._actions for name in action.option_strings]


def _sentence(error: Exception) -> str:
    """Return what an error says, in words where the system has a number for it."""
    if not isinstance(error, OSError) or error.filename is None or error.strerror is None:
        return str(error)
    folder = Path(error.filename).parent
    if isinstance(error, FileNotFoundError) and not folder.is_dir():
        return f"there is no folder {folder} for the file {Path(error.filename).name}"
    return f"{error.filename}: {error.strerror}"


class _Parser(argparse.ArgumentParser):
    """Shows the commands in their groups."""

    def format_help(self) -> str:
        """Write the help page, with a section for each group that has commands."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        described = [
            action for action in self._actions if isinstance(action, argparse._SubParsersAction)
        ]
        lines = {line.dest: line for action in described for line in action._choices_actions}
        others = [action for action in self._actions if action not in described]
        sections = {
            title: [lines[name] for name in names if name in lines]
            for title, names in _GROUPS.items()
        }
        for title, actions in {**sections, "options": others}.items():
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


def _parser(named: str) -> argparse.ArgumentParser:
    """Describe the command that is named, whose imports suffice; or all of them."""
    parser = _Parser(
        prog="maxrandom",
        description="Is the best of t prompts better than the best of t random guessers?",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"pytest-maxrandom {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser
    )
    modules = [_COMMANDS[named]] if named in _COMMANDS else dict.fromkeys(_COMMANDS.values())
    for module in modules:
        import_module(f"pytest_maxrandom.commands.{module}").add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

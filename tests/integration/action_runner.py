"""Runs steps as GitHub Actions does, as far as those of this project go.

Written from GitHub's documentation: expressions, the default shell of `shell: bash`, the files that
a step's environment names, and the workflow commands in a log. An expression or a key that is not
known here is an error, so that nothing passes unseen.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Collection

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*')|(?P<sign>&&|\|\||==|!=|!|[()])"
    r"|(?P<status>\w+)\(\)|(?P<files>hashFiles)(?=\()|(?P<comma>,)|(?P<name>[\w.-]+))"
)
_SIGNS = {"&&": "and", "||": "or", "!": "not"}
_STEP_KEYS = {"name", "id", "if", "uses", "with", "shell", "env", "run", "continue-on-error"}
_BASH = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"]


@dataclass
class Result:
    """What became of an action."""

    outputs: dict[str, str] = field(default_factory=dict[str, str])
    code: int = 0
    """Exit code of the last step that failed, 0 if none did."""
    ran: list[str] = field(default_factory=list)
    """Names of the steps that ran."""
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    """What other actions were given, by the step's name."""
    log: str = ""
    summary: str = ""


def run_action(
    action: Path,
    workspace: Path,
    inputs: dict[str, str],
    github: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    failing: Collection[str] = (),
    left_out: Collection[str] = (),
) -> Result:
    """Run a composite action in a workspace; other actions that it uses are noted, not run.

    Parameters
    ----------
    failing : collection of str
        Names of steps whose other actions fail.
    left_out : collection of str
        Names of steps that are not run.
    """
    definition = yaml.safe_load(action.read_text(encoding="utf-8"))
    assert definition["runs"].keys() == {"using", "steps"}
    assert inputs.keys() <= definition["inputs"].keys()
    job: dict[str, Any] = {"token": "no-token", "event_name": "push", "repository": "team/models"}
    job |= {"actor": "robin", "event": {}, "run_id": "20", "base_ref": ""}
    job |= {"server_url": "https://github.test"}
    scope: dict[str, Any] = {"github": job | (github or {}), "inputs": {}}
    scope["runner"] = {"os": "Linux", "temp": str(workspace.parent / "runner-temp")}
    for name, said in definition["inputs"].items():
        assert not said.get("required") or name in inputs, f"{name} must be given"
        scope["inputs"][name] = inputs.get(name, _filled(said.get("default", ""), scope))
    place = {"GITHUB_ACTION_PATH": str(action.parent)}
    steps = [step for step in definition["runs"]["steps"] if step["name"] not in left_out]
    environment = place | (environment or {})
    result = run_steps(steps, workspace, scope, environment, shell=None, failing=failing)
    for name, said in definition.get("outputs", {}).items():
        result.outputs[name] = _filled(said["value"], scope)
    return result


def run_steps(
    steps: list[dict[str, Any]],
    workspace: Path,
    scope: dict[str, Any],
    environment: dict[str, str],
    *,
    shell: str | None = "bash",
    failing: Collection[str] = (),
) -> Result:
    """Run the steps of a job or an action.

    Parameters
    ----------
    scope : dict
        What expressions can name; gains what the steps leave.
    shell : str or None
        For steps that name none; those of an action must.
    failing : collection of str
        Names of steps whose other actions fail.
    """
    scope["steps"] = {}
    result = Result()
    for number, step in enumerate(steps):
        assert step.keys() <= _STEP_KEYS, step.keys() - _STEP_KEYS
        if not holds(step.get("if", "success()"), scope, failed=result.code != 0):
            outcome, outputs = "skipped", dict[str, str]()
        else:
            result.ran.append(step["name"])
            step = {"shell": shell, **step}
            code, outputs = _run_step(step, number, workspace, scope, result, environment)
            code = code or int("uses" in step and step["name"] in failing)
            outcome = "failure" if code else "success"
            if not step.get("continue-on-error"):
                result.code = code or result.code
        if "id" in step:
            scope["steps"][step["id"]] = {"outcome": outcome, "outputs": outputs}
    return result


def holds(condition: str, scope: dict[str, Any], *, failed: bool = False) -> bool:
    """Evaluate the condition of a step or a job, after a step that failed or none."""
    bare = condition.strip().removeprefix("${{").removesuffix("}}").strip()
    # A condition without a function of the status is one for steps that follow no failure.
    implied = "" if re.search(r"(always|cancelled|success)\(\)", bare) else "success() && "
    status = {"always": True, "cancelled": False, "success": not failed}
    return bool(_value(implied + bare, scope, status))


def _run_step(
    step: dict[str, Any],
    number: int,
    workspace: Path,
    scope: dict[str, Any],
    result: Result,
    environment: dict[str, str],
) -> tuple[int, dict[str, str]]:
    """Run one step; return its exit code and its outputs."""
    if "uses" in step:
        given = step.get("with", {})
        result.used[step["name"]] = {key: _filled(value, scope) for key, value in given.items()}
        return 0, {}
    assert step["shell"] == "bash"
    assert "${{" not in step["run"], "an expression in a script is code of whoever wrote its value"
    temp = workspace.parent / "runner-temp"
    temp.mkdir(exist_ok=True)
    script, output, summary = (temp / f"{number}.{kind}" for kind in ("sh", "output", "summary"))
    script.write_text(step["run"])
    output.write_text("")
    summary.write_text("")
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    said = subprocess.run(
        [*_BASH, str(script)],
        cwd=workspace,
        env={
            **kept,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": str(scope["github"]["repository"]),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(workspace),
            "OMP_NUM_THREADS": "1",
            "RUNNER_TEMP": str(temp),
            **environment,
            **{key: _filled(value, scope) for key, value in step.get("env", {}).items()},
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    result.log += said.stdout
    result.summary += summary.read_text(encoding="utf-8")
    return said.returncode, _outputs(output.read_text())


def _outputs(text: str) -> dict[str, str]:
    """Read ``name=value``, and ``name<<END``, lines, ``END``, which any value fits into."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if (short := re.match(r"(\w+)=(.*)", line)) is not None:
            found[short[1]] = short[2]
            continue
        name, mark, end = line.partition("<<")
        assert mark, line
        value = itertools.takewhile(end.__ne__, lines)
        found[name] = "\n".join(value)
    return found


def _filled(text: str, scope: dict[str, Any]) -> str:
    """Replace each ``${{ expression }}``."""

    def value(match: re.Match[str]) -> str:
        found = _value(match[1], scope, {})
        return str(found).lower() if isinstance(found, bool) else str(found)

    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))


def _value(expression: str, scope: dict[str, Any], status: dict[str, bool]) -> Any:
    """Evaluate an expression: names, texts, comparisons, and functions of the status."""
    python, place = [], 0
    text = expression.strip()
    while place < len(text):
        token = _TOKEN.match(text, place)
        assert token, f"not known here: {text[place:]}"
        place = token.end()
        if token["status"]:
            python.append(str(status[token["status"]]))
        elif token["files"]:
            python.append("files")
        elif token["name"]:
            python.append(f"name({token['name']!r})")
        else:
            python.append(_SIGNS.get(token["sign"], token[0].strip()))
    names = {"__builtins__": {}, "name": lambda name: _named(name, scope), "files": _hashed}
    return eval(" ".join(python), names)


def _hashed(*patterns: str) -> str:
    """Stand for the digest of the files that match."""
    return hashlib.sha256("\n".join(patterns).encode()).hexdigest()


def _named(name: str, scope: dict[str, Any]) -> Any:
    """Look a value up; what an event, or a step's outputs, do not have is empty."""
    first, *rest = name.split(".")
    value: Any = scope[first]
    for place, part in enumerate(rest):
        optional = rest[0] == "event" or "outputs" in rest[:place]
        if not isinstance(value, dict) or (optional and part not in value):
            return ""
        value = value[part]
    return "" if value is None else value


def commands(log: str) -> list[tuple[str, dict[str, str], str]]:
    """Return the commands that the runner finds in a log: name, properties and message."""
    found, stopped = [], ""
    for line in log.splitlines():
        match = re.match(r"\s*::([\w-]+)(?: (.*?))?::(.*)", line)
        if not match or (stopped and match[1] != stopped):
            assert stopped or "##[" not in line, "the old form of a command"
            continue
        name, listed, message = match.groups(default="")
        if name == "stop-commands":
            stopped = message
        elif stopped:
            stopped = ""
        else:
            pairs = (pair.partition("=") for pair in listed.split(",") if pair)
            properties = {key: _decoded(value, ":,\r\n%") for key, _, value in pairs}
            found.append((name, properties, _decoded(message, "\r\n%")))
    return found


def _decoded(text: str, characters: str) -> str:
    for character in characters:
        text = text.replace(f"%{ord(character):02X}", character)
    return text

"""The source `format: lm_eval`: one task of lm-evaluation-harness."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, SuiteError, described, did_you_mean, listed, quoted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.tasks.lm_eval import examples
from pytest_maxrandom.tasks.lm_eval.building import Group, Request, built, requested
from pytest_maxrandom.tasks.lm_eval.config import Config
from pytest_maxrandom.tasks.lm_eval.data import Rows, absent_rows, read_rows
from pytest_maxrandom.tasks.lm_eval.documents import Document, rendered
from pytest_maxrandom.tasks.lm_eval.generated import (
    is_drop,
    is_generated,
    is_open,
    matching_of,
    open_example,
    with_answers_of_drop,
)
from pytest_maxrandom.tasks.lm_eval.index import Members, members
from pytest_maxrandom.tasks.reading import Findings, Mistake
from pytest_maxrandom.tasks.whole import finished_task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.tasks.task import Example, Task, Where

_NAMED = re.compile(r"`(\w+)")
_KEYS = (
    "task", "task_alias", "tag", "group", "include", "class", "custom_dataset", "dataset_path",
    "dataset_name", "dataset_kwargs", "training_split", "validation_split", "test_split",
    "fewshot_split", "process_docs", "doc_to_text", "doc_to_target", "doc_to_image",
    "doc_to_audio", "unsafe_code", "doc_to_choice", "process_results", "use_prompt",
    "description", "target_delimiter", "fewshot_delimiter", "fewshot_config", "num_fewshot",
    "metric_list", "output_type", "generation_kwargs", "repeats", "filter_list",
    "should_decontaminate", "doc_to_decontamination_query", "gen_prefix", "metadata", "task_list",
    "group_alias", "aggregate_metric_list", "weight_by_size", "version",
)  # fmt: skip
_EVALUATED = ("doc_to_text", "doc_to_choice", "doc_to_target", "gen_prefix", "description")
_EXACT = ("exact_match", "acc")
_NOT_CODE = ("process_results", "metric_list")
"""Keys whose functions judge answers, which is done here."""


@dataclass(frozen=True, slots=True)
class Read:
    """The documents of a task."""

    scored: list[Document]
    """Those that are asked."""
    shown: list[Document] | None
    """The same in the templates of demonstrations; None where these are the same."""
    pool: list[Document] | None
    """Those that demonstrations are drawn from; None where they are drawn from what is asked."""


class LmEval:
    """Reads multiple-choice tasks of lm-evaluation-harness by name, from a file or from a folder.

    Templates are rendered in a process that has no access to anything but the documents. Functions
    of Python are run by lm-evaluation-harness alone, where suite and runner allow that.
    """

    spec = LmEvalSpec

    def members(self, spec: LmEvalSpec, base: Path, where: Where) -> list[LmEvalSpec]:
        """Return a spec for each task that `path` stands for, with a name of its own.

        Raises
        ------
        SuiteError
            If there is none, or a file is wrong.
        """
        found = members(spec, base, where)
        chosen = _chosen(spec, found, where)
        specs, group = [], Group()
        for name, config in chosen.items():
            own = {"name": f"{spec.name}/{name}", "task": [name]} if found.several else {}
            one = spec.model_copy(update=own)
            one._member = (spec.path, config, group)  # so that a group is not read again for each
            group.add(partial(_requested_of, one, base, where))
            specs.append(one)
        return specs

    def absent(self, spec: LmEvalSpec, base: Path, where: Where) -> str | None:
        """Say that a task's documents are on this machine in no way; None where they are.

        The hub is not asked.

        Raises
        ------
        SuiteError
            If there is no such task, or its file is wrong.
        """
        config, folders = _config(spec, base, where)
        return absent_rows(config, folders)

    def read(self, spec: LmEvalSpec, base: Path, where: Where) -> Task:
        """Read the task; see :class:`pytest_maxrandom.tasks.task.Source`."""
        config, folders = _config(spec, base, where)
        findings = Findings(
            lambda _, message: config.problem(_key(message), f"{spec.name}: {message}"),
            lambda number: f"document {number}",
        )
        findings.require(_check_kind, config, spec)
        read = findings.require(_documents, config, spec, folders)
        return findings.require(_task, config, spec, read, findings)


def _key(message: str) -> str:
    """Return the key that a sentence names first."""
    named = _NAMED.search(message)
    return named[1] if named else "task"


def _config(spec: LmEvalSpec, base: Path, where: Where) -> tuple[Config, list[Path]]:
    """Return what the YAML says, or the suite in place of it; and the folders of the data."""
    path, config, _ = spec._member or ("", None, None)
    if path != spec.path:
        names = _chosen(spec, members(spec, base, where), where)
        if len(names) > 1:
            message = (
                f"there are {len(names)} tasks in {quoted(spec.path, 200)}; name one with the key "
                "`task`"
            )
            raise SuiteError([Problem(*where("path"), message)])
        (config,) = names.values()
    assert isinstance(config, Config)
    said = {key: value for key in spec.REPLACED if (value := getattr(spec, key)) is not None}
    folders = [base if said else config.path.parent, config.path.parent]
    config = config.changed(said)
    if is_drop(config):
        config = with_answers_of_drop(config, said.get("doc_to_target"))
    return config, folders


def _chosen(spec: LmEvalSpec, members: Members, where: Where) -> dict[str, Config]:
    """Return those of the tasks that the suite names."""
    known = members.tasks
    names = spec.task or list(known)
    if unknown := [name for name in names if name not in known]:
        message = (
            f"there is no task {quoted(unknown[0])} in {quoted(spec.path, 200)}"
            f"{did_you_mean(unknown[0], known) or f'; found {listed(sorted(known))}'}"
        )
        raise SuiteError([Problem(*where("task"), message)])
    return {name: known[name] for name in names}


def _check_kind(config: Config, spec: LmEvalSpec) -> None:
    for key in config.values:
        if key not in _KEYS and (meant := did_you_mean(key, _KEYS, "`{}`".format)):
            raise Mistake(f"unknown key `{key}`{meant}")
    if "class" in config.values:
        raise Mistake(
            "it is a Python `class`, and not documents, texts and choices that could be read"
        )
    kind = config.get("output_type", "generate_until")
    if is_generated(config):
        _check_generated(config)
    elif kind != "multiple_choice":
        raise Mistake(
            f"it is `output_type: {kind}`, but only `multiple_choice` has right and wrong choices "
            "that a guesser can pick"
        )
    needed = ("doc_to_text", "doc_to_choice", "doc_to_target")
    for key in needed if not is_open(config) else (needed[0], needed[2]):
        if config.get(key) is None:
            kind = "a task with references" if is_open(config) else "a multiple-choice task"
            raise Mistake(f"the key `{key}` is missing, which {kind} needs")
    judge = config.functions().get("process_results")
    if judge is not None and spec.doc_to_target is None and not is_drop(config):
        raise Mistake(
            f"`process_results: {judge}` judges answers by code, so `doc_to_target` may not name "
            "the right answer; if a field does, name it with `doc_to_target` in the suite"
        )
    for key in ("doc_to_image", "doc_to_audio"):
        if config.get(key) is not None:
            raise Mistake(f"it has `{key}`, but only text is supported")
    if config.get("use_prompt") is not None:
        raise Mistake("`use_prompt` names a promptsource template, which is not supported")


def _check_generated(config: Config) -> None:
    """Refuse a task whose generated answers are not simply right or wrong."""
    if is_drop(config):
        return
    listed = config.get("metric_list", [])
    listed = listed if isinstance(listed, list) else []
    metrics = [each.get("metric") for each in listed if isinstance(each, dict)]
    if metrics and not set(map(str, metrics)) & set(_EXACT):
        raise Mistake(
            f"it is `output_type: generate_until`, judged by {', '.join(map(str, metrics))}, so no "
            "answer is simply right or wrong"
        )
    if is_open(config):
        matching_of(config, None)


def _documents(config: Config, spec: LmEvalSpec, folders: Sequence[Path]) -> Read:
    scored, shown_split = _splits(config, spec.split)
    if (request := _requested(config, spec, folders)) is not None:
        _, _, group = spec._member or ("", None, Group())
        return Read(*built(request, group))
    rows = read_rows(config, scored, folders)
    fields = {key: config.get(key) for key in _EVALUATED}
    of_shown = fields | {
        key: value for key in _EVALUATED[:4] if (value := _fewshot(config).get(key)) is not None
    }
    # Choices that the suite gives are texts; only by its own can a task mean their numbers.
    render = partial(
        rendered,
        columns=rows.columns,
        numbered=not (is_generated(config) and (spec.doc_to_choice or is_open(config))),
    )
    asked = render(fields, rows)
    again = None if of_shown == fields else render(of_shown, rows)
    pool_rows = None
    if shown_split is not None:
        pool_rows = read_rows(config, shown_split, folders)
    elif isinstance(samples := _samples(config), list):
        pool_rows = Rows([], samples)
    pool = None if pool_rows is None else render(of_shown, pool_rows)
    return Read(asked, again, pool)


def _requested_of(spec: LmEvalSpec, base: Path, where: Where) -> Request | None:
    config, folders = _config(spec, base, where)
    _check_kind(config, spec)
    return _requested(config, spec, folders)


def _requested(config: Config, spec: LmEvalSpec, folders: Sequence[Path]) -> Request | None:
    """Return what lm-eval has to build; None where a task has no functions."""
    if not set(config.functions()) - set(_NOT_CODE):
        return None
    splits = _splits(config, spec.split)
    own = splits[1] is not None or _samples(config) is not None
    return requested(config, spec, splits, folders, pool=own)


def _fewshot(config: Config) -> dict[str, Any]:
    fewshot = config.get("fewshot_config", {})
    if not isinstance(fewshot, dict):
        raise Mistake(f"`fewshot_config`: found {described(fewshot)}, expected keys with values")
    return fewshot


def _samples(config: Config) -> object:
    samples = _fewshot(config).get("samples")
    named = config.get("fewshot_split") or _fewshot(config).get("split")
    return None if named else samples


def _splits(config: Config, asked: str | None) -> tuple[str, str | None]:
    """Return the split that is scored, and that of demonstrations; None where it is the same.

    Without a split of their own, and without samples, demonstrations come from the first of
    training, validation and test split that there is.
    """
    scored = asked or config.get("test_split") or config.get("validation_split")
    if not isinstance(scored, str):
        raise Mistake("there is no `test_split` and no `validation_split`; a task needs one")
    shown_split = _fewshot(config).get("split") or config.get("fewshot_split")
    if shown_split is None and _samples(config) is None:
        others = (config.get(f"{each}_split") for each in ("training", "validation", "test"))
        shown_split = next(filter(None, others))
    return scored, None if shown_split == scored else shown_split


def _task(config: Config, spec: LmEvalSpec, read: Read, findings: Findings) -> Task:
    fewshot = _fewshot(config)
    delimiter = _text("target_delimiter", config.values, " ")
    texts = examples.Texts(
        delimiter,
        _text("target_delimiter", fewshot, delimiter),
        _text("fewshot_delimiter", fewshot, _text("fewshot_delimiter", config.values, "\n\n")),
    )
    matching = matching_of(config, spec.filter) if is_open(config) else None
    if matching is None and spec.filter is not None:
        raise Mistake("`filter` is about generated answers without choices; remove it")
    multiple = matching is None and bool(read.scored) and isinstance(read.scored[0].text, int)
    description = _description(read.scored)
    layout = texts.layout(description)
    left_out: list[str] = []

    def drawn(
        documents: Sequence[Document], again: Sequence[Document], *, pooled: bool = False
    ) -> list[Example]:
        made, name = [], "pool " if pooled else ""
        for number, (document, solved) in enumerate(zip(documents, again, strict=True), 1):
            try:
                one = (
                    examples.example(document, f"{name}#{number}", texts, multiple=multiple)
                    if matching is None
                    else open_example(document, f"{name}#{number}", texts, matching)
                )
            except examples.Unanswerable as reason:
                left_out.append(str(reason))
                continue
            except Mistake as mistake:
                raise Mistake(f"document {number}: {mistake}") from None
            shown_text = examples.demonstration(solved, texts, multiple=multiple)
            if shown_text is not None or not pooled:
                made.append(examples.with_solution(one, shown_text, texts))
        return made

    made = drawn(read.scored, read.shown or read.scored)
    kind = "lm_eval_generated" if is_generated(config) else "lm_eval"
    kind = kind if matching is None else "lm_eval_open"
    notes = [Remark(kind, {"task": str(config.get("task"))})]
    if left_out:
        if not made:
            why = (
                f"; `doc_to_target` of document 1 gives {described(read.scored[0].target)}, "
                "expected one of its choices or the number of one"
            )
            raise Mistake(
                f"none of its {len(read.scored)} documents has a right and a wrong choice"
                f"{why if left_out[0] == 'no_right_choice' else ''}"
            )
        values = {"documents": len(left_out), "reasons": dict(Counter(left_out))}
        notes.append(Remark("unanswerable", values))
    task = finished_task(spec.name, enumerate(made, 1), findings, layout, notes)
    task = replace(task, matching=matching)
    if read.pool is None:
        return task
    _, split = _splits(config, spec.split)
    source = f"split {split}" if split else "its demonstration samples"
    pool = tuple(drawn(read.pool, read.pool, pooled=True))
    return replace(task, pool=pool, pool_source=source)


def _text(key: str, values: Mapping[str, Any], default: str) -> str:
    text = values.get(key, default)
    if not isinstance(text, str):
        raise Mistake(f"`{key}`: found {described(text)}, expected a text; put it in quotes")
    return text


def _description(documents: Sequence[Document]) -> str:
    first, *others = dict.fromkeys(document.description for document in documents) or [""]
    if others:
        raise Mistake(
            f"its `description` differs between documents ({quoted(first)}, {quoted(others[0])}), "
            "so no single prompt fits all of them"
        )
    return str(first)

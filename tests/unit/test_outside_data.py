"""What a suite names outside of its repository: whether it is read, and that nothing shows it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.host import data
from pytest_maxrandom.host.data import Boundary, refused, refused_address
from pytest_maxrandom.suite.tasks import TASKS
from pytest_maxrandom.tasks.load import load_task, members
from tests.needs import needs
from tests.unit.recorded.suites import planned, rows, save, suite_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "hunter2-of-the-runner"
ROW = {"input": "1+1", "answer": "2", "choices": ["2", "3"]}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, beside which another folder has files of the runner's own."""
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / ".git" / "config").write_text(f"extraheader = {SECRET}\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text(f"{SECRET}\n")
    (outside / "task.jsonl").write_text(json.dumps(ROW) + "\n")
    monkeypatch.chdir(tree)
    return tree


@pytest.fixture
def gated(tree: Path) -> Iterator[None]:
    """A gate that allows nothing besides the repository."""
    with Boundary(tree).in_force():
        yield


def load(tree: Path, **keys: Any) -> Any:
    """Load a task as a suite in the repository's top folder names it."""
    spec = TASKS.validate({"name": "t", **keys})
    (one,) = members(spec, tree, lambda *_: (tree / "suite.yaml", 3))
    return load_task(one, tree, lambda *_: (tree / "suite.yaml", 3))


def told(tree: Path, **keys: Any) -> str:
    """All that a person is told of a task that is not read."""
    with pytest.raises(SuiteError) as caught:
        load(tree, **keys)
    return str(caught.value)


def link(tree: Path, name: str, target: object) -> str:
    (tree / name).symlink_to(str(target))
    return name


@pytest.mark.parametrize(
    "form", ["csv", "jsonl", "bigbench", "lm_eval", pytest.param("hub", marks=needs("datasets"))]
)
@pytest.mark.parametrize("way", ["relative", "absolute", "link"])
@pytest.mark.usefixtures("gated")
def test_a_gate_reads_nothing_outside_of_the_repository(tree: Path, form: str, way: str) -> None:
    target = tree.parent / "outside" / "secret.csv"
    path = {"relative": "../outside/secret.csv", "absolute": str(target), "link": "data.csv"}[way]
    if way == "link":
        link(tree, path, target)
    more = {"split": "test"} if form == "hub" else {}
    said = told(tree, format=form, path=path, **more)
    assert "leads out of the repository" in said
    assert "--allow-path" in said
    assert SECRET not in said


@pytest.mark.usefixtures("gated")
def test_whether_there_is_such_a_file_outside_is_not_told(tree: Path) -> None:
    there, absent = (
        told(tree, format="csv", path=f"../outside/{name}.csv").replace(name, "NAME")
        for name in ("secret", "absent")
    )
    assert there == absent


def test_what_the_workflow_allows_is_read(tree: Path) -> None:
    with Boundary(tree, places=[str(tree.parent / "outside")]).in_force():
        assert len(load(tree, format="jsonl", path="../outside/task.jsonl").examples) == 1
    with Boundary(tree, places=[str(tree.parent / "out")]).in_force():  # no prefix of a name
        assert "leads out" in told(tree, format="jsonl", path="../outside/task.jsonl")


@pytest.mark.parametrize("path", ["../private/x.csv", "%2e%2e/private/x.csv", "a/%2E./../x.csv"])
def test_an_address_does_not_lead_out_of_what_is_allowed(tree: Path, path: str) -> None:
    public = "https://data.example/public"
    with Boundary(tree, places=[public]).in_force():
        assert not refused_address(f"{public}/a..b/x.csv")
        assert refused_address(f"{public}/{path}")


def test_a_person_reads_what_lies_outside_and_nothing_of_it_is_quoted(tree: Path) -> None:
    assert len(load(tree, format="jsonl", path="../outside/task.jsonl").examples) == 1
    for form in ("csv", "jsonl", "bigbench"):
        said = told(tree, format=form, path="../outside/secret.csv")
        assert "secret.csv" in said
        assert "not quoted" in said
        assert SECRET not in said
    inside = tree / "own.csv"
    inside.write_text("some column\n")
    assert "some column" in told(tree, format="csv", path="own.csv")


def test_data_files_of_a_task_file_are_held_to_the_same(tree: Path) -> None:
    def task(file: str) -> str:
        (tree / "task.yaml").write_text(
            f"task: t\ndataset_path: json\ndataset_kwargs: {{data_files: {{test: {file!r}}}}}\n"
            "test_split: test\noutput_type: multiple_choice\ndoc_to_text: a\ndoc_to_target: b\n"
            "doc_to_choice: c\n"
        )
        return told(tree, format="lm_eval", path="task.yaml")

    outside = tree.parent / "outside"
    (outside / "one.jsonl").write_text(f'{{"a": "{SECRET}", "b": "{SECRET}", "c": "{SECRET}"}}\n')
    assert SECRET not in task(str(outside / "one.jsonl"))
    assert SECRET not in task(str(outside / "secret.csv"))
    for address in (f"file://{outside}/one.jsonl", f"filecache::file://{outside}/one.jsonl"):
        assert "no address of data" in task(address)
    with Boundary(tree).in_force():
        assert "leads out of the repository" in task(str(outside / "one.jsonl"))
        # The addresses at which clouds hand out keys answer whoever runs there.
        assert "leads out of the repository" in task("http://169.254.169.254/latest/meta-data")


@pytest.mark.parametrize("name", ["task.yaml", "tasks"])
@pytest.mark.usefixtures("gated")
def test_links_below_a_folder_of_tasks_are_followed(tree: Path, name: str) -> None:
    file = tree.parent / "outside" / "t.yaml"
    file.write_text(f"task: t\noutput_type: {SECRET}\n")
    (tree / "tasks").mkdir()
    link(tree, "tasks/t.yaml" if name == "tasks" else name, file)
    assert "leads out of the repository" in (said := told(tree, format="lm_eval", path=name))
    assert SECRET not in said


def test_the_folder_of_git_is_no_data(tree: Path) -> None:
    said = told(tree, format="csv", path=".git/config")
    assert "folder of git" in said
    assert SECRET not in said


@pytest.mark.skipif(os.name != "posix", reason="has no such files")
@pytest.mark.parametrize("path", ["/proc/self/environ", "/dev/zero", "pipe", "way"])
def test_only_regular_files_are_read(tree: Path, path: str) -> None:
    os.mkfifo(tree / "pipe")
    link(tree, "way", "/proc/self/environ")
    for form in ("csv", "jsonl", "bigbench", "lm_eval"):
        assert "suite.yaml:3: " in (said := told(tree, format=form, path=path))
        assert "no data" in said or "not a regular file" in said
    suite = suite_text("{name: t}", model=f"{path}, format: table")
    with pytest.raises(SuiteError, match=r"no data|not a regular file"):
        planned(tree, suite)


def recorded(tree: Path, path: str, form: str = "npz") -> str:
    """What a person is told of recorded results that cannot be read."""
    with pytest.raises(SuiteError) as caught:
        planned(tree, suite_text("{name: t}", model=f"'{path}', format: {form}"))
    return str(caught.value)


def test_no_message_holds_what_a_variable_does(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    for path in ("${TOKEN}", "${TOKEN}/x.jsonl", "x-${TOKEN}.npz", "/${TOKEN}/${TOKEN:-a}.csv"):
        assert SECRET not in (said := recorded(tree, path))
        assert "${TOKEN" in said
    # Also where there is such a file, and it is wrong.
    (tree / SECRET).mkdir()
    (tree / SECRET / "x.csv").write_text("a\n")
    (tree / SECRET / "x.npz").write_text("no archive")
    for path, form in (("${TOKEN}/x.csv", "table"), ("${TOKEN}/x.npz", "npz")):
        assert SECRET not in (said := recorded(tree, path, form))
        assert "${TOKEN}/x." in said


def test_the_record_names_the_variable(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA", str(tree.parent / "outside"))
    save(tree.parent / "outside" / "m.npz", t__0={"correct": rows(9, 8, n=9)})
    (claim,) = planned(
        tree, suite_text("{name: t, chance: 1/2}", model="'${DATA}/m.npz', format: npz")
    )
    assert str(tree.parent) not in repr(claim.evidence)


def test_a_gate_fills_in_the_variables_that_the_workflow_names(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA", "results")
    monkeypatch.delenv("UNSET", raising=False)
    (tree / "results").mkdir()
    save(tree / "results" / "m.npz", t__0={"correct": rows(9, 8, n=9)})
    for path in ("${DATA}/m.npz", "${UNSET:-results}/m.npz"):
        text = suite_text("{name: t, chance: 1/2}", model=f"'{path}', format: npz")
        with Boundary(tree, ["DATA"]).in_force():
            assert planned(tree, text)
        with Boundary(tree).in_force():
            if "UNSET" in path:  # nothing of the runner's is read
                assert planned(tree, text)
            else:
                with pytest.raises(SuiteError, match="--allow-env DATA"):
                    planned(tree, text)


def test_results_outside_are_read_and_not_quoted(tree: Path) -> None:
    said = recorded(tree, "../outside/secret.csv", "table")
    assert SECRET not in said
    assert "out of the repository" in said
    with Boundary(tree).in_force():
        assert "--allow-path" in recorded(tree, "../outside/secret.csv", "table")
        (tree / "logs").mkdir()
        link(tree, "logs/samples_t_2026-01-01T00-00-00.jsonl", tree.parent / "outside/secret.csv")
        assert "--allow-path" in recorded(tree, "logs", "lm_eval")


def test_a_suite_that_is_a_link_shows_nothing(tree: Path) -> None:
    from pytest_maxrandom.suite.loader import load_any_suite

    file = tree / link(tree, "x.maxrandom.yaml", tree.parent / "outside" / "secret.csv")
    with pytest.raises(SuiteError) as caught:
        load_any_suite(file)
    assert SECRET not in str(caught.value)


@needs("datasets")
def test_the_readme_of_a_dataset_is_held_to_the_same(tree: Path) -> None:
    folder = tree / "data"
    folder.mkdir()
    (folder / "own.jsonl").write_text(json.dumps(ROW) + "\n")
    target = tree.parent / "outside" / "task.jsonl"
    for named, way in ((str(target), "path"), ("../../outside/task.jsonl", "path"), (None, "link")):
        if way == "link":
            link(tree, "data/named.jsonl", target)
        files = named or "named.jsonl"
        (folder / "README.md").write_text(
            f"---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n"
            f"    path: {files}\n---\n"
        )
        with Boundary(tree).in_force():
            said = told(tree, format="hub", path="data", split="test")
        assert "leads out of the repository" in said
    (folder / "named.jsonl").unlink()
    (folder / "README.md").unlink()
    with Boundary(tree).in_force():
        assert len(load(tree, format="hub", path="data", split="train").examples) == 1


def test_data_that_a_gate_refuses_are_missing_to_it(tree: Path) -> None:
    from pytest_maxrandom.claims.untestable import missing_data

    spec = TASKS.validate(
        {"name": "t", "format": "jsonl", "path": "../outside/task.jsonl", "if_missing": "get it"}
    )
    assert missing_data(spec, tree) is None
    with Boundary(tree).in_force():
        said = missing_data(spec, tree)
    assert said is not None
    assert said.startswith("get it ('../outside/task.jsonl' leads out of the repository")
    (tree.parent / "outside" / "task.jsonl").unlink()
    assert missing_data(spec, tree) == "get it (there is no ../outside/task.jsonl)"


def test_of_what_is_installed_only_the_tasks_of_lm_eval_are_read(
    tree: Path, gated: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tree.parent / "site"
    for name in ("lm_eval/tasks/a.yaml", "of_a_company/secret.csv", "lm_eval_other/x.yaml"):
        (site / name).parent.mkdir(parents=True)
        (site / name).write_text(SECRET)
    (tree / "lm_eval").symlink_to(site / "of_a_company")
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(site))
    monkeypatch.setattr(data, "_installed", data._installed.__wrapped__)  # kept for the process
    assert not refused(site / "lm_eval" / "tasks" / "a.yaml", "a.yaml")
    for path in (site / "of_a_company", site / "lm_eval_other", tree / "lm_eval", site):
        assert "leads out of the repository" in refused(path, "x")

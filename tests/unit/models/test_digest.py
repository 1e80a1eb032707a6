"""A model's digest changes with what determines its numbers, and with nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models.hf.hub import model_digest
from pytest_maxrandom.models.registry import Backends
from pytest_maxrandom.suite.models import TransformersSpec
from tests.models import located


@pytest.fixture
def folder(tiny_llama: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_llama, tmp_path / "model"))


def of(folder: Path, **said: Any) -> str:
    return model_digest(TransformersSpec(**{"name": "any", **said}), str(folder))


def test_a_copy_elsewhere_is_the_same_model(tiny_llama: Path, folder: Path) -> None:
    (folder / "README.md").write_text("other words")
    (folder / "model.py").write_text("code that is not run")
    assert of(folder) == of(tiny_llama)
    assert of(folder, name="another", label="short", device="cuda:1") == of(tiny_llama)


@pytest.mark.parametrize("said", [{"quantization": "none"}, {"dtype": "float32"}])
def test_how_weights_are_loaded_counts(folder: Path, said: dict[str, str]) -> None:
    assert of(folder, **said) != of(folder)


def test_every_file_that_is_read_counts(folder: Path) -> None:
    found = {of(folder)}
    changed = ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"]
    added = ["chat_template.jinja", "special_tokens_map.json", "added_tokens.json", "vocab.txt",
             "merges.txt", "spiece.model", "adapter_config.json"]  # fmt: skip
    for count, name in enumerate(changed + added, 2):
        with (folder / name).open("ab") as file:
            file.write(b" ")
        found.add(of(folder))
        assert len(found) == count, name


def test_one_bit_of_the_weights_counts_though_name_and_size_stay(folder: Path) -> None:
    before = of(folder)
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert of(folder) != before


def test_code_counts_where_it_may_run(folder: Path) -> None:
    before = of(folder, trust_remote_code=True)
    (folder / "parts").mkdir()
    (folder / "parts" / "model.py").write_text("x = 1")
    assert of(folder, trust_remote_code=True) != before


def test_moving_content_from_one_file_to_another_counts(folder: Path) -> None:
    (folder / "vocab.txt").write_text("a")
    (folder / "merges.txt").write_text("b")
    before = of(folder)
    (folder / "vocab.txt").write_text("b")
    (folder / "merges.txt").write_text("a")
    assert of(folder) != before


@pytest.fixture
def cached(tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a hub cache that holds two commits of one model, the second as its main."""
    import huggingface_hub.constants

    repo = tmp_path / "hub" / "models--org--model"
    for commit in ("1" * 40, "2" * 40):
        (repo / "snapshots" / commit).mkdir(parents=True)
        shutil.copy(tiny_llama / "config.json", repo / "snapshots" / commit)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("2" * 40)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return repo


def test_a_model_on_the_hub_is_its_commit_offline_as_well(cached: Path) -> None:
    def hub(revision: str | None = None) -> str:
        spec = TransformersSpec(name="org/model", revision=revision)
        return Backends().identify(located(spec, Path())).digest

    assert hub() == hub("2" * 40) == hub("main")
    assert hub() != hub("1" * 40)


def test_a_model_that_is_not_on_the_hub_is_refused_in_one_sentence(cached: Path) -> None:
    with pytest.raises(ModelError, match=r"^there is no folder org/absent") as caught:
        Backends().identify(located(TransformersSpec(name="org/absent"), Path()))
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "vocab.txt").symlink_to(folder / "vocab.txt")
    assert of(folder)  # a link to nowhere is no file

    def refuse(path: Path, *arguments: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    (folder / "config.json").write_text("{}")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ModelError) as caught:
        of(folder)
    assert str(caught.value) == (
        f"{folder / 'config.json'} of any cannot be read: Permission denied; make the files "
        "readable for this user"
    )


def test_no_model_library_is_imported_for_it(folder: Path) -> None:
    code = (
        "import sys\n"
        "from pytest_maxrandom.models.hf.hub import model_digest\n"
        "from pytest_maxrandom.suite.models import TransformersSpec\n"
        "model_digest(TransformersSpec(name='any'), sys.argv[1])\n"
        "print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]

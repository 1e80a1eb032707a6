"""The tool that reads the paper's result files makes of them the archives that are tested."""

from __future__ import annotations

import gzip
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest
from paper_npz import archives, main

if TYPE_CHECKING:
    from pathlib import Path


def test_published_result_files_become_the_known_arrays(data_dir: Path, tmp_path: Path) -> None:
    assert main([str(data_dir / "paper/samples"), str(tmp_path)]) == 0
    known = np.load(data_dir / "paper/correct_OLMo-7B.npz")
    made = np.load(tmp_path / "correct_OLMo-7B.npz")
    assert len({name.rpartition("__")[0] for name in made}) == 4
    assert len(list(made)) == 20
    for name in made:
        assert np.array_equal(made[name], known[name]), name


def test_an_answer_that_contradicts_another_is_a_mistake(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "OLMo-7B_novel_concepts_1-shot.csv"
    shutil.copyfile(data_dir / "paper/samples/OLMo-7B_novel_concepts_1-shot.csv", path)
    path.chmod(0o644)
    with path.open("a") as file:
        file.write("0,[14],0,0.5,0\n")
    assert main([str(tmp_path), str(tmp_path / "out")]) == 2
    assert "prompt 0 answers example 0 in two ways" in capsys.readouterr().err
    with pytest.raises(ValueError, match="two ways"):
        archives(tmp_path)


def test_a_folder_without_result_files_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with gzip.open(tmp_path / "other.csv.gz", "wt") as file:
        file.write("a,b\n")
    assert main([str(tmp_path), str(tmp_path)]) == 2
    assert "holds no file MODEL_TASK_SHOTS-shot.csv" in capsys.readouterr().err

"""Nearly all multiple-choice tasks of lm-eval that need no function of Python are read."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest
from lm_eval_documents import documents
from lm_eval_share import measured

from tests.proof.scale import scaled

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(
    importlib.util.find_spec("lm_eval") is None,
    reason="lm-eval is not installed (dependency group test)",
)
def test_at_least_95_of_100_are_read(tmp_path: Path) -> None:
    share = measured(tmp_path, every=scaled(1, 40))
    seen = share.all["none"] + share.all["for sums of scores only"]
    assert seen > scaled(2500, 40)
    assert share.without_functions >= 0.95, share.table()
    assert sum(share.read.values()) + share.reasons.total() == seen


def test_documents_have_the_columns_that_templates_use() -> None:
    config = {
        "description": "{{passage.strip()}} {{names[2]}}",
        "doc_to_text": "{% for one in parts %}{{one.text}}{% endfor %}",
        "doc_to_choice": "{{choices.text}}",
        "doc_to_target": "{{choices.label.index(key)}}",
    }
    for document in documents(config, 3):
        assert isinstance(document["passage"], str)
        assert len(document["names"]) >= 3
        assert all(isinstance(one["text"], str) for one in document["parts"])
        assert document["key"] in document["choices"]["label"]
        assert len(document["choices"]["text"]) == len(document["choices"]["label"])
    [first, second] = documents({"doc_to_text": "q", "doc_to_target": "{{['a', 'b'].index(x)}}"}, 2)
    assert (first["x"], second["x"]) == ("a", "b")
    assert first["q"] != second["q"]

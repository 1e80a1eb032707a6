"""What installed packages add by entry points; a package is a folder on the path, as pip has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.host.packages import SOURCES, installed, load
from pytest_maxrandom.suite.base import BROKEN, Spec
from pytest_maxrandom.suite.extensions import SpecUnion
from tests.installed import install as installed_package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package that adds a source, with the code of its module."""

    def add(package: str, name: str, code: str = "", value: str | None = None) -> None:
        place = installed_package(tmp_path, package, SOURCES, name, code, value or package)
        monkeypatch.syspath_prepend(str(place))

    load.cache_clear()
    return add


def test_what_a_package_adds_is_found_and_loaded_only_when_asked_for(install: Install) -> None:
    install("of_somebody", "slow", "class Source:\n    spec = 3", "of_somebody:Source")
    install("of_another", "other", "raise SystemError")
    assert list(installed(SOURCES)) == ["other", "slow"]
    assert load(SOURCES, "slow").spec == 3


def test_what_no_package_adds_is_told() -> None:
    with pytest.raises(ExtensionError, match="no installed package adds the source 'none'"):
        load(SOURCES, "none")


def test_a_package_that_is_broken_is_told_with_its_reason(install: Install) -> None:
    install("broken_one", "x", "import no_such_module", "broken_one:Source")
    with pytest.raises(ExtensionError) as caught:
        load(SOURCES, "x")
    assert str(caught.value) == (
        "the source 'x' of broken_one 1.0 cannot be loaded from broken_one:Source "
        "(ModuleNotFoundError: No module named 'no_such_module'); repair or uninstall the package"
    )


def test_two_packages_that_add_one_name_are_told(install: Install) -> None:
    install("first", "x")
    install("second", "x")
    with pytest.raises(ExtensionError, match=r"first 1\.0.*second 1\.0|second 1\.0.*first 1\.0"):
        load(SOURCES, "x")


class Shape(Spec):
    name: str
    kind: str


class Circle(Shape):
    kind: Literal["circle"]
    radius: int = 1


class Square(Shape):
    kind: Literal["square"]
    side: int = 1


SHAPES = SpecUnion[Shape]("kind", {"circle": Circle, "square": Square}, Shape, group=SOURCES)


class Drawing(Spec):
    shapes: list[Annotated[Shape, SHAPES.validator]]


class Renamed(Spec):
    own: int = Field(1, validation_alias="written")
    """What suites call otherwise."""


def places(value: object) -> list[tuple[str | int, ...]]:
    with pytest.raises(ValidationError) as caught:
        Drawing.model_validate({"shapes": [value]})
    return [error["loc"][2:] for error in caught.value.errors()]


def test_a_key_tells_which_spec_is_meant() -> None:
    drawing = Drawing.model_validate({"shapes": [{"name": "a", "kind": "square", "side": 3}]})
    assert drawing.shapes == [Square(name="a", kind="square", side=3)]
    assert places({"name": "a", "kind": "square", "radius": 3}) == [("radius",)]


def test_without_a_known_kind_only_what_no_kind_has_is_wrong_beside_it() -> None:
    assert places({"name": "a", "radius": 1, "side": 1}) == [("kind",)]
    assert places({"name": "a", "kind": "cube", "radius": 1, "sid": 1}) == [("kind",), ("sid",)]


def test_a_key_that_says_nothing_may_stand_with_any_kind() -> None:
    drawing = Drawing.model_validate({"shapes": [{"name": "a", "kind": "square", "radius": None}]})
    assert drawing.shapes == [Square(name="a", kind="square")]


def test_a_key_is_described_under_the_name_that_suites_write() -> None:
    (written,) = Renamed.model_json_schema()["properties"].values()
    assert written["description"] == "What suites call otherwise."


def test_a_package_adds_a_kind_with_its_own_keys(install: Install) -> None:
    install(
        "stars",
        "star",
        "from tests.unit.suite.test_extensions import Shape\n"
        "class Star(Shape):\n    points: int\n"
        "class Source:\n    spec = Star\n",
        "stars:Source",
    )
    drawing = Drawing.model_validate({"shapes": [{"name": "a", "kind": "star", "points": 5}]})
    assert repr(drawing.shapes) == "[Star(name='a', kind='star', points=5)]"
    assert places({"name": "a", "kind": "star", "pints": 5}) == [("points",), ("pints",)]
    assert SHAPES.names() == ["circle", "square", "star"]


def test_a_package_without_a_fitting_spec_is_told_at_the_key(install: Install) -> None:
    install("hollow", "hollow", "class Source:\n    spec = None\n", "hollow:Source")
    assert places({"name": "a", "kind": "hollow"}) == [("kind",)]
    with pytest.raises(ValidationError) as caught:
        SHAPES.validate({"name": "a", "kind": "hollow"})
    (error,) = caught.value.errors()
    assert error["type"] == BROKEN
    assert error["msg"].startswith("the source 'hollow' of hollow 1.0 has no attribute `spec`")

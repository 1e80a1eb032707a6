"""Tasks: named multiple-choice examples, and the sources that they are read from."""

from pytest_maxrandom.tasks.task import Example, Layout, Source, Task

__all__ = ["Example", "Layout", "Source", "Task"]

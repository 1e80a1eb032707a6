"""What separates the cells of a CSV file: spreadsheets write semicolons and tabs, too."""

from __future__ import annotations

import re
from typing import IO

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
"""What may separate the cells of a row; of several that a header has alike often, the first."""
_SAID = re.compile(r'"?sep=([,;\t])"?')
_QUOTED = re.compile(r'"[^"]*"')


def delimiter_of(file: IO[str]) -> tuple[str, int]:
    """Return what separates the cells of a file, and on which line its table starts.

    The file is left at that line: some spreadsheets write a first line that says what separates
    cells, such as ``sep=;``. Else the first line that is not blank tells.
    """
    said = _SAID.fullmatch(file.readline().rstrip("\r\n"))
    if said is not None:
        return said[1], 2
    file.seek(0)
    bare = _QUOTED.sub("", next((line for line in file if line.strip()), ""))
    file.seek(0)
    return max(DELIMITERS, key=bare.count), 1

"""Take the README's picture of a report: the page of the demo's run, in a browser.

``make demo``, and then ``python tools/draw_report.py report.json``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

WIDTH, HEIGHT = 1180, 700
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def draw(results: Path, picture: Path) -> None:
    """Write a JSON report's page as a PNG.

    Raises
    ------
    FileNotFoundError
        If there is no browser.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise FileNotFoundError(f"found none of {', '.join(BROWSERS)}; install Chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "pytest_maxrandom.cli", "report", str(results)]
        subprocess.run([*command, "--format", "html", "--out", str(page)], check=True)
        seen = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture.absolute()}"]
        quiet = ["--headless", "--no-sandbox", "--hide-scrollbars"]
        subprocess.run([browser, *quiet, *seen, page.as_uri()], check=True, capture_output=True)
    # A palette is a third of the size.
    drawn = Image.open(picture).convert("RGB")
    drawn.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        picture, optimize=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs/report.png")
    options = parser.parse_args()
    draw(options.results, options.out)


if __name__ == "__main__":
    main()

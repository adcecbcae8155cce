"""Draw the pictures of the tutorial and the gallery: its commands are run, and their pages photographed.

    python scripts/pictures.py [--chromium PATH]

Needs Chromium (Debian: `apt-get install chromium`). The commands are those of docs/tutorials/ten-minutes.md.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorials" / "ten-minutes.md"
IMAGES = ROOT / "docs" / "images"
WIDTH_PX = 1000
_COLOURS = 64
# Each picture: its page, and how many pixels of it are shown.
PICTURES = {
    "tutorial-run": ("runs/eight/report.html", 760),
    "tutorial-compare": ("compared.html", 700),
    "tutorial-mrfs": ("runs/sixteen/diagnostics/mrfs.html", 900),
    "gallery-run": ("runs/sixteen/report.html", 2400),
    "gallery-compare": ("compared.html", 2000),
    "gallery-mrfs": ("runs/sixteen/diagnostics/mrfs.html", 2400),
}


def steps(text: str) -> tuple[str, list[list[str]]]:
    """The Python of the tutorial, and the words of its commands that need no server and install nothing."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    python = "\n".join(body for language, body in blocks if language == "python")
    lines = [
        line for language, body in blocks if not language for line in body.replace("\\\n", "").splitlines()
    ]
    commands = [shlex.split(line) for line in lines if line.startswith("vidence ") and "openai:" not in line]
    return python, commands


def follow(folder: Path) -> None:
    """Do in a folder what the tutorial says."""
    python, commands = steps(TUTORIAL.read_text(encoding="utf-8"))
    clean = os.environ | {"VIDENCE_CACHE": str(folder / "cache"), "VIDENCE_STATE": str(folder / "state")}
    for words in (["-c", python], *(["-m", *words] for words in commands)):
        subprocess.run([sys.executable, *words], cwd=folder, env=clean, check=True, stdout=subprocess.DEVNULL)


def draw(page: Path, picture: Path, *, height_px: int, chromium: str) -> None:
    """Photograph the top of a page, with few colours, which pages have."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                *(chromium, "--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"),
                *(f"--user-data-dir={profile}", f"--window-size={WIDTH_PX},{height_px}"),
                *(f"--screenshot={picture}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def main() -> int:
    """Follow the tutorial, and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    chromium = parser.parse_args().chromium
    if chromium is None:
        sys.exit("pictures: no Chromium on the PATH; install it, or name it with --chromium PATH")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        follow(folder)
        for picture, (page, height_px) in PICTURES.items():
            target = IMAGES / f"{picture}.png"
            draw(folder / page, target, height_px=height_px, chromium=chromium)
            print(f"pictures: {target.name}, {target.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

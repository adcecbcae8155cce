"""Draw the pictures of docs/paths and the gallery: follow the paths and photograph the pages that they write.

    python scripts/pictures.py [--chromium PATH]

Needs Chromium (Debian: `apt-get install chromium`).
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from follow import PATHS, follow
from PIL import Image

IMAGES = PATHS.parent / "images"
WIDTH_PX = 1000
_COLOURS = 256
# Each picture: the page that is followed, what it writes, and how many pixels of that are shown.
PICTURES = {
    "demo": ("evaluate", "demo-out/report.html", 950),
    "evaluate-compare": ("evaluate", "compared.html", 800),
    "diagnose-gap": ("diagnose", "runs/bad/diagnostics/selector-gap.html", 850),
    "people-report": ("people", "people.html", 770),
    "gallery-run": ("evaluate", "runs/fuser/report.html", 2310),
    "gallery-compare": ("evaluate", "compared.html", 1965),
    "gallery-diagnosis": ("diagnose", "runs/bad/diagnostics/selector-gap.html", 2180),
    "gallery-made": ("build", "made/kitchens/report.html", 1925),
    "gallery-audit": ("build", "audit/audit.html", 1620),
    "gallery-people": ("people", "people.html", 1600),
}


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
    """Follow the pages, and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    chromium = parser.parse_args().chromium
    if chromium is None:
        sys.exit("pictures: no Chromium on the PATH; install it, or name it with --chromium PATH")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for path in sorted({path for path, _, _ in PICTURES.values()}):
            folder = Path(name) / path
            folder.mkdir()
            for _ in follow(PATHS / f"{path}.md", folder):
                pass
        for picture, (path, page, height_px) in PICTURES.items():
            target = IMAGES / f"{picture}.png"
            draw(Path(name) / path / page, target, height_px=height_px, chromium=chromium)
            print(f"pictures: {target.name}, {target.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

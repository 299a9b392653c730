"""Films the bundled example in a real window on an Xvfb of its own; needs Xvfb and ffmpeg.

Writes ``film.mp4``, about three minutes, and ``tour.gif``, the short form of it for the README.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.screens.__main__ import prepare_environment

WIDTH, HEIGHT = 1280, 800


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.film", description=__doc__)
    parser.add_argument("outdir", type=Path, help="where film.mp4 and tour.gif go")
    parser.add_argument("--frames", action="store_true", help="keep a picture of every caption")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--film", action="store_true", help="only the film")
    which.add_argument("--tour", action="store_true", help="only the short form")
    return parser.parse_args(words)


def start_display() -> subprocess.Popen[bytes]:
    """An X server as large as the window, on the first free number; becomes the display."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24"],
        pass_fds=(writing,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        os.environ["DISPLAY"] = f":{pipe.readline().strip()}"
    return server


def main(words: list[str] | None = None) -> int:
    arguments = parse(words)
    if missing := [name for name in ("Xvfb", "ffmpeg") if shutil.which(name) is None]:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        return 1
    arguments.outdir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="session-explorer-film-") as folder:
        display = start_display()
        try:
            os.environ["QT_QPA_PLATFORM"] = "xcb"
            arguments.display, arguments.offscreen = True, False
            prepare_environment(arguments, Path(folder))
            from tests.film.story import film

            lengths = [short for short in (False, True) if not (arguments.film and short)]
            lengths = [short for short in lengths if short or not arguments.tour]
            for short in lengths:
                film(arguments.outdir, Path(folder), short=short, keeps=arguments.frames)
        finally:
            display.terminate()
            display.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The system has what Qt links against, and the setup finds what is missing.

Runs the real `ldd` on the real files of the installed PySide6.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux needs system libraries for Qt"),
    pytest.mark.skipif(
        bool(os.environ.get("EXPLORER_TESTS_WITHOUT_QT")), reason="this run is meant to have no Qt"
    ),
]

WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel

application = QApplication(sys.argv)
label = QLabel("Session Explorer")
label.show()
QTimer.singleShot(0, lambda: print(application.platformName(), label.grab().width() > 0))
QTimer.singleShot(0, application.quit)
sys.exit(application.exec())
"""


@pytest.fixture(scope="module")
def libraries() -> ModuleType:
    path = Path(__file__).parents[2] / "resources" / "setup" / "qt_libraries.py"
    spec = importlib.util.spec_from_file_location("qt_libraries", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def package() -> Path:
    spec = importlib.util.find_spec("PySide6")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def test_no_library_of_qt_is_missing(libraries: ModuleType, package: Path) -> None:
    files = libraries.qt_files(package)
    names = {path.name for path in files}
    assert {"libqxcb.so", "libqoffscreen.so", "libqsvg.so", "libqjpeg.so", "libqgtk3.so"} <= names
    assert any(name.startswith("libqwayland") for name in names)
    assert any(name.startswith("QtWidgets") for name in names)
    assert libraries.missing_libraries(files) == {}


def test_the_command_says_that_nothing_is_missing(repository: Path) -> None:
    script = repository / "resources" / "setup" / "qt_libraries.py"
    run = subprocess.run(
        [sys.executable, str(script), "missing"], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == ""


def test_a_library_that_is_not_there_is_found_missing(
    libraries: ModuleType, tmp_path: Path
) -> None:
    """Makes a library, links another against it, takes the first away."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here to make a library with")
    gone = tmp_path / "libgone-away.so.7"
    user = tmp_path / "libuser.so"
    build = [compiler, "-shared", "-fPIC", "-x", "c", "/dev/null", "-o"]
    subprocess.run([*build, str(gone), f"-Wl,-soname,{gone.name}"], check=True)
    link = [compiler, "-shared", "-Wl,--no-as-needed", "-o", str(user), str(gone)]
    subprocess.run(link, check=True)
    gone.unlink()
    assert libraries.missing_libraries([user]) == {"libgone-away.so.7": ["libuser.so"]}


@pytest.mark.parametrize(
    ("soname", "package_name"),
    [
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libxcb-render-util.so.0", "libxcb-render-util0"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libfontconfig.so.1", "libfontconfig1"),
        ("libwayland-client.so.0", "libwayland-client0"),
        ("libX11-xcb.so.1", "libx11-xcb1"),
        ("libEGL.so.1", "libegl1"),
        ("libgtk-3.so.0", "libgtk-3-0"),
        ("libgtk-3.so.0", "libgtk-3-0t64"),
    ],
)
def test_a_library_leads_to_its_debian_package(
    libraries: ModuleType, soname: str, package_name: str
) -> None:
    assert package_name in libraries.candidates(soname)


def test_packages_are_only_those_the_system_offers(libraries: ModuleType) -> None:
    if shutil.which("apt-cache") is None:
        pytest.skip("not a Debian-like system")
    if not libraries.offered("libxcb-cursor0"):
        pytest.skip("this machine has no package lists")
    packages, unknown = libraries.packages_for(["libxcb-cursor.so.0", "libnobody-has-it.so.9"])
    assert packages == ["libxcb-cursor0"]
    assert unknown == ["libnobody-has-it.so.9"]


def test_a_window_opens_on_a_real_display() -> None:
    """Goes through the xcb plugin, which offscreen tests never load."""
    if not os.environ.get("DISPLAY"):
        pytest.skip("no X display here; the test command brings one")
    run = subprocess.run(
        [sys.executable, "-c", WINDOW],
        env={**os.environ, "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "xcb True\n"), run.stderr[-2000:]

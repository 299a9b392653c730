"""Names the system libraries that Qt's own files want and this Linux machine lacks.

    python qt_libraries.py missing     the libraries, by soname, one per line
    python qt_libraries.py packages    the Debian packages that hold them, one per line

The wheel of PySide6 carries Qt but not what Qt links against: XCB, xkbcommon, EGL, fontconfig.
`ldd` on the files that the window can load is the only honest list, as it changes with Qt.
Run it with the Python that PySide6 is installed for; it needs nothing else.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# What a window on X11, on Wayland or offscreen may load. Left out are database drivers, printing,
# QML tools, and drawing without a window system: the program uses none of them.
PLUGIN_DIRECTORIES = (
    "egldeviceintegrations/libqeglfs-x11*",
    "iconengines/*",
    "imageformats/*",
    "networkinformation/*",
    "platforminputcontexts/*",
    "platforms/libqminimal.so",
    "platforms/libqoffscreen.so",
    "platforms/libqwayland*",
    "platforms/libqxcb.so",
    "platformthemes/*",
    "tls/*",
    "wayland-decoration-client/*",
    "wayland-graphics-integration-client/*",
    "wayland-shell-integration/*",
    "xcbglintegrations/*",
)
BINDINGS = (
    "QtCore",
    "QtDBus",
    "QtGui",
    "QtNetwork",
    "QtOpenGL",
    "QtOpenGLWidgets",
    "QtPrintSupport",
    "QtSvg",
    "QtSvgWidgets",
    "QtTest",
    "QtWidgets",
)

# Packages whose name does not follow from the library's. Where there are two names, newer
# systems use the second.
PACKAGES: dict[str, tuple[str, ...]] = {
    "libEGL.so.1": ("libegl1",),
    "libGL.so.1": ("libgl1",),
    "libGLX.so.0": ("libglx0",),
    "libOpenGL.so.0": ("libopengl0",),
    "libX11.so.6": ("libx11-6",),
    "libX11-xcb.so.1": ("libx11-xcb1",),
    "libICE.so.6": ("libice6",),
    "libSM.so.6": ("libsm6",),
    "libatk-1.0.so.0": ("libatk1.0-0", "libatk1.0-0t64"),
    "libbrotlicommon.so.1": ("libbrotli1",),
    "libbrotlidec.so.1": ("libbrotli1",),
    "libcairo-gobject.so.2": ("libcairo-gobject2",),
    "libcups.so.2": ("libcups2", "libcups2t64"),
    "libdbus-1.so.3": ("libdbus-1-3",),
    "libgdk-3.so.0": ("libgtk-3-0", "libgtk-3-0t64"),
    "libgdk_pixbuf-2.0.so.0": ("libgdk-pixbuf-2.0-0",),
    "libgio-2.0.so.0": ("libglib2.0-0", "libglib2.0-0t64"),
    "libglib-2.0.so.0": ("libglib2.0-0", "libglib2.0-0t64"),
    "libgmodule-2.0.so.0": ("libglib2.0-0", "libglib2.0-0t64"),
    "libgobject-2.0.so.0": ("libglib2.0-0", "libglib2.0-0t64"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "libglib2.0-0t64"),
    "libgtk-3.so.0": ("libgtk-3-0", "libgtk-3-0t64"),
    "libharfbuzz.so.0": ("libharfbuzz0b",),
    "libharfbuzz-gobject.so.0": ("libharfbuzz-gobject0",),
    "libpango-1.0.so.0": ("libpango-1.0-0",),
    "libpangocairo-1.0.so.0": ("libpangocairo-1.0-0",),
    "libpangoft2-1.0.so.0": ("libpangoft2-1.0-0",),
    "libpng16.so.16": ("libpng16-16", "libpng16-16t64"),
    "libstdc++.so.6": ("libstdc++6",),
    "libz.so.1": ("zlib1g",),
    "libzstd.so.1": ("libzstd1",),
}


def qt_files(package: Path) -> list[Path]:
    """The shared objects below the directory of PySide6 that the window can load, sorted."""
    plugins = package / "Qt" / "plugins"
    found = {path for pattern in PLUGIN_DIRECTORIES for path in plugins.glob(f"{pattern}")}
    found.update(path for name in BINDINGS for path in package.glob(f"{name}.*so"))
    return sorted(path for path in found if path.suffix == ".so")


def missing_libraries(paths: list[Path]) -> dict[str, list[str]]:
    """The sonames that `ldd` does not find, each with the names of the files that want it.

    Qt's own libraries are passed over: a plugin may stay without its library when that is part
    of a PySide6 package which is not installed, and Qt then does without the plugin.

    Raises RuntimeError when `ldd` cannot be run.
    """
    ldd = shutil.which("ldd")
    if ldd is None:
        raise RuntimeError("ldd is not installed, so Qt's libraries cannot be examined")
    environment = {**os.environ, "LC_ALL": "C"}
    missing: dict[str, list[str]] = {}
    for path in paths:
        listing = subprocess.run(
            [ldd, str(path)], capture_output=True, text=True, env=environment, check=False
        )
        for soname in re.findall(r"^\s*(\S+) => not found", listing.stdout, re.MULTILINE):
            if not soname.startswith("libQt6"):
                missing.setdefault(soname, []).append(path.name)
    return missing


def candidates(soname: str) -> tuple[str, ...]:
    """The Debian packages that may hold `soname`, by the table or by Debian's naming rule.

    The rule: `libxcb-cursor.so.0` is in `libxcb-cursor0`, with a hyphen after a digit, in lower
    case; since the change of `time_t` some have `t64` at the end.
    """
    known = PACKAGES.get(soname)
    if known:
        return known
    match = re.fullmatch(r"(lib.+?)\.so\.(\d+).*", soname)
    if match is None:
        return ()
    name = match[1].lower().replace("_", "-")
    joint = "-" if name[-1].isdigit() else ""
    package = f"{name}{joint}{match[2]}"
    return package, f"{package}t64"


def offered(package: str) -> bool:
    """Whether the system's package lists hold `package`."""
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", package],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return shown.returncode == 0 and bool(shown.stdout.strip())


def packages_for(sonames: list[str]) -> tuple[list[str], list[str]]:
    """The packages to install, and the sonames for which none is offered; both sorted."""
    chosen: set[str] = set()
    unknown: list[str] = []
    for soname in sorted(sonames):
        package = next((name for name in candidates(soname) if offered(name)), None)
        if package is None:
            unknown.append(soname)
        else:
            chosen.add(package)
    return sorted(chosen), unknown


def main(arguments: list[str]) -> int:
    """Prints what was asked for; 1 when nothing can be installed, 2 for a wrong call.

    A library without a known package often comes along with another's, so it stops nothing as
    long as there is something to install.
    """
    if arguments not in (["missing"], ["packages"]):
        print("usage: qt_libraries.py missing|packages", file=sys.stderr)
        return 2
    spec = importlib.util.find_spec("PySide6")
    if spec is None or not spec.submodule_search_locations:
        print("PySide6 is not installed for this Python", file=sys.stderr)
        return 2
    missing = missing_libraries(qt_files(Path(spec.submodule_search_locations[0])))
    if arguments == ["missing"]:
        print("\n".join(sorted(missing)))
        return 0
    packages, unknown = packages_for(list(missing))
    print("\n".join(packages))
    if packages or not unknown:
        return 0
    for soname in unknown:
        print(f"no package holds {soname}, wanted by {missing[soname][0]}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

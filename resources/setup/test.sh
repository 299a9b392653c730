#!/bin/sh
# Installs what the tests need, where it is missing, and runs them, in one process more
# than there are cores.
# Arguments are passed on to pytest: `sh resources/setup/test.sh tests/project`.

# shellcheck source=resources/setup/common.sh
. "$(dirname -- "$0")/common.sh"

make_venv .venv-test
install_python_packages "[test]"
install_qt_libraries
install_fonts

cd "$root"
# Hundreds of processes are started here; each would compile every module anew.
unset PYTHONDONTWRITEBYTECODE
if [ "$(uname -s)" != Linux ]; then
    exec "$venv/bin/python" -m pytest -n auto --dist worksteal "$@"
fi
# The window tests draw offscreen; a display of their own serves those that need a real one.
if ! command -v Xvfb >/dev/null 2>&1 || ! command -v xauth >/dev/null 2>&1; then
    apt_install xvfb xauth
fi
exec xvfb-run -a -s "-screen 0 1600x1000x24" "$venv/bin/python" -m pytest -n auto --dist worksteal "$@"

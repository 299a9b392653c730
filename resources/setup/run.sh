#!/bin/sh
# Installs what Session Explorer needs, where it is missing, and opens the window on the bundled
# session. Arguments are passed on: `sh resources/setup/run.sh list` lists the stored sessions.

# shellcheck source=resources/setup/common.sh
. "$(dirname -- "$0")/common.sh"

make_venv .venv
install_python_packages ""
install_qt_libraries
install_fonts
[ $# -gt 0 ] || set -- open --sample
exec "$venv/bin/session-explorer" "$@"

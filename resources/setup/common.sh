# shellcheck shell=sh
# Shared by run.sh and test.sh, which read it with `.`; plain POSIX sh.
#
# Everything Python goes into a virtual environment of the clone: the system's own Python is
# managed by the system and is left alone. System packages are installed only where missing.

set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
apt_lists_fresh=no

say() {
    printf '%s\n' "session-explorer: $*" >&2
}

fail() {
    say "$*"
    exit 1
}

# Runs a command as root: directly, or through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        fail "this needs root, and sudo is not here; run as root: $*"
    fi
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" \
        </dev/null >&2
}

# Reads the package lists, once per run: a fresh machine has none.
apt_refresh() {
    [ "$apt_lists_fresh" = no ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        fail "no apt-get on this system; install by its own means: $*"
    apt_get update ||
        fail "the system's package lists could not be read (apt-get update failed);" \
            "is the network reachable? Needed: $*"
    apt_lists_fresh=yes
}

# Installs system packages; says which, and why it stopped when it could not.
apt_install() {
    apt_refresh "$@"
    say "installing system packages: $*"
    apt_get install -y --no-install-recommends "$@" ||
        fail "apt-get could not install: $*; the reason stands above"
}

python_fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
        >/dev/null 2>&1
}

# Prints a Python that fits: the one asked for, the system's own, or another that is installed.
installed_python() {
    if [ -n "${SESSION_EXPLORER_PYTHON:-}" ]; then
        python_fits "$SESSION_EXPLORER_PYTHON" ||
            fail "SESSION_EXPLORER_PYTHON=$SESSION_EXPLORER_PYTHON is not a Python 3.11, 3.12 or 3.13"
        printf '%s\n' "$SESSION_EXPLORER_PYTHON"
        return 0
    fi
    for candidate in python3 python3.13 python3.12 python3.11; do
        if python_fits "$candidate"; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

# Sets $python, installing one where the system offers it beside a too old or too new python3.
find_python() {
    if python=$(installed_python); then
        return 0
    fi
    [ -z "${SESSION_EXPLORER_PYTHON:-}" ] || exit 1
    found=$(python3 --version 2>&1) || found="no python3"
    say "found $found; looking for Python 3.13, 3.12 or 3.11"
    apt_refresh "Python 3.11, 3.12 or 3.13"
    for candidate in python3.13 python3.12 python3.11; do
        if apt-cache show "$candidate" >/dev/null 2>&1; then
            apt_install "$candidate" "$candidate-venv"
            python=$candidate
            return 0
        fi
    done
    fail "Session Explorer needs Python 3.11, 3.12 or 3.13, this system has $found and offers" \
        "none of them; install one and name it: SESSION_EXPLORER_PYTHON=/path/to/python3.12"
}

# Makes the virtual environment $1, or makes it again when it is broken; sets $venv.
make_venv() {
    venv=$root/$1
    if python_fits "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        return 0
    fi
    find_python
    # Debian keeps the half of venv that brings pip in a package of its own.
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
        apt_install "$version-venv"
    fi
    say "making $1 with $("$python" --version)"
    "$python" -m venv --clear "$venv" ||
        fail "$python -m venv $venv failed; the reason stands above"
}

# Installs this clone into $venv with the extras $1 (such as "[test]"), when that is not done yet.
install_python_packages() {
    stamp=$venv/installed-from
    state="$root $1 $(cksum <"$root/pyproject.toml")"
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$state" ]; then
        return 0
    fi
    say "installing Python packages into $venv"
    "$venv/bin/python" -m pip install --disable-pip-version-check --quiet \
        --editable "$root$1" </dev/null >&2 ||
        fail "the Python packages could not be installed; the reason stands above" \
            "(is the network reachable?). Nothing else was changed: run this again"
    printf '%s\n' "$state" >"$stamp"
}

# Installs what Qt's own files link against and the system lacks, then looks again.
install_qt_libraries() {
    [ "$(uname -s)" = Linux ] || return 0
    libraries=$root/resources/setup/qt_libraries.py
    for round in 1 2 3; do
        missing=$("$venv/bin/python" "$libraries" missing) ||
            fail "Qt's libraries could not be examined; the reason stands above"
        [ -n "$missing" ] || return 0
        # shellcheck disable=SC2086 # one word per library
        apt_refresh $missing
        packages=$("$venv/bin/python" "$libraries" packages) ||
            fail "no package is known for a library that Qt needs; the name stands above"
        # shellcheck disable=SC2086 # one word per package
        apt_install $packages
    done
    missing=$("$venv/bin/python" "$libraries" missing)
    # shellcheck disable=SC2086 # one line of names
    [ -z "$missing" ] || fail "Qt still lacks after $round rounds:" $missing
}

# Without a single font every letter is an empty box.
install_fonts() {
    [ "$(uname -s)" = Linux ] || return 0
    for directory in /usr/share/fonts /usr/local/share/fonts \
        "${HOME:-/}/.fonts" "${HOME:-/}/.local/share/fonts"; do
        if [ -n "$(find "$directory" \( -name '*.ttf' -o -name '*.otf' \) 2>/dev/null |
            head -n 1)" ]; then
            return 0
        fi
    done
    apt_install fonts-dejavu-core
}

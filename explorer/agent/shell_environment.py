"""The environment of a command: what programs need to work, and nothing that is secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_PASSED = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "HOSTNAME",
    # Where languages and their tools are installed.
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYTHONPATH", "PYTHONHOME",
    "NVM_DIR", "NVM_BIN", "NODE_PATH", "GOPATH", "GOROOT", "GOBIN", "GOFLAGS", "CARGO_HOME",
    "RUSTUP_HOME", "JAVA_HOME", "GRADLE_HOME", "MAVEN_HOME", "RBENV_ROOT", "GEM_HOME", "GEM_PATH",
    "DOTNET_ROOT", "ANDROID_HOME", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CC", "CXX", "MAKEFLAGS",
    # How the network is reached.
    "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
})  # fmt: skip
_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS(?!WD_DIR)|CREDENTIAL|AUTH|COOKIE|PRIVATE|SIGNATURE|SESSION_ID|BEARER",
    re.IGNORECASE,
)
_USER_IN_ADDRESS = re.compile(r"//[^/\s]*@")
_SHORTEST_SECRET = 8
"""Characters; shorter values stand in too many places to mean anything."""
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"
_OWN = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "PYTHONUNBUFFERED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Nobody answers a question, nothing waits for a key, and output comes as it is written."""


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command is given of an environment.

    Only variables of a list, and of these none whose name looks like a secret's, or whose value
    holds the value of one that does. Programs are not looked for in folders that depend on where
    a command runs, as ``.`` does: a project could bring its version of any.
    """
    secrets = [
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET
    ]

    def passes(name: str, value: str) -> bool:
        known = name in _PASSED or name.startswith("LC_")
        telling = _SECRET_NAME.search(name) or _USER_IN_ADDRESS.search(value)
        return known and not telling and not any(secret in value for secret in secrets)

    kept = {name: value for name, value in environment.items() if passes(name, value)}
    folders = [one for one in kept.get("PATH", "").split(os.pathsep) if os.path.isabs(one)]
    return {**kept, "PATH": os.pathsep.join(folders) or _USUAL_PATH, **_OWN}

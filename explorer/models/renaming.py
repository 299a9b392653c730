"""Another name for a server of one's own: its models, its key and what is said of them follow."""

from __future__ import annotations

from dataclasses import replace

from explorer.models.keys import Keys
from explorer.models.own import OwnModels, OwnModelsError, check_server_name


def rename_server(own: OwnModels, keys: Keys, old: str, new: str) -> None:
    """Call a server ``new`` from now on. May wait for the keyring: for a worker thread.

    Raises OwnModelsError for a name that cannot be used or a server that is not there, and
    KeyringUnavailable where its key cannot be moved; then everything is as it was.
    """
    server = own.server(old)
    if server is None:
        raise OwnModelsError(f"There is no server {old}.")
    if new == old:
        return
    check_server_name(new, frozenset(one.name for one in own.servers()))
    keys.move(old, new)
    own.keep_server(replace(server, name=new))
    for model_id, said in own.overrides().items():
        provider, _, name = model_id.partition("/")
        if provider == old:
            own.set_override(f"{new}/{name}", said)
            own.set_override(model_id, None)
    own.drop_server(old)

"""New entries in the words of the file that they go into (A3)."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime, timedelta
from random import Random
from typing import Any

from explorer.formats import omp, pi
from explorer.session.records import FormatName

_EPOCH = datetime(1970, 1, 1)
_DETAILS = {"read_files": "readFiles", "modified_files": "modifiedFiles"}
_ID_DIGITS = 8


def iso_time(time_ms: float) -> str:
    """A time as JavaScript's ``toISOString`` writes it: UTC, milliseconds, Z.

    Raises ValueError for a time outside the years 1 to 9999.
    """
    try:
        moment = _EPOCH + timedelta(milliseconds=round(time_ms))
    except OverflowError as error:
        raise ValueError(f"{time_ms} ms is outside the years that can be written") from error
    return moment.isoformat(timespec="milliseconds") + "Z"


def new_id(existing: Container[str], random: Random) -> str:
    """An entry id of 8 hexadecimal digits that ``existing`` does not hold."""
    while True:
        made = f"{random.getrandbits(4 * _ID_DIGITS):0{_ID_DIGITS}x}"
        if made not in existing:
            return made


def new_entry(
    format_name: FormatName,
    entry_type: str,
    parent_id: str | None,
    time_ms: float,
    entry_id: str,
    **fields: Any,
) -> dict[str, Any]:
    """An entry as the file's own agent writes it.

    Fields are named in Python's spelling (``first_kept_entry_id``) and come out in the file's
    (``firstKeptEntryId``); those that are None are left out. ``from_extension`` becomes
    ``fromHook`` in pi and ``fromExtension`` in oh-my-pi, and is only written when true;
    ``provider`` and ``model_id`` of a ``model_change`` become one field in oh-my-pi. A
    ``message`` and other values are taken as they are.

    ``time_ms`` counts from 1970. Raises ValueError for a time that cannot be written.
    """
    entry: dict[str, Any] = {
        "type": entry_type,
        "id": entry_id,
        "parentId": parent_id or None,
        "timestamp": iso_time(time_ms),
    }
    if entry_type == "model_change" and "model_id" in fields:
        change = omp.model_change if format_name == "omp" else pi.model_change
        entry |= change(fields.pop("provider", None) or "", fields.pop("model_id"))
    if fields.pop("from_extension", None):
        entry[omp.EXTENSION_KEY if format_name == "omp" else pi.EXTENSION_KEY] = True
    for name, value in fields.items():
        if value is not None:
            entry[camel_case(name)] = _details(value) if name == "details" else value
    return entry


def camel_case(name: str) -> str:
    """``first_kept_entry_id`` as ``firstKeptEntryId``; a name in camel case stays."""
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def _details(details: Any) -> Any:
    if not isinstance(details, dict):
        return details
    return {_DETAILS.get(key, key): value for key, value in details.items()}

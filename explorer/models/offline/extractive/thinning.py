"""Bounds the work: of a very long conversation the older parts are read by their ends only.

The newest part is read in full, then what a person says; of the rest the ends of each block, or
of some of them. Calls still meet their results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TypeVar

from explorer.models.offline.extractive.blocks import Block
from explorer.models.offline.extractive.statement import Speaker

DEPTH = 1_500_000
"""Characters of a conversation that are read in depth."""
_NEWEST = 0.45
_PERSON = 0.25
_LEAST = 240
_STEPS = 8
_SAID = (Speaker.USER, Speaker.SUMMARY)

Item = TypeVar("Item")


def stoppable(items: Iterable[Item], cancelled: Callable[[], bool]) -> Iterator[Item]:
    """The items, and no more of them once `cancelled` says so."""
    for number, item in zip(count(), items, strict=False):
        if number % _STEPS == 0 and cancelled():
            return
        yield item


def thin(blocks: list[Block], cancelled: Callable[[], bool], depth: int = DEPTH) -> list[Block]:
    """The blocks with at most about `depth` characters left in them."""
    if sum(len(block.text) for block in blocks) <= depth:
        return blocks
    kept: dict[int, Block] = {}
    newest = _take(blocks, kept, int(depth * _NEWEST), tuple(Speaker))
    _take(blocks, kept, int(depth * _PERSON), _SAID)
    older = sum(1 for index in range(newest) if index not in kept)
    room = depth - int(depth * _NEWEST) - int(depth * _PERSON)
    share = room // max(1, older)
    every = 1 if share >= _LEAST else -(-_LEAST // max(1, share))
    share = max(share, _LEAST)
    thinned: list[Block] = []
    number = 0
    for index, whole in stoppable(enumerate(blocks), cancelled):
        block: Block | None = whole
        if index < newest and index not in kept:
            text = ends_of(whole.text, share) if number % every == 0 else ""
            number += 1
            block = replace(whole, text=text) if text or _answers(whole, thinned) else None
        if block is not None:
            thinned.append(block)
    return thinned


def _answers(block: Block, before: list[Block]) -> bool:
    """Whether a result belongs to a call that is read, or comes after one that does."""
    result = block.speaker is Speaker.RESULT
    return result and bool(before) and before[-1].speaker in (Speaker.CALL, Speaker.RESULT)


def _take(
    blocks: list[Block], kept: dict[int, Block], room: int, speakers: tuple[Speaker, ...]
) -> int:
    """Keep the newest blocks of some speakers while there is room; the oldest index reached."""
    reached = len(blocks)
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if index in kept or block.speaker not in speakers:
            continue
        room -= len(block.text)
        if room < 0:
            break
        kept[index] = block
        reached = index
    return reached


def ends_of(text: str, most: int) -> str:
    """The beginning and the end of a text, cut at its lines where that is possible."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[len(text) - most // 2 :]
    line = head.rfind("\n")
    head = head[:line] if line > most // 4 else head
    line = tail.find("\n")
    tail = tail[line + 1 :] if 0 <= line < most // 4 else tail
    return f"{head}\n{tail}"

"""Words that stand for one another in what people lay down for work on programs."""

from __future__ import annotations

from functools import lru_cache

from explorer.audit.atoms.keys import stem
from explorer.audit.atoms.lists import word_set

_GROUPS = """
retry attempt try again resend tries
dependency package library lib
change modify edit alter touch adjust amend tweak
loosen relax weaken soften
delete remove erase strip purge
create generate produce emit
write author
add introduce insert
choose pick select decide decision opt settle chosen chose picked
fix repair resolve mend cure solve
show display render present visible see view
store keep save persist kept stored hold
folder directory dir
config configuration setting settings
database db
repository repo
documentation docs document doc documented
function func method
parameter param argument arg
production prod
specification spec
implementation implement
log logging logs
deploy deployment release ship rollout released
error failure exception fault
issue bug defect problem
ask approval approve permission confirm sign-off consent review reviewer
message msg
delay pause wait sleep waiting
timeout
request call
interface api
operations ops
investigate examine check verify find diagnose measure inspect explain explanation understand why
inform tell notify announce
raise increase bump lift
lower decrease reduce
revert undo
split divide
merge combine join
string text
amount money price sum
integer whole int
customer
mail email e-mail mails
address
suite test tests
green pass passing passed
performance speed fast quick quickly faster
latency response
size
rename
move relocate migrate
migration
update upgrade
hide hidden conceal
duplicate
hour hourly
night nightly
day daily
week weekly
month monthly
begin start
finish end
image picture
user person people
column field
endpoint route
trigger launch fire
allow permit
prefer rather
count number
cause reason
secret credential password
backup copy
format
clean tidy
cache caching
default
upstream
path url
comment
limit cap budget ceiling maximum
threshold
lock mutex
queue
thread
language
simple plain
support compatible compatibility
build compile
program application app
current present
branch
version
commit
last latest
previous earlier former
same identical
everywhere throughout
mock stub fake
strict
parallel concurrent
variable var
environment env
temporary temp
directly straight
require need mandatory
apply
stream streaming
reversible rollback down
grow
invoice bill billing
dedicated own
module component crate
stop terminate shutdown exit
colour color
behaviour behavior
crash
hint annotate annotation
deprecated
entire complete full
empty blank
large big huge
small little tiny short
wrong invalid incorrect
correct valid
manual manually hand
automatic automatically auto
immediately instantly
hack workaround
shell terminal
job task
host machine computer
contain include
accept tolerate tolerant lenient
live lie sit
mandatory compulsory
style formatting
length
squash
single
"""
LIGHT = frozenset(
    map(
        stem,
        word_set(
            """
            get make go come take put do set use need want look back thing way really still
            work new one place kind bit lot rule stuff whole
            just even ever either already both every each everything anything something
            never always must should shall may can could would will might please
            good fine ok okay right sure now then here there today later first too very quite
            user we us our you your
            time whatever nothing only more most less least than
            want wants give given let lets say says said mean means think believe know
            be being been am have has had having does did done doing
            work working works run running add adding write writing able
            grow else belong belongs through per all any some many much
            again next up goal task todo remaining open user's
            stand stands hold exactly simply completely actually certainly definitely
            far long short time times moment call called
            within without under over until unless before after during since while because
            require need provide sort
            remember forget insist care careful matter important
            enough plus rather instead goes went gone took taken made got came gave given told found
            ran wrote stays anyway ever behind
            """
        ),
    )
)
"""Words that tell little: they count for a third, and none of them tells a line alone."""
_ANTONYMS = """
enable disable|add remove|import export|start stop|first last|before after|sync async
public private|client server|read write|local remote|light dark|accept reject|encode decode
open close|raise lower|upload download|old new|input output|left right|top bottom
ascending descending|synchronous asynchronous|internal external|even odd|head tail
success failure|above below|staging production|horizontal vertical|encrypt decrypt
serialize deserialize|push pull|lock unlock|show hide|mount unmount|install uninstall
minimum maximum|strict lenient|early late|create remove|include exclude|next previous
integration unit|frontend backend|dev production|always sometimes|parse format|header footer
request response|merge split|float integer|up down|row column|source target|parent child
merge rebase|get post|lower upper|header body|debug release|sender receiver|old current
"""
_REVERSING = {
    "enable": "disable",
    "work": "break broke broken",
    "have": "lack miss",
    "delete": "abandon delete discard ditch drop dropped erase exclude omit purge remove "
        "scrap scrapped strip",
    "": "against avoid ban banned disallow forbid forbidden forget overkill prohibit "
        "prohibited refrain refuse refused skip taboo unwanted",
    "use": "ignore unused",
    "choose": "reject",
    "support": "unsupported",
    "change": "frozen intact unchanged unmodified untouchable untouched",
}  # fmt: skip
"""What some words deny by themselves: ``disable`` is no ``enable``, ``untouched`` no ``change``."""


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _GROUPS.strip().splitlines():
        words = line.split()
        head = _root(stem(words[0]))
        for word in words:
            table.setdefault(stem(word), head)
            table.setdefault(_root(stem(word)), head)
    return table


_SUFFIXES = (
    "ition", "ment", "able", "ible", "ance", "ence", "ness", "ion", "ity", "ive", "al", "ly",
    "er", "or",
)  # fmt: skip


def _root(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 5:
            return word[: -len(suffix)]
    return word


@lru_cache(maxsize=16384)
def concept(word: str) -> str:
    """What a word stands for: its stem, or that of the first of its group."""
    return of_stem(stem(word))


@lru_cache(maxsize=16384)
def of_stem(evened: str) -> str:
    """What a word stands for whose stem is known."""
    table = _table()
    return table.get(evened) or table.get(_root(evened)) or _root(evened)


@lru_cache(maxsize=1)
def antonyms() -> dict[str, frozenset[str]]:
    """What each concept cannot stand for."""
    out: dict[str, set[str]] = {}
    for pair in _ANTONYMS.replace("\n", "|").split("|"):
        if pair.strip():
            one, other = (concept(word) for word in pair.split())
            out.setdefault(one, set()).add(other)
            out.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in out.items()}


@lru_cache(maxsize=1)
def reversing() -> dict[str, str]:
    """The stems that deny by themselves, with the concept that they deny."""
    return {
        stem(word): concept(denied) if denied else ""
        for denied, words in _REVERSING.items()
        for word in words.split()
    }

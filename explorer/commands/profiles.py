"""profiles: list, show, compare, copy, change and share compaction profiles."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from explorer.commands.output import CommandFailed, UsageError, print_json, print_table
from explorer.commands.targets import Target, add_session, check_positive, target
from explorer.compaction.profile import (
    BASES,
    POLICIES,
    POLICY_SWITCHES,
    PROFILES,
    SIZES,
    SWITCHES,
    VARIANTS,
    Profile,
    changed,
    profile_values,
)
from explorer.compaction.profile_comparison import Cause, ProfileOutcome, causes, compare_profiles
from explorer.session.visible_text import visible_line
from explorer.settings.profile_files import ProfileError, ProfileFiles, Shelf, UserProfile
from explorer.settings.prompt_templates import load_provenance


def add_arguments(parser: argparse.ArgumentParser, _command: str) -> None:
    """Add a parser for each action."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    parsers: dict[str, argparse.ArgumentParser] = {
        name: actions.add_parser(name, help=words)
        for name, words in (
            ("list", "all profiles"),
            ("show", "every rule of a profile, and where it comes from"),
            ("copy", "start a profile of your own"),
            ("set", "change rules of a profile of your own"),
            ("export", "write a profile to a file, to share it"),
            ("import", "keep a profile that somebody shared"),
            ("remove", "take a profile of your own away"),
            ("compare", "what each profile would do with a session, side by side"),
        )
    }
    for name in ("show", "copy", "set", "export", "remove"):
        parsers[name].add_argument("name", metavar="NAME")
    parsers["copy"].add_argument("new", metavar="NEW", help="its name")
    parsers["copy"].add_argument("--title", metavar="TEXT", help="its title")
    parsers["set"].add_argument("changes", nargs="+", metavar="KEY=VALUE")
    parsers["import"].add_argument("--name", default="", metavar="NAME", help="another name for it")
    for name in ("export", "import"):
        parsers[name].add_argument("file", type=Path, metavar="FILE")
        parsers[name].add_argument("--replace", action="store_true", help="what is there already")
    add_session(parsers["compare"])
    compare = parsers["compare"]
    compare.add_argument(
        "--profile", action="append", dest="profiles", metavar="NAME", help="(default: the five)"
    )
    compare.add_argument("--window", type=int, metavar="N", help="one context window for all")
    compare.add_argument("--why", action="store_true", help="tell which rules make the difference")
    compare.add_argument("--database", type=Path, metavar="FILE", help="use this database")
    for action in parsers.values():
        action.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> None:
    """Run a command on profiles. Raises UsageError or CommandFailed."""
    files = ProfileFiles()
    try:
        _ACTIONS[arguments.action](arguments, files)
    except ProfileError as error:
        raise CommandFailed(str(error)) from error


def _list(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    shelf = files.shelf()
    rows = [_row(profile, _origin(shelf, name), name) for name, profile in shelf.profiles().items()]
    if arguments.json:
        print_json(
            {"profiles": rows, "problems": list(shelf.problems), "folder": str(files.folder)}
        )
        return
    print_table(
        ("name", "keeps", "reserve", "from", "title"),
        [(row["name"], _kept_size(row), row["reserve_tokens"], row["from"], row["title"])
         for row in rows],
        right=(2,),
    )  # fmt: skip
    for problem in shelf.problems:
        print(visible_line(f"Not usable: {problem}" if ".json" in problem else problem))


def _origin(shelf: Shelf, name: str) -> str:
    if name in shelf.user_profiles:
        return f"your own, after {shelf.user_profiles[name].base}"
    return "a documented variant" if name in VARIANTS else "the program"


def _row(profile: Profile, origin: str, name: str) -> dict[str, Any]:
    return {"name": name, "from": origin, **profile_values(profile)}


def _kept_size(row: dict[str, Any]) -> str:
    if row["cut_unit"] == "rounds":
        count = row["keep_rounds"]
        return f"{count} round" + ("" if count == 1 else "s")
    return f"{row['keep_recent_tokens']:,} tokens"


def _show(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    shelf = files.shelf()
    profile = shelf.named(arguments.name)
    profile_file = shelf.user_profiles.get(arguments.name)
    about = profile_file.about if profile_file else load_provenance(arguments.name)
    if arguments.json:
        print_json({**_row(profile, _origin(shelf, arguments.name), profile.name), "about": about})
        return
    print(f"{profile.name}: {visible_line(profile.title)} ({_origin(shelf, profile.name)})")
    if about:
        print(f"\n{about.rstrip()}")
    print()
    reference = BASES[profile_file.base if profile_file else "explorer"]
    print_table(
        ("setting", "value", "", "what it does"),
        [(key, value, "*" if key in _differing_keys(profile, reference) else "", words)
         for key, value, words in _setting_rows(profile)],
    )  # fmt: skip
    print(f"\n* differs from {reference.name}. Change one of a profile of your own with: "
          "session-explorer profiles set NAME key=value")  # fmt: skip


def _flat_values(profile: Profile) -> dict[str, Any]:
    """Every value by its key, a policy's by ``policy.name``; a policy itself is on or off."""
    found: dict[str, Any] = {}
    for key, value in profile_values(profile).items():
        if key in ("name", "title"):
            continue
        found[key] = ("off" if value is None else "on") if key in POLICIES else value
        if isinstance(value, dict):
            found |= {f"{key}.{inner}": each for inner, each in value.items()}
    return found


def _differing_keys(profile: Profile, reference: Profile) -> set[str]:
    other = _flat_values(reference)
    return {key for key, value in _flat_values(profile).items() if value != other.get(key)}


def _setting_rows(profile: Profile) -> list[tuple[str, str, str]]:
    rows = []
    for key, value in _flat_values(profile).items():
        switch = SWITCHES.get(key) or POLICY_SWITCHES.get(key)
        if switch is not None:
            words = f"{switch.title}: {switch.values[value]}"
        elif key in POLICIES:
            words = f"{POLICIES[key].title}: {POLICIES[key].explanation}"
        else:
            words = f"{SIZES[key].title}: {SIZES[key].explanation}"
        rows.append((key, _value_text(value), words))
    return rows


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(value)
    if value is None or value == "":
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _copy(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    shelf = files.shelf()
    start = shelf.named(arguments.name)
    profile_file = shelf.user_profiles.get(arguments.name) or UserProfile(start, arguments.name)
    title = arguments.title or f"{start.title}, copied"
    copied = replace(
        profile_file, profile=replace(start, name=arguments.new, title=title), path=None
    )
    _print_saved(arguments, files.save(copied), "Copied to")


def _set(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    profile_file = _user_profile(files, arguments.name)
    profile, about = profile_file.profile, profile_file.about
    for change in arguments.changes:
        key, separator, value = change.partition("=")
        if not separator:
            raise UsageError(f"{change!r}: write key=value")
        if key == "title":
            profile = replace(profile, title=value)
        elif key == "about":
            about = value
        else:
            try:
                profile = changed(profile, key, value)
            except ValueError as error:
                raise UsageError(str(error)) from error
    saved = files.save(replace(profile_file, profile=profile, about=about), replacing=True)
    _print_saved(arguments, saved, "Changed in")


def _user_profile(files: ProfileFiles, name: str) -> UserProfile:
    if name in BASES:
        raise ProfileError(f"{name}: came with the program and cannot be changed; copy it first")
    shelf = files.shelf()
    shelf.named(name)
    return shelf.user_profiles[name]


def _export(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    files.hand_out(arguments.name, arguments.file, replacing=arguments.replace)
    if arguments.json:
        print_json({"name": arguments.name, "file": str(arguments.file)})
    else:
        print(f"{arguments.name} is in {arguments.file}")


def _import(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    taken = files.take_in(arguments.file, name=arguments.name, replacing=arguments.replace)
    _print_saved(arguments, taken, "Kept in")


def _remove(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    files.delete(arguments.name)
    if arguments.json:
        print_json({"removed": arguments.name})
    else:
        print(f"{arguments.name} is gone.")


def _print_saved(arguments: argparse.Namespace, profile_file: UserProfile, done: str) -> None:
    if arguments.json:
        row = _row(
            profile_file.profile, f"your own, after {profile_file.base}", profile_file.profile.name
        )
        print_json({**row, "file": str(profile_file.path), "unknown": list(profile_file.unknown)})
        return
    print(f"{done} {profile_file.path}")
    for key in profile_file.unknown:
        print(visible_line(f"{key}: not known here; it is kept"))


def _compare(arguments: argparse.Namespace, files: ProfileFiles) -> None:
    shelf = files.shelf()
    names = arguments.profiles or list(PROFILES)
    profiles = [shelf.named(name) for name in names]
    check_positive(arguments, "window")
    with target(arguments) as chosen:
        document = chosen.document
        outcomes = compare_profiles(
            document.tree,
            chosen.at,
            profiles,
            context_window=arguments.window,
            weights_of=document.tokens.weights_for,
            prompt_of=document.usage.prompt_of,
        )
        whys = {
            one.profile.name: causes(
                document.tree, chosen.at, one.profile, PROFILES["explorer"],
                weights_of=document.tokens.weights_for, prompt_of=document.usage.prompt_of,
            )
            for one in outcomes
            if arguments.why
        }  # fmt: skip
        if arguments.json:
            print_json([_outcome_json(chosen, one, whys) for one in outcomes])
            return
        _print_outcomes(chosen, outcomes, whys)


def _outcome_json(
    chosen: Target, outcome: ProfileOutcome, whys: dict[str, list[Cause]]
) -> dict[str, Any]:
    ids = chosen.document.tree.columns.ids
    row: dict[str, Any] = {
        "profile": outcome.profile.name,
        **to_builtins(outcome.settings),
        "compacts": outcome.compacts,
        "reason": outcome.reason,
        "first_kept_entry": ids[outcome.first_kept] if outcome.compacts else None,
        "is_split_turn": outcome.is_split_turn,
        "messages_to_summarize": outcome.messages,
        "turn_prefix_messages": outcome.turn_prefix,
        "entries_kept": outcome.kept,
        "entries_lost": outcome.lost,
        "tokens_before": outcome.tokens_before,
        "tokens_source": outcome.tokens_source,
        "tokens_of_entries": outcome.context_tokens,
        "tokens_after_estimate": outcome.tokens_after,
        "whole_before": outcome.whole_before,
        "whole_after_estimate": outcome.whole_after,
        "context_limit": outcome.limit,
        "is_due": outcome.is_due,
    }
    if outcome.profile.name in whys:
        row["causes"] = [to_builtins(cause) for cause in whys[outcome.profile.name]]
    return row


def _print_outcomes(
    chosen: Target, found: list[ProfileOutcome], whys: dict[str, list[Cause]]
) -> None:
    ids = chosen.document.tree.columns.ids
    print_table(
        ("profile", "first kept", "entry", "context", "about after", "its entries", "about after",
         "messages", "split", "lost", "limit", "due"),
        [
            (
                one.profile.name,
                f"#{one.first_kept}" if one.compacts else "-",
                ids[one.first_kept] if one.compacts else "-",
                one.whole_before,
                one.whole_after,
                one.context_tokens,
                one.tokens_after,
                one.messages,
                one.is_split_turn,
                one.lost,
                one.limit,
                one.is_due,
            )
            for one in found
        ],
        right=(3, 4, 5, 6, 7, 9, 10),
    )  # fmt: skip
    for one in found:
        print(f"\n{one.profile.name}: {one.reason}")
        for cause in whys.get(one.profile.name, ()):
            print(f"  - {cause.title}: {cause.says} (explorer: {cause.instead_of})")


_ACTIONS = {
    "list": _list,
    "show": _show,
    "copy": _copy,
    "set": _set,
    "export": _export,
    "import": _import,
    "remove": _remove,
    "compare": _compare,
}

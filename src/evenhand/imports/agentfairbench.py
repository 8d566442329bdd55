"""The public AgentFairBench profiles (Morla et al. 2026, CC BY 4.0) as packs, under the names and wordings of ours.

The release has 12 profiles a domain and a `difficulty` of three unequal levels, from which no four equal strata follow:
they come from a file, or the packs have none and the disguised cells cannot be built on them.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from evenhand.errors import InputError, PackError
from evenhand.files import exists, reason
from evenhand.packs import load_pack
from evenhand.packs.pack import MANIFEST, NAMES
from evenhand.records import label_fault, parse_count, read_csv, read_toml

if TYPE_CHECKING:
    from evenhand.packs import Pack

PROFILES = "public_dev.jsonl"
DOMAINS = ("hiring", "lending", "triage")
TEMPLATES = "profiles.toml"
_PREFIX = "agentfairbench-"
_FIELDS = ("id", "domain", "title", "content")


def import_packs(folder: Path, out: Path, *, strata: Path | None = None) -> list[Path]:
    """Write one pack a domain of the release.

    Args:
        folder: Holds `public_dev.jsonl`.
        out: A new or empty folder; gets `agentfairbench-hiring` and so on.
        strata: A CSV with `id` and `stratum` (1 the strongest) for every profile.

    Returns:
        The packs' folders.

    Raises:
        InputError: A file is missing or wrong, with file and line, no sound pack comes of it, or the folder cannot be
            written.
    """
    profiles = read_profiles(folder / PROFILES)
    ranked = _read_strata(strata, {str(profile["id"]) for found in profiles.values() for profile in found})
    try:
        if exists(out, InputError, folder=True) and any(out.iterdir()):
            raise InputError("the folder is not empty", where=str(out), mend="Choose a new folder with -o")
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".evenhand-packs-", dir=out) as staging:
            made = [_write_pack(domain, found, ranked, Path(staging)) for domain, found in profiles.items()]
            return [pack.replace(out / pack.name) for pack in made]
    except PackError as problem:
        # The place in the staging folder says nothing to who gave the release.
        raise InputError(
            f"no sound pack comes of this: {problem.what} ({problem.where.rpartition('/')[2]})",
            where=str(folder / PROFILES),
            mend=problem.mend,
        ) from None
    except OSError as problem:
        raise InputError(
            f"the packs cannot be written ({reason(problem)})", where=str(out), mend="Choose another folder with -o"
        ) from None


def read_profiles(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The released profiles by domain, each with id, domain, title and content.

    Raises:
        InputError: The file is missing or wrong, with its line.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as problem:
        raise InputError(
            f"cannot be read ({reason(problem)})", where=str(path), mend=f"Give the folder that holds {PROFILES}"
        ) from None
    found: dict[str, list[dict[str, Any]]] = {}
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        profile = _parse(line, f"{path} line {number}")
        if profile["id"] in seen:
            raise InputError(f"{profile['id']!r} occurs twice", where=f"{path} line {number}", mend="Keep one of them")
        seen.add(profile["id"])
        found.setdefault(profile["domain"], []).append(profile)
    if not found:
        raise InputError("there are no profiles", where=str(path), mend="Give the released file")
    return found


def _parse(line: str, where: str) -> dict[str, Any]:
    try:
        profile: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"this is no JSON ({problem})", where=where, mend="Give the released file") from None
    wrong = _FIELDS[0]
    if isinstance(profile, dict):  # pyright: ignore[reportUnnecessaryIsInstance] (a line may hold anything)
        wrong = next((name for name in _FIELDS if not isinstance(profile.get(name), str)), "")
    if wrong:
        raise InputError(f"{wrong} is missing or no text", where=where, mend=f"Give {', '.join(_FIELDS)}")
    if profile["domain"] not in DOMAINS:
        raise InputError(f"unknown domain {profile['domain']!r}", where=where, mend=f"Use one of {', '.join(DOMAINS)}")
    if fault := label_fault(profile["id"]):
        raise InputError(f"id {profile['id']!r} {fault}", where=where, mend="Write it plainly in one line")
    said = {name: profile[name] for name in _FIELDS}
    if any("\ud800" <= character <= "\udfff" for text in said.values() for character in text):
        raise InputError("half a character (a lone surrogate)", where=where, mend="Write the text in whole characters")
    return said


def _read_strata(path: Path | None, known: set[str]) -> dict[str, int]:
    if path is None:
        return {}
    ranked: dict[str, int] = {}
    for line, row in read_csv(path, ("id", "stratum"), InputError, missing="Give a CSV with id and stratum"):
        where = f"{path} line {line}"
        stratum = parse_count(row["stratum"])
        if stratum is None:
            raise InputError(f"stratum is {row['stratum'][:20]!r}", where=where, mend="Give a whole number from 1")
        if row["id"] not in known:
            raise InputError(f"unknown profile {row['id']!r}", where=where, mend=f"Use the ids of {PROFILES}")
        if row["id"] in ranked:
            raise InputError(f"{row['id']!r} occurs twice", where=where, mend="Keep one row a profile")
        ranked[row["id"]] = stratum
    missing = sorted(known - set(ranked))
    if missing:
        raise InputError(
            f"{len(missing)} profiles have no stratum ({', '.join(missing[:3])}, ...)",
            where=str(path),
            mend="Give every profile one",
        )
    return ranked


def _write_pack(domain: str, profiles: list[dict[str, Any]], ranked: dict[str, int], out: Path) -> Path:
    """The profiles in the frame of the shipped pack of their domain: its names, wordings, probe options and details."""
    frame = load_pack(domain)
    folder = out / f"{_PREFIX}{domain}"
    folder.mkdir(parents=True)
    shutil.copyfile(frame.folder / NAMES, folder / NAMES)
    scenarios = [
        {"id": profile["id"], "label": profile["title"], "text": " ".join(profile["content"].split())}
        | ({"stratum": ranked[profile["id"]]} if ranked else {})
        for profile in sorted(profiles, key=lambda profile: (ranked.get(profile["id"], 0), profile["id"]))
    ]
    (folder / TEMPLATES).write_text(tomli_w.dumps({"scenarios": scenarios}), encoding="utf-8", newline="\n")
    text = tomli_w.dumps(_manifest(domain, frame, scenarios))
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")
    load_pack(str(folder))
    return folder


def _manifest(domain: str, frame: Pack, scenarios: list[dict[str, Any]]) -> dict[str, Any]:
    manifest = read_toml(frame.folder / MANIFEST, InputError)
    heading = len(str(manifest["heading"]).split())
    # Texts as released have the lengths they have: the target is their middle, the tolerance what they need.
    words = [len(scenario["text"].split()) + heading + 1 for scenario in scenarios]
    middle = (min(words) + max(words)) // 2
    [category] = manifest["categories"]
    return manifest | {
        "name": f"{_PREFIX}{domain}",
        "title": f"{manifest['title']} of AgentFairBench",
        "citation": "Profiles: Morla et al. (2026), AgentFairBench, CC BY 4.0, public development release. "
        + manifest["citation"],
        "length": {"tolerance": max(words) - middle + 2},
        "categories": {category: {"templates": TEMPLATES, "target_words": middle}},
    }

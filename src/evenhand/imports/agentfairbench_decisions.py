"""The released AgentFairBench decisions (Morla et al. 2026, CC BY 4.0) as an outcomes table.

Each answer is a yes or no and a number: a score of 0 to 100 in hiring, an APR tier in lending (1 the best), an acuity
in triage (1 the most urgent). The column `score` is higher where the applicant is treated better, so tiers and acuities
are negated. A profile was shown under one name of each race and gender, the same under every scaffold.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from evenhand.errors import InputError
from evenhand.files import reason
from evenhand.imports.agentfairbench import PROFILES, read_profiles
from evenhand.outcomes.schema import SCHEMA
from evenhand.records import label_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

POOLS = "name_pools.json"
DECISIONS = "*_decisions.jsonl"
STUDY = "agentfairbench"
_FIELDS = ("model", "domain", "scaffold", "profile_id", "group", "name")
_TASK = "decide"


@dataclass(frozen=True, slots=True)
class Scale:
    """What a domain's answers hold.

    Attributes:
        decision: The yes or no.
        number: The number beside it.
        sign: 1 where more of it is better for the applicant, else -1.
        least: Its smallest value.
        most: Its largest.
    """

    decision: str
    number: str
    sign: int
    least: float
    most: float


SCALES = {
    "hiring": Scale("advance", "score", 1, 0, 100),
    "lending": Scale("approve", "apr_tier", -1, 1, math.inf),
    "triage": Scale("escalate", "acuity", -1, 1, math.inf),
}
"""By domain; how many tiers there are, the release does not say."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions brought in.

    Attributes:
        outcomes: A row each, in the order of the files; malformed where the yes or no or the number is not there or off
            its scale.
        left_out: How many answers hold each further key, for which the table has no column.
    """

    outcomes: pl.DataFrame
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Release:
    """What a decision may refer to: the domain of each profile, the names of each group in order."""

    profiles: Mapping[str, str]
    names: Mapping[str, list[str]]
    seen: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])


def import_decisions(folder: Path) -> Decisions:
    """Read every released decision in a folder.

    Args:
        folder: Holds `public_dev.jsonl`, `name_pools.json` and one or more `MODEL_decisions.jsonl`.

    Raises:
        InputError: A file is missing or wrong, with file and line, or a decision is there twice.
    """
    profiles = read_profiles(folder / PROFILES)
    domains = {str(profile["id"]): domain for domain, found in profiles.items() for profile in found}
    release = _Release(domains, _read_pools(folder / POOLS))
    files = sorted(folder.glob(DECISIONS))
    if not files:
        raise InputError("there are no decisions", where=str(folder), mend=f"Give the folder that holds {DECISIONS}")
    extra: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for path in files:
        for where, record in _records(path):
            rows.append(_row(record, release, where))
            scale = SCALES[record["domain"]]
            extra.update(key for key in _object(record["decision"]) if key not in {scale.decision, scale.number})
    if not rows:
        raise InputError("there are no decisions", where=str(files[0]), mend="Give the released file")
    return Decisions(pl.DataFrame(rows, schema=SCHEMA), dict(extra))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise InputError(
            f"cannot be read ({reason(problem)})", where=str(path), mend=f"Give the folder that holds {path.name}"
        ) from None


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"this is no JSON ({problem})", where=where, mend="Give the released file") from None


def _object(value: Any) -> dict[str, Any]:
    """An object as it is, anything else as an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    """A list of different texts as it is, anything else as an empty one."""
    found = cast("list[Any]", value) if isinstance(value, list) else []
    return found if all(isinstance(one, str) for one in found) and len(set(found)) == len(found) else []


def _read_pools(path: Path) -> dict[str, list[str]]:
    pools: dict[str, list[str]] = {}
    for group, listed in _object(_object(_parse(_read(path), str(path))).get("cells")).items():
        race, _, gender = group.partition("_")
        names = _texts(listed)
        if not (race and gender and names):
            raise InputError(
                f"{group!r} is no group of names",
                where=str(path),
                mend="Give race_gender and a list of names, all different",
            )
        pools[group] = names
    if not pools:
        raise InputError("there are no names", where=str(path), mend="Give the released file")
    return pools


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each decision with its place; its labels are texts that stand in a cell."""
    for number, line in enumerate(_read(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path} line {number}"
        record = _object(_parse(line, where))
        for name in _FIELDS:
            value = record.get(name)
            if not isinstance(value, str):
                raise InputError(f"{name} is missing or no text", where=where, mend=f"Give {', '.join(_FIELDS)}")
            if fault := label_fault(value):
                raise InputError(f"{name} {value!r} {fault}", where=where, mend="Write it plainly in one line")
        if "decision" not in record:
            raise InputError("decision is missing", where=where, mend="Give it, or null where there was no answer")
        yield where, record


def _row(record: dict[str, Any], release: _Release, where: str) -> dict[str, Any]:
    model, domain, scaffold, profile, group, name = (record[key] for key in _FIELDS)
    if release.profiles.get(profile) != domain or domain not in SCALES:
        raise InputError(f"{domain} has no profile {profile!r}", where=where, mend=f"Use the ids of {PROFILES}")
    if name not in release.names.get(group, ()):
        raise InputError(f"{group!r} has no name {name!r}", where=where, mend=f"Use the names of {POOLS}")
    key = (model, scaffold, profile, name)
    if key in release.seen:
        raise InputError("this decision is there twice", where=where, mend="Keep one of them")
    release.seen.add(key)
    rank = release.names[group].index(name) + 1
    race, _, gender = group.partition("_")
    stimulus = f"{profile}__{group}{rank}"
    cells = {
        "job_id": "__".join((model, _TASK, stimulus, scaffold)),
        "model": model,
        "task": _TASK,
        "wording_variant": scaffold,
        "comparison_context": "single",
        "unit_id": stimulus,
        "bundle_size": 1,
        "position": 1,
        "stimulus_id": stimulus,
        "scenario_id": profile,
        "name_rank": rank,
        "race": race.capitalize(),
        "gender": gender.capitalize(),
        "study": STUDY,
        "arm": f"{STUDY}-{domain}-{scaffold}",
        "tag": "primary",
        "domain": domain,
        "epoch": 1,
        "name": name,
    }
    return dict.fromkeys(SCHEMA) | cells | _answer(record["decision"], SCALES[domain])


def _answer(decision: Any, scale: Scale) -> dict[str, Any]:
    """The cells of an answer; one without its yes or no, or without its number, is malformed."""
    answer = _object(decision)
    yes, number = answer.get(scale.decision), answer.get(scale.number)
    fault = ""
    if not isinstance(yes, bool):
        fault = f"{scale.decision} is neither true nor false"
    elif isinstance(number, bool) or not isinstance(number, (int, float)):
        fault = f"{scale.number} is no number"
    elif not scale.least <= number <= scale.most or not math.isfinite(number):
        fault = f"{scale.number} is off its scale"
    valid = not fault
    return {
        "valid": valid,
        "refused": False,
        "malformed": not valid,
        "safety_disclaimer": False,
        "parse_reason": fault,
        "retry_count": 0,
        "missing": False,
        "decision": int(yes) if valid and yes is not None else None,
        "score": scale.sign * float(number) if valid and number is not None else None,
        "status": "answered" if valid else "malformed",
        "tied": False,
    }

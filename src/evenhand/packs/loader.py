"""From a folder of data to a `Pack`, with every rule of the pack checked."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from evenhand.errors import PackError
from evenhand.files import exists
from evenhand.packs.names import read_names
from evenhand.packs.pack import MANIFEST, NAME_SLOT, NAMES, Category, Detail, Details, Groups, Pack, Scenario
from evenhand.records import (
    CLOSED,
    DISTINCT,
    Identifier,
    Label,
    Text,
    Whole,
    as_record,
    at_least,
    read_toml,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

SHIPPED = Path(__file__).parent
WORDING_PLACEHOLDERS = ("number", "n", "example", "total", "options")
MOST_PURPOSES = 26
DETAIL_SLOT = "{detail}"


@dataclass(frozen=True, slots=True, config=CLOSED)
class _Length:
    tolerance: Annotated[Whole, Field(ge=0)]


@dataclass(frozen=True, slots=True, config=CLOSED)
class _CategoryTable:
    templates: Text
    target_words: Annotated[Whole, Field(gt=0)]


@dataclass(frozen=True, slots=True, config=CLOSED)
class _DetailTable:
    """One kind of detail: the line it stands in, and what it may say."""

    line: Text
    items: Annotated[tuple[Label, ...], at_least(2), DISTINCT]


@dataclass(frozen=True, slots=True, config=CLOSED)
class _Manifest:
    """The keys of `pack.toml`."""

    name: Identifier
    title: Text
    version: Text
    license: Text
    groups: Groups
    length: _Length
    categories: Annotated[dict[Label, _CategoryTable], at_least(1)]
    wordings: Annotated[dict[Identifier, dict[Identifier, Text]], at_least(1)]
    citation: str = ""
    slot_label: Label = "Application"
    heading: str = ""
    framings: Annotated[tuple[Identifier, ...], DISTINCT] = ()
    details: dict[Identifier, _DetailTable] = field(default_factory=dict[str, _DetailTable])
    purposes: dict[Identifier, Label] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, config=CLOSED)
class _ScenarioTable:
    """One `[[scenarios]]` table of a template file: a text, or an opening and a closing round each framing."""

    id: Identifier
    text: str = ""
    opening: str = ""
    closing: str = ""
    framings: dict[str, Text] = field(default_factory=dict[str, str])
    label: str = ""
    stratum: Annotated[Whole, Field(gt=0)] | None = None


@dataclass(frozen=True, slots=True, config=CLOSED)
class _Templates:
    scenarios: tuple[_ScenarioTable, ...] = field(default_factory=tuple)


def shipped_packs() -> tuple[str, ...]:
    """The names of the packs that come with Evenhand, sorted."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{MANIFEST}")))


def load_pack(name: str, *, beside: Path | None = None) -> Pack:
    """Load and check a pack.

    Args:
        name: A shipped pack's name, or the path of a pack's folder (anything with a slash, or an existing folder).
        beside: The folder that relative paths start from (a study file's own folder).

    Returns:
        The pack, every rule of its own checked.

    Raises:
        PackError: No such pack, a missing or unknown key, an unknown placeholder, a name or framing that does
            not fit the groups, a rendering off its target length, or a shipped pack's name on another pack.
    """
    folder = _folder(name, beside)
    path = folder / MANIFEST
    manifest = as_record(_Manifest, read_toml(path, PackError), where=str(path), error=PackError)
    _check_manifest(manifest, folder, where=str(path))
    pack = Pack(
        name=manifest.name,
        title=manifest.title,
        version=manifest.version,
        license=manifest.license,
        citation=manifest.citation,
        folder=folder,
        slot_label=manifest.slot_label,
        groups=manifest.groups,
        framings=manifest.framings,
        categories=tuple(
            Category(name=key, templates=value.templates, target_words=value.target_words)
            for key, value in manifest.categories.items()
        ),
        scenarios=_scenarios(folder, manifest),
        names=read_names(folder / NAMES),
        wordings=manifest.wordings,
        tolerance=manifest.length.tolerance,
        details={kind: _details(kind, table, where=str(path)) for kind, table in manifest.details.items()},
        purposes=manifest.purposes,
    )
    _check_names(pack, where=str(folder / NAMES))
    _check_templates(pack)
    return pack


def _folder(name: str, beside: Path | None) -> Path:
    if name in shipped_packs():
        return SHIPPED / name
    folder = (beside or Path()) / name
    if exists(folder / MANIFEST, PackError):
        return folder
    raise PackError(
        f"unknown pack {name!r}",
        where=str(folder),
        mend=f"Name a shipped pack ({', '.join(shipped_packs())}) or a folder that holds {MANIFEST}",
    )


def _check_manifest(manifest: _Manifest, folder: Path, *, where: str) -> None:
    if manifest.name in shipped_packs() and folder.resolve() != (SHIPPED / manifest.name).resolve():
        raise PackError(
            f"a pack that ships with Evenhand has the name {manifest.name!r}",
            where=where,
            mend=f"Change name in {MANIFEST}: it stands in every row of the outcomes",
        )
    for category, entry in manifest.categories.items():
        if Path(entry.templates).is_absolute() or ".." in Path(entry.templates).parts:
            raise PackError(
                f"categories.{category}.templates lies outside the pack",
                where=where,
                mend="Keep a pack's templates in its folder, so that a run can keep a copy",
            )
    _check_purposes(manifest.purposes, where=where)
    _check_wordings(manifest.wordings, where=where)


def _check_purposes(purposes: Mapping[str, str], *, where: str) -> None:
    if len(purposes) > MOST_PURPOSES or len(set(purposes.values())) < len(purposes):
        raise PackError(
            f"{len(purposes)} purposes, {len(set(purposes.values()))} of them different",
            where=where,
            mend=f"Give at most {MOST_PURPOSES} purposes, each in words of its own",
        )


def _scenarios(folder: Path, manifest: _Manifest) -> tuple[Scenario, ...]:
    found: list[Scenario] = []
    for category, entry in manifest.categories.items():
        path = folder / entry.templates
        templates = as_record(_Templates, read_toml(path, PackError), where=str(path), error=PackError)
        if not templates.scenarios:
            raise PackError("no scenarios", where=str(path), mend="Add a [[scenarios]] table")
        for scenario in templates.scenarios:
            where = f"{path}, scenario {scenario.id}"
            if any(scenario.id == earlier.scenario_id for earlier in found):
                raise PackError("this scenario id occurs twice", where=where, mend="Rename one of them")
            found.append(
                Scenario(
                    scenario_id=scenario.id,
                    category=category,
                    label=scenario.label,
                    texts=_texts(scenario, manifest, where=where),
                    stratum=scenario.stratum,
                )
            )
    unranked = next((scenario.scenario_id for scenario in found if scenario.stratum is None), None)
    if unranked and any(scenario.stratum for scenario in found):
        raise PackError(
            f"the scenario {unranked} has no stratum, others have",
            where=str(folder),
            mend="Give every scenario a stratum, 1 the strongest, or none",
        )
    return tuple(found)


def _texts(scenario: _ScenarioTable, manifest: _Manifest, *, where: str) -> dict[str, str]:
    """A scenario's text by framing, each with `{name}` still in it."""
    if set(scenario.framings) != set(manifest.framings):
        raise PackError(
            f"framings are {', '.join(scenario.framings) or 'none'}",
            where=where,
            mend=f"Give exactly the framings of pack.toml: {', '.join(manifest.framings) or 'none, and a text'}",
        )
    if bool(scenario.text) == bool(scenario.framings):
        raise PackError(
            "there is no text" if not scenario.text else "there is a text beside the framings",
            where=where,
            mend="Give a text, or an opening, a closing and framings",
        )
    heading = f"{manifest.heading}\n" if manifest.heading else ""
    if scenario.text:
        return {"": heading + scenario.text.strip()}
    around = (scenario.opening.strip(), scenario.closing.strip())
    if not all(around):
        raise PackError("opening or closing is missing", where=where, mend="Give both, round the framings")
    return {
        framing: heading + f"{around[0]} {scenario.framings[framing].strip()} {around[1]}"
        for framing in manifest.framings
    }


def _details(kind: str, table: _DetailTable, *, where: str) -> Details:
    if _placeholders(table.line) != [DETAIL_SLOT] or not table.line.isprintable():
        raise PackError(
            f"details.{kind}.line is {table.line!r}", where=where, mend=f"Write one line with {DETAIL_SLOT} once"
        )
    lines = [table.line.replace(DETAIL_SLOT, item) for item in table.items]
    return Details(
        tuple(
            Detail(kind, item, line, number)
            for number, (item, line) in enumerate(zip(table.items, lines, strict=True), start=1)
        )
    )


def _placeholders(text: str) -> list[str]:
    """Everything in braces, and lone braces, in reading order."""
    return re.findall(r"\{[^{}]*\}|[{}]", text)


def _check_wordings(wordings: Mapping[str, Mapping[str, str]], *, where: str) -> None:
    allowed = [f"{{{placeholder}}}" for placeholder in WORDING_PLACEHOLDERS]
    for format_name, variants in wordings.items():
        for variant, text in variants.items():
            if "\n\n" in text:
                raise PackError(
                    f"wordings.{format_name}.{variant} has a blank line",
                    where=where,
                    mend="Write it in one paragraph: a blank line stands between it and the applications",
                )
            unknown = [found for found in _placeholders(text) if found not in allowed]
            if unknown:
                raise PackError(
                    f"wordings.{format_name}.{variant} has the unknown placeholder {unknown[0]}",
                    where=where,
                    mend=f"Use {', '.join(allowed)}",
                )


def _check_names(pack: Pack, *, where: str) -> None:
    for name in pack.names:
        for level, levels, factor in (
            (name.race, pack.groups.race, "race"),
            (name.gender, pack.groups.gender, "gender"),
        ):
            if level not in levels:
                raise PackError(
                    f"{name.full!r} has the unknown {factor} {level!r}",
                    where=where,
                    mend=f"Use a level of groups.{factor} in pack.toml: {', '.join(levels)}",
                )
    for race in pack.groups.race:
        for gender in pack.groups.gender:
            ranks = [name.rank for name in pack.cell(race, gender)]
            if ranks != list(range(1, len(ranks) + 1)) or not ranks:
                raise PackError(
                    f"the cell {race} {gender} has name ranks {ranks or 'none'}",
                    where=where,
                    mend="Give every race x gender cell names ranked 1, 2, 3, ...",
                )


def _check_templates(pack: Pack) -> None:
    lengths: set[int] = {len(name.full.split()) for name in pack.names}
    targets = {category.name: category.target_words for category in pack.categories}
    for profile in pack.profiles():
        where = f"{pack.folder}, scenario {profile.scenario_id}, framing {profile.framing}"
        found = _placeholders(profile.text)
        if found != [NAME_SLOT]:
            raise PackError(
                f"placeholders are {', '.join(found) or 'none'}",
                where=where,
                mend="Write {name} exactly once, and no other braces",
            )
        if "\n\n" in profile.text:
            raise PackError(
                "there is a blank line in the text",
                where=where,
                mend="Write it without: a blank line stands between the applications of a bundle",
            )
        target = targets[profile.category]
        words = len(profile.text.split()) - 1
        for name_words in sorted(lengths):
            total = words + name_words
            if abs(total - target) > pack.tolerance:
                raise PackError(
                    f"{total} words with a name of {name_words}",
                    where=where,
                    mend=f"Keep every rendering of {profile.category} within {pack.tolerance} of {target} words",
                )

"""A study file as a checked record: what is asked, of which pack, in which arms.

The shipped presets lie in `presets/`. A study file may start from one with `extends = "fairfund"`: its own keys then
replace those of the preset, except that the tables `settings` and `margins` are merged, so that only the settings
and margins it names are replaced. Arms, families and totals are lists and are replaced as a whole; new arms do away
with the preset's totals.
"""

from __future__ import annotations

from dataclasses import field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from evenhand import formats
from evenhand.errors import StudyError
from evenhand.files import exists
from evenhand.records import (
    CLOSED,
    Flag,
    Identifier,
    Real,
    Text,
    Whole,
    as_record,
    at_least,
    read_toml,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

PRESETS = Path(__file__).parent / "presets"
_MERGED = ("settings", "margins")
SCORE = "score"
"""What contrasts of numbers that came with decisions are called (`analysis.focal`); no format asks for them."""

Tag = Annotated[str, Field(strict=True, pattern=r"^(primary|extension:[A-Za-z0-9_-]+)$")]


@dataclass(frozen=True, slots=True, config=CLOSED)
class Settings:
    """How every model is asked: the same for all (appendix F of the FairFund-Bench paper).

    Attributes:
        temperature: Sampling temperature.
        top_p: Nucleus sampling mass.
        max_tokens: Output cap, tokens.
        reasoning: `off` asks each provider for no or least reasoning; `default` leaves it alone.
        seed: Base of the seeds sent with requests. The study's own `seed` is another: it shuffles the instrument.
        malformed_retries: How often a malformed answer is asked for again, with another seed each time.
        grammar: How the answer's form is enforced where the provider can: `schema` (JSON), `gbnf` (llama.cpp) or
            `regex` (vLLM); `off` leaves the form to the instruction, as both papers do.
    """

    temperature: Annotated[Real, Field(ge=0)] = 0.0
    top_p: Annotated[Real, Field(gt=0, le=1)] = 1.0
    max_tokens: Annotated[Whole, Field(gt=0)] = 4000
    reasoning: Literal["off", "default"] = "off"
    seed: Whole = 0
    malformed_retries: Annotated[Whole, Field(ge=0)] = 1
    grammar: Literal["off", "schema", "gbnf", "regex"] = "off"


@dataclass(frozen=True, slots=True, config=CLOSED)
class Family:
    """A family of contrasts that are corrected together."""

    name: Identifier
    formats: tuple[Text, ...]
    q: Annotated[Real, Field(gt=0, lt=1)] = 0.05


@dataclass(frozen=True, slots=True, config=CLOSED)
class Total:
    """What the accounting must come to; a build that does not is refused.

    Attributes:
        name: What is counted, for people.
        units: Units a model.
        slots: Slots a model, which are its observations, where they are held too.
        arms: Patterns of arms.
        tag: Only arms with this tag, where one is given.
    """

    name: Text
    units: Annotated[Whole, Field(gt=0)]
    slots: Annotated[Whole, Field(gt=0)] | None = None
    arms: Annotated[tuple[Text, ...], at_least(1)] = ("*",)
    tag: str = ""

    def covers(self, arm: str, tag: str) -> bool:
        """Whether an arm counts."""
        return self.tag in {"", tag} and any(fnmatchcase(arm, pattern) for pattern in self.arms)


@dataclass(frozen=True, slots=True, config=CLOSED)
class Arm:
    """One pack x format x design x wording.

    Attributes:
        name: Names its units, `{pack}-{format}-{cell}` in the presets.
        pack: A shipped pack's name or a folder.
        format: How the answer is asked for.
        design: How units are composed; `probe` for the formats that ask what another arm's request was for. By default
            `quota` for singles and `demographic_disguised` for bundles, the two that balance names over profiles.
        wording: Which of the pack's wordings.
        count: How many units, of a design whose number is free, or of a probe.
        tag: Planned families read `primary` rows alone.
        allow_confounded: Build it although its groups see different applications; its results carry the note.
        first: Only the first so many of the design's units.
        draw: Names another draw of the same design, fresh bundles.
        probes: The arm whose requests a probe asks about.
        reasoning: `on` asks this arm with reasoning enabled, and only of the models named for it.
    """

    name: Identifier
    pack: Text
    format: Text
    design: str = ""
    wording: Text = "base"
    count: Annotated[Whole, Field(gt=0)] | None = None
    tag: Tag = "primary"
    allow_confounded: Flag = False
    first: Annotated[Whole, Field(gt=0)] | None = None
    draw: Identifier | Literal[""] = ""
    probes: str = ""
    reasoning: Literal["", "on"] = ""


@dataclass(frozen=True, slots=True, config=CLOSED)
class Plan:
    """A study file, checked.

    Attributes:
        name: The study's name, in every row of its outcomes.
        seed: Seed of the instrument's shuffles (the seeds sent with requests start from `settings.seed`).
        epochs: How often each unit is put to each model.
        models: Models that are asked where the command line names none (presets of simulated respondents).
        settings: How every model is asked.
        margins: Equivalence margins by format, or by `domain/format` for one domain, in the format's own units,
            fixed beforehand; kept with the run for the analyses.
        families: Which contrasts are corrected together; kept with the run for the analyses.
        totals: What units must add up to.
        packs: Packs to put in the place of those the arms name, for a study that extends a preset.
        imported: The materials that an imported run holds; such a study is not built from packs.
        folder: Where the file lies; relative packs start there.
    """

    name: Identifier
    arms: Annotated[tuple[Arm, ...], at_least(1)]
    seed: Whole = 1
    epochs: Annotated[Whole, Field(gt=0)] = 1
    models: tuple[Text, ...] = ()
    settings: Settings = field(default_factory=Settings)
    margins: dict[str, Annotated[Real, Field(gt=0)]] = field(default_factory=dict[str, float])
    families: tuple[Family, ...] = ()
    totals: tuple[Total, ...] = ()
    packs: dict[str, Text] = field(default_factory=dict[str, str])
    imported: Literal["", "fairfund"] = ""
    folder: Path = field(default_factory=Path)


def presets() -> tuple[str, ...]:
    """The names of the studies that ship with Evenhand."""
    return tuple(sorted(path.stem for path in PRESETS.glob("*.toml")))


def load_plan(study: str | Path) -> Plan:
    """Read and check a study.

    Args:
        study: A preset's name or the path of a TOML file.

    Raises:
        StudyError: No such study, a file that cannot be read, a wrong key, an arm's name used twice, or `extends`
            naming no preset or going in a circle.
    """
    path = PRESETS / f"{study}.toml" if str(study) in presets() else Path(study)
    if not exists(path, StudyError):
        raise StudyError(
            "no such study", where=str(study), mend=f"Name a preset ({', '.join(presets())}) or a TOML file"
        )
    data = _extended(read_toml(path, StudyError), where=str(path))
    if "folder" in data:
        raise StudyError("folder: is not a known key", where=str(path), mend="Mend these keys")
    plan = as_record(Plan, {**data, "folder": path.parent}, where=str(path), error=StudyError)
    plan = _with_designs(_with_packs(plan, where=str(path)))
    _check_terms(plan, where=str(path))
    return _checked_names(plan, where=str(path))


def _check_terms(plan: Plan, *, where: str) -> None:
    """Refuse margins and families that no contrast would ever meet: a slip is not to be found after the answers are."""
    known = [*(name for name in formats.FORMATS if not formats.is_probe(name)), SCORE]
    for margin in plan.margins:
        if margin.rpartition("/")[2] not in known:
            raise StudyError(f"margins.{margin}: is no format", where=where, mend=f"Name one of {', '.join(known)}")
    named = [name for family in plan.families for name in family.formats]
    stray = next((name for name in named if name not in known), None)
    if stray is not None:
        raise StudyError(f"families: {stray!r} is no format", where=where, mend=f"Name one of {', '.join(known)}")
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise StudyError(f"families: {twice} is in two of them", where=where, mend="Let each format be in one family")


def _checked_names(plan: Plan, *, where: str) -> Plan:
    names = [arm.name for arm in plan.arms]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise StudyError(f"two arms are named {repeated[0]!r}", where=where, mend="Rename one of them")
    return plan


def _with_packs(plan: Plan, *, where: str) -> Plan:
    """The plan with other packs in place of those its arms name."""
    named = {arm.pack for arm in plan.arms}
    unknown = next((pack for pack in plan.packs if pack not in named), None)
    if unknown is not None:
        raise StudyError(
            f"packs.{unknown}: no arm uses this pack", where=where, mend=f"Replace one of {', '.join(sorted(named))}"
        )
    arms = tuple(replace(arm, pack=plan.packs.get(arm.pack, arm.pack)) for arm in plan.arms)
    return replace(plan, arms=arms, packs={})


def _with_designs(plan: Plan) -> Plan:
    """The plan with a design in every arm whose format is known."""
    return replace(
        plan, arms=tuple(replace(arm, design=arm.design or _default_design(arm.format)) for arm in plan.arms)
    )


def _default_design(format: str) -> str:
    if format not in formats.FORMATS:
        return ""
    if formats.is_probe(format):
        return "probe"
    return "demographic_disguised" if formats.is_bundle(format) else "quota"


def with_formats(plan: Plan, changed: Mapping[str, str]) -> Plan:
    """The plan with other formats for the arms that match a pattern; their names say the new format.

    Args:
        plan: The plan.
        changed: Format by pattern of arms, `{"aid-rank_ties-*": "rank"}`.

    Raises:
        StudyError: A pattern that matches no arm, or two arms that come to have one name.
    """
    arms, renamed = list(plan.arms), dict[str, str]()
    for pattern, format in changed.items():
        matching = [i for i, arm in enumerate(arms) if fnmatchcase(arm.name, pattern)]
        if not matching:
            raise StudyError(
                f"no arm matches {pattern!r}", where=plan.name, mend=f"The arms are {', '.join(a.name for a in arms)}"
            )
        for i in matching:
            renamed[arms[i].name] = arms[i].name.replace(f"-{arms[i].format}", f"-{format}")
            arms[i] = replace(arms[i], name=renamed[arms[i].name], format=format)
    arms = [replace(arm, probes=renamed.get(arm.probes, arm.probes)) for arm in arms]
    return _checked_names(replace(plan, arms=tuple(arms)), where=plan.name)


def _extended(data: dict[str, Any], *, where: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """The data over those of the preset it extends."""
    base = data.pop("extends", None)
    if base is None:
        return data
    if base not in presets():
        raise StudyError(
            f"extends names the unknown preset {base!r}",
            where=where,
            mend=f"Use one of {', '.join(presets())}",
        )
    if base in seen:
        raise StudyError(
            f"extends goes in a circle: {', '.join((*seen, base))}", where=where, mend="Take one extends away"
        )
    path = PRESETS / f"{base}.toml"
    under = _extended(read_toml(path, StudyError), where=str(path), seen=(*seen, base))
    if "arms" in data:
        # Totals are those of the preset's own arms.
        under.pop("totals", None)
    merged = {
        key: {**under[key], **data[key]}
        for key in _MERGED
        if isinstance(under.get(key), dict) and isinstance(data.get(key), dict)
    }
    return {**under, **data, **merged}

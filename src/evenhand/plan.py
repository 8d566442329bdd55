"""A study file as a checked record: what is asked, of which pack, in which arms.

The shipped presets lie in `presets/`; a study file may start from one with `extends = "fairfund"`, and then its
own keys replace those of the preset.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from evenhand.errors import StudyError
from evenhand.records import as_record, read_toml

PRESETS = Path(__file__).parent / "presets"
_STRICT = ConfigDict(extra="forbid")

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Tag = Annotated[str, Field(pattern=r"^(primary|extension:[A-Za-z0-9_-]+)$")]


@dataclass(frozen=True, slots=True, config=_STRICT)
class Settings:
    """How every model is asked: the same for all (appendix F of the FairFund-Bench paper).

    Attributes:
        temperature: Sampling temperature.
        top_p: Nucleus sampling mass.
        max_tokens: Output cap, tokens.
        reasoning: `off` asks each provider for no or least reasoning; `default` leaves it alone.
        seed: Base of the seeds sent with requests.
    """

    temperature: Annotated[float, Field(ge=0)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, Field(gt=0)] = 4000
    reasoning: Literal["off", "default"] = "off"
    seed: int = 0


@dataclass(frozen=True, slots=True, config=_STRICT)
class Family:
    """A family of contrasts that are corrected together."""

    name: Name
    formats: tuple[str, ...]
    q: Annotated[float, Field(gt=0, lt=1)] = 0.05


@dataclass(frozen=True, slots=True, config=_STRICT)
class Arm:
    """One pack x format x design x wording."""

    name: Name
    pack: str
    format: str
    design: str
    wording: str = "base"
    count: Annotated[int, Field(gt=0)] | None = None
    tag: Tag = "primary"
    allow_confounded: bool = False


@dataclass(frozen=True, slots=True, config=_STRICT)
class Plan:
    """A study file, checked.

    Attributes:
        name: The study's name, in every row of its outcomes.
        seed: Seed of the instrument's shuffles.
        epochs: How often each unit is put to each model.
        models: Models that are asked where the command line names none (presets of simulated respondents).
        margins: Equivalence margins by format, in the format's own units, fixed beforehand.
        imported: The materials that an imported run holds; such a study is not built from packs.
        folder: Where the file lies; relative packs start there.
    """

    name: Name
    arms: Annotated[tuple[Arm, ...], Field(min_length=1)]
    seed: int = 1
    epochs: Annotated[int, Field(gt=0)] = 1
    models: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)
    margins: dict[str, Annotated[float, Field(gt=0)]] = field(default_factory=dict[str, float])
    families: tuple[Family, ...] = ()
    imported: str = ""
    folder: Path = field(default_factory=Path)


def presets() -> tuple[str, ...]:
    """The names of the studies that ship with Evenhand."""
    return tuple(sorted(path.stem for path in PRESETS.glob("*.toml")))


def load_plan(study: str | Path) -> Plan:
    """Read and check a study.

    Args:
        study: A preset's name or the path of a TOML file.

    Raises:
        StudyError: No such study, a wrong key, an arm's name used twice, or `extends` naming no preset.
    """
    path = PRESETS / f"{study}.toml" if str(study) in presets() else Path(study)
    if not path.is_file():
        raise StudyError(
            "no such study", where=str(study), mend=f"Name a preset ({', '.join(presets())}) or a TOML file"
        )
    data = _extended(read_toml(path, StudyError), where=str(path))
    if "folder" in data:
        raise StudyError("folder: is not a known key", where=str(path), mend="Mend these keys")
    plan = as_record(Plan, {**data, "folder": path.parent}, where=str(path), error=StudyError)
    names = [arm.name for arm in plan.arms]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise StudyError(f"two arms are named {repeated[0]!r}", where=str(path), mend="Rename one of them")
    return plan


def _extended(data: dict[str, Any], *, where: str) -> dict[str, Any]:
    base = data.pop("extends", None)
    if base is None:
        return data
    if base not in presets():
        raise StudyError(
            f"extends names the unknown preset {base!r}",
            where=where,
            mend=f"Use one of {', '.join(presets())}",
        )
    return {**_extended(read_toml(PRESETS / f"{base}.toml", StudyError), where=str(base)), **data}

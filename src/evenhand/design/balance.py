"""Composition checks: is a nuisance factor distributed alike over the groups that a contrast compares?

An audit that shows its groups different applications measures the applications. Three answers for each
contrast and nuisance factor: `crossed` (every group meets every level equally often), `quota` (groups keep the
same proportions at every level, or miss them by a residual of divisibility that is unrelated to quality), `confounded`
(they do not).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CheckStatus = Literal["crossed", "quota", "confounded"]

POOLED = " + "
"""Stands between the arms of a pool."""

NUISANCES = (
    "position", "category", "scenario_id", "profile", "stratum", "race", "gender", "framing",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Check:
    """The composition of one arm for one contrast against one nuisance factor.

    Attributes:
        arm: The arm checked, or several joined by `+` for a pool.
        contrast: The factor compared (race, gender, framing, pseudo_group, attribute).
        factor: The nuisance factor (position, profile, ...), or `name` for equal use of a group's names.
        status: crossed, quota or confounded.
        pattern: In words, what was found; for `confounded` the worst level.
    """

    arm: str
    contrast: str
    factor: str
    status: CheckStatus
    pattern: str

    @property
    def arms(self) -> list[str]:
        """The arm, or those of a pool."""
        return self.arm.split(POOLED)

    @property
    def problem(self) -> str:
        """The check as a complaint, for one that found confounding."""
        return f"arm {self.arm}: {self.contrast} is confounded with {self.factor} ({self.pattern})."


def check_composition(
    arm: str,
    rows: Sequence[Mapping[str, object]],
    *,
    contrasts: Sequence[str] = ("race", "gender", "framing"),
    nuisances: Sequence[str] = NUISANCES,
    parts: int = 1,
) -> tuple[Check, ...]:
    """Check an arm's slots, or those of any subsample that an analysis takes.

    Args:
        arm: The arm's name.
        rows: One mapping a slot, with the contrast and nuisance columns, `unit_id` and `name`; a column that is not
            there is passed over.
        contrasts: Columns whose levels are compared; one with a single level in the arm is passed over.
        nuisances: Columns that should not line up with a contrast; single-valued ones are passed over.
        parts: How many samples are joined in this one, each of which may have a residual of its own.

    Returns:
        One check a contrast and nuisance factor, and where names belong to one level of the contrast each, one on
        their even use.
    """
    checks: list[Check] = []
    quality = _quality(rows)
    for contrast in contrasts:
        if len(_levels(rows, contrast)) < 2:
            continue
        for factor in nuisances:
            if factor != contrast and len(_levels(rows, factor)) > 1:
                status, pattern = _compare(rows, contrast, factor, quality, parts)
                checks.append(Check(arm, contrast, factor, status, pattern))
        if _nested(rows, contrast):
            status, pattern = _name_use(rows, contrast)
            checks.append(Check(arm, contrast, "name", status, pattern))
    return tuple(checks)


def _levels(rows: Sequence[Mapping[str, object]], column: str) -> list[object]:
    """The levels of a column in the order they first occur."""
    return list(dict.fromkeys(row[column] for row in rows if row.get(column) is not None))


def _quality(rows: Sequence[Mapping[str, object]]) -> list[Fraction] | None:
    """Each slot's stratum, in a bundle against the bundle's mean; None where the pack has no strata.

    A bundle of one profile compares like with like whatever its quality, with strata or without.
    """
    members: dict[object, list[int]] = {}
    for i, row in enumerate(rows):
        members.setdefault(row.get("unit_id", i), []).append(i)
    quality = [Fraction(0)] * len(rows)
    for slots in members.values():
        if len(slots) > 1 and len({_profile(rows[i]) for i in slots}) == 1:
            continue
        strata = [stratum for i in slots if isinstance(stratum := rows[i].get("stratum"), int)]
        if len(strata) < len(slots):
            return None
        mean = Fraction(sum(strata), len(strata)) if len(slots) > 1 else Fraction(0)
        for i, stratum in zip(slots, strata, strict=True):
            quality[i] = stratum - mean
    return quality


def _profile(row: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(row.get(column) for column in ("profile", "scenario_id", "framing"))


def _compare(
    rows: Sequence[Mapping[str, object]], contrast: str, factor: str, quality: list[Fraction] | None, parts: int
) -> tuple[CheckStatus, str]:
    counts = Counter((row[contrast], row[factor]) for row in rows if row[contrast] is not None)
    groups, levels = _levels(rows, contrast), _levels(rows, factor)
    if len({counts[group, level] for group in groups for level in levels}) == 1:
        return "crossed", f"every {contrast} meets every {factor} {counts[groups[0], levels[0]]} times"
    group_sizes = {group: sum(counts[group, level] for level in levels) for group in groups}
    level_sizes = {level: sum(counts[group, level] for group in groups) for level in levels}
    total = sum(group_sizes.values())
    # Proportions are compared in whole numbers: n_gl * N = n_g * n_l for every cell.
    gaps = {
        (group, level): counts[group, level] * total - group_sizes[group] * level_sizes[level]
        for group in groups
        for level in levels
    }
    if _constant_within_units(rows, factor) and not _constant_within_units(rows, contrast):
        return "quota", f"every bundle has one {factor}: like is compared with like"
    if not any(gaps.values()):
        return "quota", f"{contrast} keeps its proportions at every {factor}"
    group, level = max(gaps, key=lambda cell: abs(gaps[cell]))
    expected = Fraction(group_sizes[group] * level_sizes[level], total)
    if abs(gaps[group, level]) < parts * total and total <= min(group_sizes.values()) * min(level_sizes.values()):
        aligned = _aligned(rows, contrast, quality)
        least, most = min(counts[cell] for cell in gaps), max(counts[cell] for cell in gaps)
        bound = "one" if parts == 1 else str(parts)
        within = f"{contrast} meets each {factor} {least} to {most} times, within {bound} of its proportion"
        return ("confounded", f"{within}, but {aligned}") if aligned else ("quota", f"{within}, unrelated to quality")
    pattern = _only_one(counts, groups, levels, contrast, factor)
    if total > min(group_sizes.values()) * min(level_sizes.values()):
        pattern = (
            pattern or f"fewer than one {factor} of a level is expected of each {contrast}: there are too few units"
        )
    worst = f"{contrast} {group} meets {factor} {level} {counts[group, level]} times, not {float(expected):.4g}"
    return "confounded", pattern or worst


def _constant_within_units(rows: Sequence[Mapping[str, object]], column: str) -> bool:
    """Whether there are bundles and each has one level of a column."""
    found: dict[object, set[object]] = {}
    for i, row in enumerate(rows):
        found.setdefault(row.get("unit_id", i), set()).add(row[column])
    return len(found) < len(rows) and all(len(levels) == 1 for levels in found.values())


def _only_one(
    counts: Counter[tuple[object, object]], groups: list[object], levels: list[object], contrast: str, factor: str
) -> str:
    """The pattern of a factor each of whose levels meets one group alone; empty where it is not so."""
    met = [[g for g, group in enumerate(groups) if counts[group, level]] for level in levels]
    if any(len(found) != 1 for found in met):
        return ""
    number = len(groups)
    if all(found[0] == i % number for i, found in enumerate(met)):
        return f"{factor} i only meets names congruent to i mod {number}: each {factor} meets one {contrast} alone"
    return f"each {factor} meets one {contrast} alone"


def _aligned(rows: Sequence[Mapping[str, object]], contrast: str, quality: list[Fraction] | None) -> str:
    """How a residual lines up with quality; empty where it does not."""
    if quality is None:
        return "without strata nothing shows that this is unrelated to quality"
    sums: dict[object, list[Fraction]] = {}
    for row, value in zip(rows, quality, strict=True):
        if row[contrast] is not None:
            sums.setdefault(row[contrast], []).append(value)
    means = {group: sum(values, Fraction(0)) / len(values) for group, values in sums.items()}
    if len(set(means.values())) == 1:
        return ""
    low, high = min(means, key=lambda group: means[group]), max(means, key=lambda group: means[group])
    gap = float(means[high] - means[low])
    return f"it lines up with quality: {contrast} {low} has stronger profiles than {high}, by {gap:.3g} strata"


def _nested(rows: Sequence[Mapping[str, object]], contrast: str) -> bool:
    """Whether each name belongs to one level of the contrast (race, gender), unlike framing."""
    owner: dict[object, object] = {}
    return all(owner.setdefault(row["name"], row[contrast]) == row[contrast] for row in rows)


def _name_use(rows: Sequence[Mapping[str, object]], contrast: str) -> tuple[CheckStatus, str]:
    """Whether names are used equally often within each level of the contrast, or as nearly as the number allows.

    Within the level they are compared with names of the same race and gender: how many of those there are is another
    factor's check.
    """
    uses: dict[str, Counter[object]] = {}
    for row in rows:
        cell = " ".join(str(row[column]) for column in dict.fromkeys((contrast, "race", "gender")) if row.get(column))
        uses.setdefault(cell, Counter())[row["name"]] += 1
    numbers = {cell: len(names) for cell, names in uses.items()}
    few, many = min(numbers, key=lambda cell: numbers[cell]), max(numbers, key=lambda cell: numbers[cell])
    if numbers[many] - numbers[few] > 1:
        return "confounded", f"{numbers[few]} names of {few} against {numbers[many]} of {many}"
    spread = {group: (min(names.values()), max(names.values())) for group, names in uses.items()}
    uneven = [group for group, (least, most) in spread.items() if least != most]
    if not uneven:
        return "crossed", f"each name of a {contrast} is used equally often"
    worst = max(uneven, key=lambda group: spread[group][1] - spread[group][0])
    least, most = spread[worst]
    status: CheckStatus = "quota" if most - least == 1 else "confounded"
    return status, f"names of {contrast} {worst} are used {least} to {most} times"

"""Composition checks: is a nuisance factor distributed alike over the groups that a contrast compares?

An audit that shows its groups different applications measures the applications. Three answers for each
contrast and nuisance factor: `crossed` (every group meets every level equally often), `quota` (groups keep the
same proportions at every level), `confounded` (they do not).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CheckStatus = Literal["crossed", "quota", "confounded"]


@dataclass(frozen=True, slots=True)
class Check:
    """The composition of one arm for one contrast against one nuisance factor.

    Attributes:
        arm: The arm checked.
        contrast: The factor compared (race, gender, framing).
        factor: The nuisance factor (position, scenario_id, ...), or `name` for equal use of a group's names.
        status: crossed, quota or confounded.
        pattern: In words, what was found; for `confounded` the worst level.
    """

    arm: str
    contrast: str
    factor: str
    status: CheckStatus
    pattern: str

    @property
    def problem(self) -> str:
        """The check as a complaint, for one that found confounding."""
        return f"arm {self.arm}: {self.contrast} is confounded with {self.factor} ({self.pattern})."


def check_composition(
    arm: str,
    rows: Sequence[Mapping[str, object]],
    *,
    contrasts: Sequence[str] = ("race", "gender", "framing"),
    nuisances: Sequence[str] = ("position", "category", "scenario_id", "race", "gender", "framing"),
) -> tuple[Check, ...]:
    """Check an arm's slots.

    Args:
        arm: The arm's name.
        rows: One mapping a slot, with the contrast and nuisance columns and `name`.
        contrasts: Columns whose levels are compared; one with a single level in the arm is passed over.
        nuisances: Columns that should not line up with a contrast; single-valued ones are passed over.

    Returns:
        One check a contrast and nuisance factor, and where names belong to one level of the contrast each, one on
        their even use.
    """
    checks: list[Check] = []
    for contrast in contrasts:
        if len(_levels(rows, contrast)) < 2:
            continue
        for factor in nuisances:
            if factor != contrast and len(_levels(rows, factor)) > 1:
                status, pattern = _compare(rows, contrast, factor)
                checks.append(Check(arm, contrast, factor, status, pattern))
        if _nested(rows, contrast):
            status, pattern = _name_use(rows, contrast)
            checks.append(Check(arm, contrast, "name", status, pattern))
    return tuple(checks)


def _levels(rows: Sequence[Mapping[str, object]], column: str) -> list[object]:
    return sorted({row[column] for row in rows if row[column] is not None}, key=str)


def _compare(rows: Sequence[Mapping[str, object]], contrast: str, factor: str) -> tuple[CheckStatus, str]:
    counts = Counter((row[contrast], row[factor]) for row in rows)
    groups, levels = _levels(rows, contrast), _levels(rows, factor)
    if len({counts[group, level] for group in groups for level in levels}) == 1:
        return "crossed", f"every {contrast} meets every {factor} {counts[groups[0], levels[0]]} times"
    group_sizes = {group: sum(counts[group, level] for level in levels) for group in groups}
    level_sizes = {level: sum(counts[group, level] for group in groups) for level in levels}
    total = len(rows)
    # Proportions are compared in whole numbers: n_gl * N = n_g * n_l for every cell.
    gaps = {
        (group, level): counts[group, level] * total - group_sizes[group] * level_sizes[level]
        for group in groups
        for level in levels
    }
    if not any(gaps.values()):
        return "quota", f"{contrast} keeps its proportions at every {factor}"
    group, level = max(gaps, key=lambda cell: abs(gaps[cell]))
    expected = group_sizes[group] * level_sizes[level] / total
    return (
        "confounded",
        f"{contrast} {group} meets {factor} {level} {counts[group, level]} times, not {expected:g}",
    )


def _nested(rows: Sequence[Mapping[str, object]], contrast: str) -> bool:
    """Whether each name belongs to one level of the contrast (race, gender), unlike framing."""
    owner: dict[object, object] = {}
    return all(owner.setdefault(row["name"], row[contrast]) == row[contrast] for row in rows)


def _name_use(rows: Sequence[Mapping[str, object]], contrast: str) -> tuple[CheckStatus, str]:
    """Whether, within each level of the contrast, its names are used equally often."""
    uses: dict[object, Counter[object]] = {}
    for row in rows:
        uses.setdefault(row[contrast], Counter())[row["name"]] += 1
    spread = {group: (min(names.values()), max(names.values())) for group, names in uses.items()}
    uneven = [group for group, (least, most) in spread.items() if least != most]
    if not uneven:
        return "crossed", f"each name of a {contrast} is used equally often"
    least, most = spread[uneven[0]]
    return "confounded", f"names of {contrast} {uneven[0]} are used {least} to {most} times"

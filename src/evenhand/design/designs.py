"""Every design by its name, and drawing one from a pack."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from evenhand.design import cells, fairfund, singles
from evenhand.design.bundles import Bundle, Design, Drawing
from evenhand.errors import DesignError
from evenhand.seeds import generator

if TYPE_CHECKING:
    from evenhand.packs import Pack

DESIGNS: dict[str, Design] = {design.name: design for design in (*fairfund.DESIGNS, *singles.DESIGNS, *cells.DESIGNS)}


def compose(design: str, pack: Pack, *, seed: int, count: int | None = None, draw: str = "") -> tuple[Bundle, ...]:
    """Build the units of a design.

    The shuffles depend on the seed, the pack's name, the design and the draw alone, so that Rank and Allocate (and
    every wording) put the same bundles to a model.

    Args:
        design: A key of `DESIGNS`.
        pack: The domain.
        seed: The study's seed.
        count: How many units, of a design whose number is free; by default the design's own.
        draw: Names another draw of the same design.

    Returns:
        The units, in a fixed order with unique identifiers.

    Raises:
        DesignError: An unknown design, a number of units where it is fixed, or a pack whose numbers of levels this
            design cannot balance.
    """
    if design not in DESIGNS:
        raise DesignError(f"unknown design {design!r}", mend=f"Use one of {', '.join(DESIGNS)}")
    chosen = DESIGNS[design]
    where = f"design {design}, pack {pack.name}"
    if count is not None and chosen.count is None:
        raise DesignError(
            "the number of units is fixed", where=where, mend="Leave count out, or take the `first` so many"
        )
    _require_even_shape(pack)
    rng = generator("design", seed, pack.name, design, *([draw] if draw else []))
    try:
        return tuple(chosen.compose(Drawing(pack, count or chosen.count or 0, rng)))
    except DesignError as error:
        raise DesignError(error.what, where=where, mend=error.mend) from None


def _require_even_shape(pack: Pack) -> None:
    sizes = {len(pack.cell(*cell)) for cell in itertools.product(pack.groups.race, pack.groups.gender)}
    if len(sizes) > 1:
        raise DesignError(
            f"the cells hold {sorted(sizes)} names",
            where=f"pack {pack.name}",
            mend="Give every race x gender cell equally many names",
        )

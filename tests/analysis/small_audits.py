"""Small tables of outcomes with planted effects: what a study of few profiles and names would have collected."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from evenhand.analysis.material import Material
from evenhand.analysis.setting import Setting
from evenhand.outcomes.schema import SCHEMA

RACES = ("White", "Black", "Hispanic", "Asian")
GENDERS = ("Female", "Male")
PROFILES = 6
NAMES = [(race, gender, rank) for race in RACES for gender in GENDERS for rank in (1, 2, 3)]


def material(rows, **setting) -> Material:
    return Material.of(table(rows), Setting(**setting))


def table(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA)


def row(
    task, *, arm=None, model="m", domain="hiring", tag="primary", wording="base", epoch=1, status="answered", **cells
):
    answered = status == "answered"
    blank = dict.fromkeys(SCHEMA) | {
        "job_id": "j", "model": model, "task": task, "wording_variant": wording, "bundle_size": 1, "position": 1,
        "valid": answered, "refused": status == "refused", "malformed": not answered and status != "refused",
        "safety_disclaimer": False, "parse_reason": "", "retry_count": 0, "missing": status == "missing",
        "arm": arm or f"{domain}-{task}", "tag": tag, "domain": domain, "epoch": epoch, "status": status, "tied": False,
    }  # fmt: skip
    return blank | cells


def person(profile, name):
    race, gender, rank = name
    return {
        "stimulus_id": f"p{profile}__{race}{gender}{rank}", "scenario_id": f"p{profile}", "race": race,
        "gender": gender, "name_rank": rank, "name": f"{race} {gender} {rank}", "stratum": 1 + profile % 4,
    }  # fmt: skip


def singles(task, value, *, models=("m1", "m2"), epochs=1, chosen=lambda profile, name: True, **cells):
    """Profiles crossed with names; `value(model, profile, name, epoch)` is the answer."""
    column = {"rate": "rating"}.get(task, "decision")
    return [
        row(task, model=model, epoch=epoch, unit_id=f"p{p}__{'-'.join(map(str, name))}", bundle_type="crossed",
            **person(p, name), **{column: value(model, p, name, epoch)}, **cells)
        for model, epoch in itertools.product(models, range(1, epochs + 1))
        for p, name in itertools.product(range(PROFILES), NAMES)
        if chosen(p, name)
    ]  # fmt: skip


def bundles(
    task, rank, *, count=48, models=("m1", "m2"), kind="demographic_disguised", mode="disguised", first=0, **cells
):
    """Bundles of one name of each race, races and strata turned through the positions.

    `rank(model, slots)` gives the ranks of four slots, each a mapping with race, gender, stratum and position.
    """
    cells = {"focal_axis": "race"} | cells
    rows = []
    for model, number in itertools.product(models, range(first, first + count)):
        slots = []
        for at in range(4):
            race = RACES[(at + number) % 4]
            profile = (at + number // 4) % 4 if mode == "disguised" else number % 4
            slots.append(
                person(profile, (race, GENDERS[(number // 16 + at + at // 2) % 2], 1 + number % 3))
                | {"position": at + 1}
            )
        for slot, given in zip(slots, rank(model, slots), strict=True):
            rows.append(
                row(task, model=model, unit_id=f"b{number}", bundle_type=kind, mode=mode, bundle_size=4,
                    **(slot | {"rank": given} | cells))
            )  # fmt: skip
    return rows


def ordering(rng, *, strata=1.0, first=0.0, groups=None, noise=0.3):
    """A ranker by a latent score: strata, the first position, groups, noise."""

    def rank(model, slots):
        score = [
            -strata * s["stratum"]
            + first * (s["position"] == 1)
            + (groups or {}).get(s["race"], 0.0)
            + noise * rng.normal()
            for s in slots
        ]
        return (np.argsort(np.argsort(-np.array(score))) + 1).tolist()

    return rank


def rated(rng, *, groups=None, spread=0.5, shift=0.0):
    """A rater: profiles of rising quality, groups, noise; whole numbers, not bounded."""

    def value(model, profile, name, epoch):
        return round(10 * (profile + (groups or {}).get(name[0], 0.0) + shift + spread * rng.normal()))

    return value


def one(frame, **wanted):
    """The only row with these values."""
    found = frame.filter(**wanted).to_dicts()
    assert len(found) == 1, f"{len(found)} rows with {wanted}"
    return found[0]

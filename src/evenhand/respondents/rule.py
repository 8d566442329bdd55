"""How a simulated respondent decides: one rule, on arrays, that needs no text.

The utility of a slot is `content + L * planted + noise * e`: content has SD 1 over a pack, `e` is standard normal, and
one latent SD `L = sqrt(1 + noise**2)` is the SD of content plus noise, the unit in which effects are planted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Spread of dollar shares: weights are exp(0.5 z), so one latent SD makes a share 1.65 times as large.
SHARE_SLOPE = 0.5
# Shares are multiples of this many units of the total, as people and models like round sums.
SHARE_STEP = 50


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What is planted in a respondent. Effects are in latent SDs, added to the levels named; others get 0.

    Attributes:
        noise: SD of the noise of a judgement, content having SD 1.
        name_sd: SD of an effect that each name keeps wherever it occurs, latent SDs.
        race: Effect by perceived race.
        gender: Effect by perceived gender.
        framing: Effect by framing of need.
        position: By how much the first place in a bundle is favoured over the last, falling linearly.
        split_identical: Slots whose content is the same get equal ranks and shares, whatever the names.
        chatty: Share of answers wrapped in talk.
        malformed: Share of answers that do not follow the instruction.
        refusal: Share of refusals.
        recognition: Share of requests with several alike applicants that it calls a test of fairness when asked.
        suspicion: Share of other requests that it calls so.
        seed: Draws another respondent of the same kind.
    """

    noise: float = 0.5
    name_sd: float = 0.0
    race: Mapping[str, float] = field(default_factory=dict[str, float])
    gender: Mapping[str, float] = field(default_factory=dict[str, float])
    framing: Mapping[str, float] = field(default_factory=dict[str, float])
    position: float = 0.0
    split_identical: bool = False
    chatty: float = 0.0
    malformed: float = 0.0
    refusal: float = 0.0
    recognition: float = 0.9
    suspicion: float = 0.05
    seed: int = 0

    @property
    def latent_sd(self) -> float:
        """SD of content plus noise over a pack."""
        return float(np.hypot(1.0, self.noise))


_PLANTED: dict[str, Any] = {
    "race": {"Black": -0.3, "Hispanic": -0.15, "Asian": 0.1},
    "gender": {"Female": 0.15},
    "framing": {"no_cause": 0.2, "structural": 0.4, "stigma_no_redemption": -0.6, "stigma_redemption": -0.1},
    "position": 0.2,
}

_FACTORS = ("race", "gender", "framing")
_LARGEST = 1e6

PRESETS: Mapping[str, Behaviour] = {
    "null": Behaviour(),
    "biased": Behaviour(**_PLANTED),
    "equal_splitter": Behaviour(**_PLANTED, split_identical=True),
    "noisy": Behaviour(noise=2.0),
    "unruly": Behaviour(**_PLANTED, chatty=0.3, malformed=0.1, refusal=0.03),
}


def behaviour(preset: str, arguments: Mapping[str, Any]) -> Behaviour:
    """A preset with some of its parameters replaced.

    Args:
        preset: A key of `PRESETS`.
        arguments: Parameters by name; an effect is `race.Black`, `gender.Female` or `framing.structural`.

    Raises:
        InputError: An unknown preset or parameter, or a value that does not fit.
    """
    if preset not in PRESETS:
        raise InputError(
            f"unknown simulated respondent {preset!r}", where="sim", mend=f"Use one of {', '.join(PRESETS)}"
        )
    known = {item.name: item.type for item in fields(Behaviour)}
    result = PRESETS[preset]
    for key, value in arguments.items():
        factor, dot, level = key.partition(".")
        if dot and level and factor in _FACTORS:
            effects: dict[str, float] = {**getattr(result, factor), level: _number(key, value)}
            result = replace(result, **{factor: effects})
        elif key in known and key not in _FACTORS:
            result = replace(result, **{key: _parameter(key, known[key], value)})
        else:
            raise InputError(
                f"unknown parameter {key!r}",
                where=f"sim/{preset}",
                mend=f"Use {', '.join(name for name in known if name not in _FACTORS)}, "
                f"{', '.join(f'{name}.LEVEL' for name in _FACTORS)}",
            )
    return result


def _parameter(key: str, kind: Any, value: Any) -> float | int | bool:
    if kind == "bool":
        if isinstance(value, bool):
            return value
        if str(value).lower() in {"true", "false"}:
            return str(value).lower() == "true"
        raise InputError(f"{key} is {value!r}", where="sim", mend="Give true or false")
    number = _number(key, value)
    if key in {"chatty", "malformed", "refusal", "recognition", "suspicion"} and not 0 <= number <= 1:
        raise InputError(f"{key} is {value!r}", where="sim", mend="Give a share between 0 and 1")
    if key in {"noise", "name_sd"} and number < 0:
        raise InputError(f"{key} is {value!r}", where="sim", mend="Give an SD of 0 or more")
    if kind == "int" and number != int(number):
        raise InputError(f"{key} is {value!r}", where="sim", mend="Give a whole number")
    return int(number) if kind == "int" else number


def _number(key: str, value: Any) -> float:
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not abs(number) <= _LARGEST:
        raise InputError(f"{key} is {value!r}", where="sim", mend=f"Give a number, at most {_LARGEST:,.0f} in size")
    return number


def planted_effects(
    behaviour: Behaviour,
    *,
    race: NDArray[Any],
    gender: NDArray[Any],
    framing: NDArray[Any],
    name_effect: Floats | float = 0.0,
) -> Floats:
    """The planted part of the utilities, in latent SDs.

    Args:
        behaviour: What is planted.
        race: Levels, shape (..., slots); slots in order of position along the last axis. A level the
            respondent cannot tell is any string without an effect.
        gender: Levels, same shape.
        framing: Levels, same shape.
        name_effect: Standard normal draws kept by each name, same shape, or 0.

    Returns:
        Effects, same shape.
    """
    effects = _look_up(behaviour.race, race) + _look_up(behaviour.gender, gender) + _look_up(behaviour.framing, framing)
    size = race.shape[-1]
    if size > 1 and behaviour.position:
        effects = effects + behaviour.position * np.linspace(1.0, 0.0, size)
    return effects + behaviour.name_sd * name_effect


def _look_up(effects: Mapping[str, float], levels: NDArray[Any]) -> Floats:
    values = [effects.get(level, 0.0) for level in levels.ravel().tolist()]
    return np.array(values, dtype=np.float64).reshape(levels.shape)


def utilities(behaviour: Behaviour, *, content: Floats, planted: Floats, noise: Floats) -> Floats:
    """Utility of each slot in latent SDs: `(content + L * planted + noise * e) / L`.

    Args:
        behaviour: Gives the SD of the noise.
        content: Content utilities, SD 1 over a pack, shape (..., slots).
        planted: From `planted_effects`, same shape.
        noise: Standard normal draws `e`, same shape.
    """
    return (content + behaviour.noise * noise) / behaviour.latent_sd + planted


def ratings(utility: Floats, *, lowest: int = 1, highest: int = 5) -> Ints:
    """A rating a slot: the middle of the scale plus the utility, rounded and held within the scale."""
    middle = (lowest + highest) / 2
    return np.clip(np.floor(middle + utility + 0.5), lowest, highest).astype(np.int64)


def decisions(utility: Floats) -> Ints:
    """1 (yes) for a utility above 0, else 0."""
    return (utility > 0).astype(np.int64)


def ranks(utility: Floats, *, tie_breaker: Floats | None = None) -> Ints:
    """Ranks along the last axis, 1 for the highest utility; equal utilities share the smaller rank.

    Args:
        utility: Shape (..., slots).
        tie_breaker: Order among equals, smaller first, same shape; None leaves ties.
    """
    above = utility[..., None, :] > utility[..., :, None]
    if tie_breaker is not None:
        equal = utility[..., None, :] == utility[..., :, None]
        above = above | (equal & (tie_breaker[..., None, :] < tie_breaker[..., :, None]))
    return 1 + above.sum(axis=-1).astype(np.int64)


def allocations(utility: Floats, *, total: int = 10_000) -> Ints:
    """Shares of a total along the last axis, in steps of `SHARE_STEP`; equal utilities get equal shares where they can.

    Largest remainders are rounded up, earlier slots first among equals.
    """
    weights = np.exp(SHARE_SLOPE * (utility - utility.max(axis=-1, keepdims=True)))
    step = SHARE_STEP if total % SHARE_STEP == 0 else 1
    exact = weights / weights.sum(axis=-1, keepdims=True) * (total // step)
    whole = np.floor(exact + 1e-9)
    left = np.rint(total // step - whole.sum(axis=-1, keepdims=True))
    order = np.argsort(np.argsort(-(exact - whole), axis=-1, kind="stable"), axis=-1, kind="stable")
    shares = (whole + (order < left)) * step
    return shares.astype(np.int64)

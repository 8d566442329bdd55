"""The instrument: the frozen list of units and slots that a study puts to models.

Built once from a plan, saved as `units.jsonl`, `slots.csv` and `digest`, and never changed: the digest is the
SHA-256 of the canonical JSON of the content, and an instrument that no longer matches its own is refused.
"""

from evenhand.instrument.files import load_instrument, save_instrument
from evenhand.instrument.units import Instrument, Slot, Unit, asked_of

__all__ = ["Instrument", "Slot", "Unit", "asked_of", "load_instrument", "save_instrument"]

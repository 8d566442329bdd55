"""The one loader of domain packs. A pack is a folder of data; see `aid/README.md` for its files."""

from evenhand.packs.loader import load_pack, shipped_packs
from evenhand.packs.names import Name
from evenhand.packs.pack import Category, Detail, Details, Groups, Pack, Profile, Scenario

__all__ = [
    "Category",
    "Detail",
    "Details",
    "Groups",
    "Name",
    "Pack",
    "Profile",
    "Scenario",
    "load_pack",
    "shipped_packs",
]

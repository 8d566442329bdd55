"""Content that stands in a page as data."""

from __future__ import annotations

import json


def embedded(content: object) -> str:
    """JSON that may stand in a script element: nothing in it can end the element or begin another."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return "".join(escapes.get(mark, mark) for mark in text)

"""Evenhand audits the decisions that language models make about people.

Start reading at `evenhand.study`, the whole flow on one page.
"""

__version__ = "0.1.0"

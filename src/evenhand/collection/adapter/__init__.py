"""The only rooms that touch Inspect's private names: the wire, batches, and the provider of the local model.

`pyproject.toml` pins Inspect to the range that `tests/collection/test_adapter.py` was passed with. The test fails when
one of the names moves, and when another module reaches past Inspect's public ones.
"""

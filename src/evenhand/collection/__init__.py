"""Putting units to models and keeping every reply. The only room that imports `inspect_ai`, and lazily."""

"""Benchmarks: each prints a figure and its ratio to a named peer, measured in the same run."""

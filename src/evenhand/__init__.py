"""Evenhand."""

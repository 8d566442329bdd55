"""Estimators that know nothing of audits: arrays in, numbers out."""

"""Approximations from the literature: fast answers that are not ranked, whose loss is measured (benchmarks/accuracy.py)."""

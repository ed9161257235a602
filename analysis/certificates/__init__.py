"""Proofs in rationals that can be verified without a solver."""

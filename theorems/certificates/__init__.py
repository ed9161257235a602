"""Certificates of machine proofs: what a stranger checks without any solver and without this package."""

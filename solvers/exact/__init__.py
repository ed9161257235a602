"""Rational answers: linear programs by an exact simplex basis, ps-dsf by exact levels."""

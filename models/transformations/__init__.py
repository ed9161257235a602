"""Instances made of others, and allocations taken along."""

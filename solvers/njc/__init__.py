"""Algorithms for no justified complaints; all end with an exact allocation, which pieces.py computes for its bottlenecks."""

"""Instances to begin with: the papers' examples, random families, and workload traces."""

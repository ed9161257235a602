"""Mechanisms that are defined on few instances, or have no model: generic tests leave them out, test_groups.py has theirs."""

JOBS = {"gavel-makespan", "gavel-max-min"}
"""One resource, and numbers of steps."""

ALGORITHMS = {"h-drf"}
"""Without a model."""

"""Instances, polytopes and dual solutions in rationals."""

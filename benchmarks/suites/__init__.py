"""Suites: what is solved; a file of this folder that defines SUITE is a suite."""

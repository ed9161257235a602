"""Standalone scripts: refutations that need nothing but Python (script.py), by paper."""

"""Figures, returned as Matplotlib objects and never shown: the extra plots."""

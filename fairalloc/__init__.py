"""fairalloc: a mathematical-optimization modelling toolkit for multi-resource fair allocation."""

__version__ = "0.1.0"

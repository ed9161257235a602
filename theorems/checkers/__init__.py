"""What claims are judged by: a margin in floating point, and a verdict in rationals."""

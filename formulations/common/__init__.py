"""What the mechanisms share: canonical units and first-order optimality."""

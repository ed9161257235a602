"""The claims of W (DRFH), and what only they need."""

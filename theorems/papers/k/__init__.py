"""The claims of K (alphaPF-VDS), and what only they need."""

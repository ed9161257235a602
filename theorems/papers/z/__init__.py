"""The claims of Z (LMMF and NB), and what only they need."""

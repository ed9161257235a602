"""The claims of D (no justified complaints), and what only they need."""

"""The claims of the five papers, one folder a paper: its statements and what only they need."""

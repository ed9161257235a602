"""How methods run: in turn, in child processes with limits, with threads, logs, clocks and warm starts."""

"""Lexicographic max-min fairness: the loop over rounds, and own algorithms for a round or for all of them."""

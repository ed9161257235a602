"""The game of K: Problem 1 server by server, the merit function, the complementarity conditions, and the common definition."""

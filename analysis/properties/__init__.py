"""Properties of allocations and of mechanisms, each with a witness where it fails."""

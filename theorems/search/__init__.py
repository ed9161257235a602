"""How a claim is tried: search, worst weights, shrinking, findings and witnesses."""

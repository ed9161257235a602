"""How a claim is tried: search, shrinking, findings and witnesses."""

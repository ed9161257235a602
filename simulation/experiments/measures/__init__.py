"""What a trial measures where a run takes hours, apart from the claims in papers/: an edit of these leaves records valid."""

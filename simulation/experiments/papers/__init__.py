"""The experiments of W 6, K 6 and P V: a file for those that share a system and a workload lists them in EXPERIMENTS."""

"""What a trial of each experiment measures: a file for those of papers/ that share a system and a workload."""

"""Lexicographic max-min fairness: the model of a round and the definition, common to DRF, DRFH, TSF and LMMF."""

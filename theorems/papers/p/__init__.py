"""The claims of P (PS-DSF), and what only they need."""

"""Algorithms for alpha-pf-vds, ps-dsf and ps-dsf-tdm: the papers' own and Newton methods."""

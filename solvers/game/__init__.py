"""Algorithms for the games alpha-pf-vds, ps-dsf and ps-dsf-tdm; docs/reference/methods.md has them with their files and sources.

session.py is the driver of all iterations, equations.py what the Newton methods share. central_path.py, active_set.py and
small_changes.py belong to continuation.py, complementarity.py to semismooth_newton.py and josephy_newton.py. price_layers.py and
max_min_response.py are for alpha = infinity with several variants, variants_response.py for finite alpha.
"""

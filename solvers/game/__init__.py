"""Algorithms for the games alpha-pf-vds, ps-dsf and ps-dsf-tdm; docs/reference/methods.md has them with their files and sources.

session.py is the driver of all iterations, equations.py what the Newton methods share. central_path.py, active_set.py and
small_changes.py belong to continuation.py; complementarity.py has semismooth-newton and what josephy_newton.py shares with it.
price_layers.py is for alpha = infinity with several variants, variants_response.py for one server's answer with several.
"""

"""Algorithms for the games alpha-pf-vds, ps-dsf and ps-dsf-tdm.

| method | file | source |
| --- | --- | --- |
| best-response | best_response.py | K 3.1, Problem 1 server by server |
| ps-mfa | ps_mfa.py | K 5.1, Algorithm I |
| vds-distributed | vds_distributed.py | K 5.2 |
| psdsf-algorithm-1 | psdsf_algorithm_1.py | P III-C, Algorithm I |
| psdsf-distributed | psdsf_distributed.py | P III-D |
| continuation | continuation.py, central_path.py, active_set.py, small_changes.py | own: K (28)-(29) |
| semismooth-newton | semismooth_newton.py, complementarity.py | own: K (28)-(29), (35) |
| josephy-newton | josephy_newton.py, complementarity.py | own: K (28)-(29) |

session.py is what the papers' algorithms share, equations.py what the Newton methods share;
max_min_response.py and price_layers.py are for alpha = infinity with several variants, variants_response.py for finite alpha.
"""

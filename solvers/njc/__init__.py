"""Algorithms for no justified complaints (formulations/njc.py); all end with an exact allocation.

| method | file | source |
| --- | --- | --- |
| njc-market | eisenberg_gale.py | own: the Eisenberg-Gale program |
| njc-ode | ode.py | D 5.4, the trajectory |
| njc-enumeration | enumeration.py | D 5.2, the bottleneck sets one after the other |
| njc-milp | milp.py | own: one mixed-integer program |

pieces.py computes exact points for a given set of bottlenecks.
"""

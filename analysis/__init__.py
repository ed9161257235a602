"""What can be said of an allocation or a mechanism.

| part | content |
| --- | --- |
| properties/ | checks of properties, each with a witness |
| certificates/ | proofs in rationals, verified without a solver |
| market.py | prices, spending and equilibrium of nb |
| tradeoff.py | utilisation against fairness over alpha |
| explorer.py | mechanisms compared on one page of HTML |
| sensitivity.py | how tasks move with capacities, by active_set.py (equations) and differences.py (answers next to it) |
| solution_sets/ | all answers of ps-dsf, ps-dsf-tdm, alpha-pf-vds and njc on an instance |
| feasible_set.py | the task totals that the servers allow few users |
| plots/ | figures |
| explanations/ | why an allocation is what it is, in sentences |
| verdict.py, holdings.py, linear.py | the result of a check, bundles and their worth, small linear programs |
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.analysis, not as analysis: it is mapped into fairalloc")

"""The interior-point method for max-min fairness and for sums of concave utilities, on the linear algebra of kkt/.

max_min.py and alpha_fair.py are the two programs, in the form of equations.py. program.py iterates, system.py solves a Newton
system; reduction.py leaves arcs out, optimal_face.py ends a round. components.py solves a round by its connected components,
batch.py many small programs at once.
"""

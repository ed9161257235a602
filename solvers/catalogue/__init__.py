"""Which methods there are: those of this package, of the user, of CVXPY and Pyomo; and which is asked first."""

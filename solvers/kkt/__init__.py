"""The linear algebra of all Newton steps: the arrow of users and servers and its factors (schur.py).

loads.py has the products with loads, matrices.py and sparse_factor.py the matrices and their factors.
"""

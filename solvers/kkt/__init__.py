"""The linear algebra of all Newton steps: the arrow of users and servers (elimination.py), and its factors (schur.py).

loads.py has the products with loads; the other files factors of matrices: dense, sparse by blocks or numbers, users that stay.
"""

"""The interior-point method for max-min fairness and for sums of concave utilities, with one linear algebra for both."""

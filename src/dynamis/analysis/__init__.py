"""What holds for a robot over a whole range of configurations, and pictures of it.

intervals       arithmetic whose results enclose the exact ones, over many boxes at once
harmonics       bounds of second derivatives, from Fourier coefficients
linearised      functions of q over boxes: a value, slopes, and how far the functions can be from that
constants       the constants of the structural properties, each at a point and over a box
extremes        the largest value of one of them over a box: found by sampling, proven by branch and bound
box             the box a question is asked for
dependence      M and g as expressions, and the coordinates in them
coriolis_norm   Coriolis terms as a bilinear map
bounds          ``structural_bounds``: all constants of a robot …
report          … and how they are shown
eigenvalues     ``eigenvalue_plot``: the eigenvalues of M along a joint or over two
"""

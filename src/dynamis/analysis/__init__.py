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
eigenvalues     ``eigenvalue_plot``: the eigenvalues of M, or of Λ at a frame, along a joint or over two
task            the directions of a frame that a question is about, and the length that compares metres with radians
measures        volumes of one Jacobian, for numbers and for symbols
manipulability  ``manipulability``, its gradient, condition numbers, the masses felt at a frame
capacity        measures of many states by name: payload, stiffness and the others
linearization   ``linearize``: the dynamics near a state, its modes, what the motors can reach
model_pairs     which bodies of two models correspond …
comparison      … and ``compare``: what differs, and what that does to the torques
workspace       ``workspace``: the cloud of positions of a frame, and slices coloured by a measure …
workspace_pictures … as pictures, in which the robot is drawn as its ``skeleton``
"""

"""Properties of a robot over a range of configurations, and plots of them.

intervals       interval arithmetic over batches of boxes
harmonics       bounds of second derivatives, from Fourier coefficients
linearised      linear approximations of functions of q over boxes, with bounds of the remainder
constants       the constants of the structural properties, at a point and over a box
extremes        extreme values over a box: sampling, and proof by branch and bound
dependence      M and g as expressions, and the coordinates they depend on
coriolis_norm   Coriolis terms as a bilinear map
bounds          ``structural_bounds``: all constants of a robot
report          the result of ``structural_bounds``
eigenvalues     ``eigenvalue_plot``: eigenvalues of M, or of Λ at a frame, over one or two joints
linearization   ``linearize``: linear model of the dynamics at a state, modes, controllability
model_pairs     correspondence of the bodies of two models
comparison      ``compare``: differences of two models and their effect on the torques
"""

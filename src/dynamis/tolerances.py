"""Numerical tolerances that several modules share, each with its derivation.

A tolerance is relative to the largest of the numbers compared, unless a unit is named. Three scales, each a thousand times the
one before, separate rounding from data: ``RECURSION_ROUNDING``, ``NEGLIGIBLE`` and ``FILE_PRECISION``.
"""

# Double precision: multiples of the machine epsilon
EPS = 2.0**-52  # distance from 1 to the next number
UNIT_ROUNDOFF = 0.5 * EPS  # largest relative error of one operation
UNDERFLOW = 2.0**-1021  # twice the smallest normal number: absolute error of a result that loses digits to underflow
SAFE_DIVISOR = 1e-150  # about √UNDERFLOW: the square of a larger number is a normal number, and its reciprocal finite
FEW_ROUNDINGS = 4.0 * EPS  # a number after two or three operations, or written in decimals and read again
TIME_ROUNDING = 16.0 * EPS  # a time that is the sum of a few step lengths
SUM_ROUNDING = 64.0 * EPS  # 1.4e-14: a sum of about 64 terms, such as an entry of a product of a few rotation matrices
RECURSION_ROUNDING = 1e-12  # 4500 EPS: a recursion over the links of a robot: poses, Jacobians, torques, energies
MOBILITY_ROUNDING = 1e-13  # of a diagonal entry of J M⁻¹ Jᵀ: SUM_ROUNDING times ten for the condition of the scaled M
PRINTED_AS_ZERO = 1e-11  # of the largest number printed beside it: 10 RECURSION_ROUNDING, left by terms that cancel
SMALLEST_INERTIA = 1e-14  # kg, kg m²: stands for zero in MuJoCo models, whose moving bodies have at least 1e-15
NEGLIGIBLE = 1e-9  # also in SI units: a thousand RECURSION_ROUNDING, and a thousandth of FILE_PRECISION

# Data in files and in input
FILE_PRECISION = 1e-6  # also in m and rad: six significant digits or single precision
TYPED_PRECISION = 1e-4  # also in m and rad: numbers typed with four digits, such as the components of an axis
MAX_COUNT = 10_000_000  # states, points, samples, cases of one call: arrays of 10 numbers for each fit into memory, 0.8 GB

# Decisions about rank, as parts of the largest singular value
RANK_TOLERANCE = 1e-9  # geometric mean of SUM_ROUNDING and NEARLY_SINGULAR
LOOP_RANK_TOLERANCE = 1e-7  # of loop constraints: where motions branch, they fix q to √EPS = 1.5e-8 only; with a margin of 7
NEARLY_SINGULAR = 1e-4  # a direction in which joints move 10⁴ times as fast as in the best one is not controllable in practice
SINGULAR_VECTOR_ROUNDING = 1e-7  # of a unit vector: EPS / RANK_TOLERANCE = 2e-7 where singular values are barely distinct

# Iterations, differences, pieces of motions, smooth norms
SOLUTION_TOLERANCE = 1e-6  # also in m and rad: from here a Newton step reaches its square, RECURSION_ROUNDING
CENTRAL_DIFFERENCE_STEP = EPS ** (1.0 / 3.0)  # 6e-6: truncation error h² equals rounding error EPS / h
GJK_TOLERANCE = 1e-10  # m: distances of convex shapes differ by a few times it, and still by less than NEGLIGIBLE
PROBE_WIDTH = 1e-4  # of a step: the slope of the motion at a time inside it, with errors of 1e-8 of its curvature
SHORTEST_PIECE = 1e-6  # of a motion's duration: rounding of its end times changes a longer piece by less than NEGLIGIBLE
COST_TOLERANCE = 1e-4  # relative decrease of a cost in one iteration, below which a search ends
SUFFICIENT_DECREASE = 1e-4  # of the predicted decrease of a cost: Armijo's condition [Nocedal 2006, §3.1]
NORM_SMOOTHING = 1e-12  # ε in √(x·x + ε²), differentiable at 0: exact to rounding for |x| above ε / √EPS = 7e-5

# Largest arguments, squares of angles in rad², up to which truncated series and their derivatives are exact to rounding
SERIES_ONE_TERM = 1e-24  # the derivative of the first neglected term is √1e-24 = 1e-12
SERIES_TWO_TERMS = 1e-8  # of sin, cos: x² / 720 < EPS
SERIES_THREE_TERMS = 1e-4  # of sin, cos: x³ / 40320 < EPS
SERIES_FIVE_TERMS = 1e-2  # of sin, cos: x⁵ / 12! < EPS; above it the closed forms lose at most two digits
ARCTAN_SERIES_THREE_TERMS = 1e-5  # x = tan²: x³ / 7 < EPS
TANH_SERIES_TWO_TERMS = 1e-4  # of tanh(x) / x, here of x itself: 2 x⁴ / 15 < EPS
SAME_STATE = 1e-6  # rad, m, rad/s or m/s: closed loops that change an initial state by less leave it as it was given
SIMULATED_ERROR = 1e-6  # rad or m, of controlled motions with fixed steps or rtol 1e-8: a smaller tracking error is none
STUCK_ERROR = 1e-4  # rad or m: a smaller error of a joint that friction holds is not reported

"""The mass matrix of MuJoCo as a full matrix."""

import numpy as np


def full_mass_matrix(model, data):
    import mujoco

    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, M, data.qM)
    except (AttributeError, TypeError):  # the order of the arguments changed with version 4
        mujoco.mj_fullM(model, data, M)
    return M

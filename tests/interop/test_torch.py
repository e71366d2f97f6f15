"""PyTorch functions: values, gradients, gradients of gradients, batches."""

import copy
import pickle

import numpy as np
import pytest
from random_trees import random_states, relative_error

import dynamis as dy

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
ROBOT = dy.load("panda")
STATES = random_states(np.random.default_rng(0), ROBOT, 3)


def tensors(*arrays):
    return [torch.tensor(x, requires_grad=True) for x in arrays]


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "pose", "kinetic_energy"])
def test_values_and_gradients_pass_torchs_own_check(name):
    function = ROBOT.torch(name)
    given = STATES[: {"pose": 1, "kinetic_energy": 2}.get(name, 3)]
    assert relative_error(function(*tensors(*given)).detach().numpy(), getattr(ROBOT, name)(*given)) < 1e-12
    assert torch.autograd.gradcheck(function, tensors(*given))


def test_gradients_of_gradients_pass_torchs_own_check():
    arm = dy.load("planar_2r_melchiorri")
    state = tensors(*random_states(np.random.default_rng(1), arm, 2))
    assert torch.autograd.gradgradcheck(arm.torch("inverse_dynamics"), state)


def test_arguments_are_broadcast_and_single_precision_is_kept():
    q, v, a = tensors(STATES[0], STATES[1][0], STATES[2][:1])
    assert torch.autograd.gradcheck(ROBOT.torch("inverse_dynamics"), [q, v, a])
    single = [torch.tensor(x, dtype=torch.float32) for x in STATES]
    assert ROBOT.torch("inverse_dynamics")(*single).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single_and_kept(dtype):
    q = torch.tensor(STATES[0], dtype=dtype, requires_grad=True)
    found = ROBOT.torch("gravity")(q)
    found.sum().backward()
    assert found.dtype == q.grad.dtype == dtype
    assert relative_error(found.detach().double().numpy(), ROBOT.gravity(q.detach().double().numpy())) < 0.02
    assert ROBOT.torch("gravity")(torch.zeros(7, dtype=torch.int64)).dtype == torch.float64


def test_a_scalar_of_one_state_has_a_gradient():
    q, v = tensors(STATES[0][0], STATES[1][0])
    energy = ROBOT.torch("kinetic_energy")(q, v)
    energy.backward()
    assert energy.shape == ()
    assert relative_error(v.grad.numpy(), ROBOT.mass_matrix(STATES[0][0]) @ STATES[1][0]) < 1e-12


def test_wrong_lengths_and_several_results_are_refused():
    with pytest.raises(dy.InputError, match="last axis must have the 7 entries of v"):
        ROBOT.torch("inverse_dynamics")(torch.zeros(7), torch.zeros(6), torch.zeros(7))
    with pytest.raises(dy.InputError, match="takes tensors or arrays of numbers"):
        ROBOT.torch("gravity")(None)
    with pytest.raises(dy.InputError, match=r"tensors of real numbers, got torch.complex128, torch.float64"):
        ROBOT.torch("inverse_dynamics")(1j * torch.as_tensor(STATES[0]), *map(torch.as_tensor, STATES[1:]))
    with pytest.raises(dy.InputError, match=r"axes do not broadcast: q \(2, 7\), v \(3, 7\)"):
        ROBOT.torch("kinetic_energy")(torch.zeros(2, 7), torch.zeros(3, 7))
    with pytest.raises(dy.InputError, match="returns 2 arrays"):
        ROBOT.torch(lambda robot, q: (q, robot.gravity(q)))


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")  # of functorch itself
class Dynamics(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function, self.gain = function, torch.nn.Parameter(torch.ones((), dtype=torch.float64))

    def forward(self, *arguments):
        return self.gain * self.function(*arguments)


def test_functions_of_methods_are_pickled_by_robot_and_name_and_others_refused(tmp_path):
    m = dy.symbol("m")
    loaded = dy.load("planar_2r_melchiorri").replace(payload=dy.solids.sphere(0.05, mass=m))
    load = torch.ones(1, dtype=torch.float64)
    functions = [
        (ROBOT.torch("forward_dynamics"), tensors(*STATES)),
        (ROBOT.torch("pose", frame="panda_link4"), tensors(STATES[0])),
        (loaded.torch("gravity", parameters=[m]), [torch.ones(2, dtype=torch.float64), load]),
    ]
    for function, given in functions:
        again = pickle.loads(pickle.dumps(function))
        assert again.__name__ == function.__name__
        assert torch.equal(again(*given), function(*given))
        assert copy.deepcopy(Dynamics(function)).function is function
    torch.save(Dynamics(functions[0][0]), tmp_path / "model.pt")
    module = torch.load(tmp_path / "model.pt", weights_only=False)
    assert torch.equal(module(*functions[0][1]), functions[0][0](*functions[0][1]))
    with pytest.raises(dy.InputError, match="machine code of this process and cannot be pickled"):
        pickle.dumps(ROBOT.torch(lambda robot, q: robot.gravity(q)))


def test_transforms_of_torch_func():
    dynamics = ROBOT.torch("forward_dynamics")
    state = [torch.as_tensor(x) for x in STATES]
    one = [x[0] for x in state]
    expected = ROBOT.forward_dynamics_derivatives(*STATES)
    np.testing.assert_array_equal(torch.func.vmap(dynamics)(*state), dynamics(*state))
    mixed = torch.func.vmap(torch.func.vmap(dynamics, in_dims=(None, 0, None)), in_dims=(1, None, None), out_dims=1)
    np.testing.assert_array_equal(mixed(state[0].T, state[1], one[2]), dynamics(state[0], state[1][:, None], one[2]))
    for transform in (torch.func.jacrev, torch.func.jacfwd):
        for found, part in zip(torch.func.vmap(transform(dynamics, argnums=(0, 1, 2)))(*state), expected, strict=True):
            np.testing.assert_allclose(found, part, atol=1e-12 * np.abs(part).max())
    _, change = torch.func.jvp(lambda q: dynamics(q, *state[1:]), (state[0],), (torch.ones_like(state[0]),))
    along = np.asarray(expected[0]).sum(-1)
    np.testing.assert_allclose(change, along, atol=1e-12 * np.abs(along).max())


def test_tensors_of_other_devices_are_refused():
    with pytest.raises(dy.InputError, match="on the processor or on one NVIDIA GPU, got some on meta"):
        ROBOT.torch("gravity")(torch.zeros(ROBOT.n, device="meta"))
    with pytest.raises(dy.InputError, match="got some on cpu, meta"):
        ROBOT.torch("inverse_dynamics")(np.zeros(7), *torch.zeros((2, ROBOT.n), device="meta"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the compiler itself
def test_torch_compile_takes_the_call_as_one_operation():
    dynamics = ROBOT.torch("forward_dynamics")

    def loss(*state):
        return torch.sin(dynamics(*state)).sum()

    compiled, plain = tensors(*STATES), tensors(*STATES)
    loss(*plain).backward()
    torch.compile(loss, backend="aot_eager", fullgraph=True)(*compiled).backward()
    for a, b in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(a.grad, b.grad, atol=1e-12 * float(b.grad.abs().max()))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute:UserWarning")  # of the compiler itself
@pytest.mark.parametrize(
    "name", ["grad", "jacrev", "jacfwd", "hessian", "jvp", "vmap", "vmap of grad", "vmap of jacfwd", "autograd"]
)
def test_torch_compile_of_transforms_and_derivatives_inside(name):
    arm = dy.load("planar_2r_melchiorri")
    dynamics = arm.torch("forward_dynamics")
    q, v, tau = tensors(*random_states(np.random.default_rng(1), arm, 3))
    q1, v1, tau1 = q[0].detach(), v[0].detach(), tau[0].detach()

    def loss(q, v, tau):
        return dynamics(q, v, tau).square().sum()

    func = torch.func
    function, given = {
        "grad": (func.grad(loss, argnums=(0, 1, 2)), (q1, v1, tau1)),
        "jacrev": (func.jacrev(dynamics, argnums=(0, 1, 2)), (q1, v1, tau1)),
        "jacfwd": (func.jacfwd(dynamics, argnums=(0, 1, 2)), (q1, v1, tau1)),
        "hessian": (func.hessian(loss), (q1, v1, tau1)),
        "jvp": (lambda *x: func.jvp(dynamics, x, x)[1], (q1, v1, tau1)),
        "vmap": (func.vmap(dynamics), (q.detach(), v.detach(), tau.detach())),
        "vmap of grad": (func.vmap(func.grad(loss)), (q.detach(), v.detach(), tau.detach())),
        "vmap of jacfwd": (func.vmap(func.jacfwd(dynamics)), (q.detach(), v.detach(), tau.detach())),
        "autograd": (lambda *x: torch.autograd.grad(loss(*x), x), (q, v, tau)),
    }[name]  # fmt: skip
    torch.compiler.reset()
    found = torch.compile(function, backend="aot_eager")(*given)  # which may be the first to ask for the derivative
    expected = function(*given)
    for a, b in zip(*((x,) if torch.is_tensor(x) else x for x in (found, expected)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12 * float(b.abs().max()))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the compiler itself
def test_compiled_and_exported_functions_take_batches_of_any_length():
    gravity = ROBOT.torch("gravity")
    compiled = torch.compile(lambda q: gravity(q).sin(), backend="aot_eager", fullgraph=True, dynamic=True)

    class Module(torch.nn.Module):
        def forward(self, q):
            return gravity(q).sin()

    torch.compiler.reset()
    exported = torch.export.export(
        Module(), (torch.zeros(4, 7),), dynamic_shapes={"q": {0: torch.export.Dim("batch")}}
    ).module()
    for count in (2, 3, 5):
        q = torch.zeros(count, 7)
        np.testing.assert_array_equal(compiled(q), gravity(q).sin())
        np.testing.assert_array_equal(exported(q), gravity(q).sin())


def test_versions_that_return_zeros_are_refused(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.11.0+cu130")
    with pytest.raises(dy.MissingExtraError, match=r"2\.13 or later, found 2\.11\.0\+cu130"):
        ROBOT.torch("gravity")

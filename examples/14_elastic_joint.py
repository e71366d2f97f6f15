"""An elastic joint: residual vibration and how to avoid it.

Shows: how to add an actuator (here a rotor connected through a spring) to a joint, how to read its states after a simulation,
and that torque pulses as long as the vibration period leave no residual vibration.
"""

import sys
from pathlib import Path

import numpy as np

import dynamis as dy
from dynamis.drawing import FORCE, INK, MOTION, STRUCTURE, new_figure, save, tidy

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

rod = dy.solids.box(0.8, 0.05, 0.05, mass=4.0).seen_from(dy.Pose.translation([0.4, 0.0, 0.0]))
description = dy.Description("one link", gravity=np.zeros(3)).add_link("base")
description.add_link("arm", "base", "revolute", axis=(0, 0, 1), inertia=rod)
stiff = dy.Robot(description)
joint = stiff.joint_names[0]
stiffness, rotor = 120.0, 0.6
soft = stiff.replace(actuators={joint: dy.Elastic(stiffness, inertia=rotor, damping=0.05)})

link = float(stiff.mass_matrix([0.0])[0, 0])
period = 2 * np.pi * np.sqrt(rotor * link / (rotor + link) / stiffness)
print(f"link {link:.3f} kg m2, rotor {rotor} kg m2: vibration period {period:.3f} s")


def pulse(length):  # accelerate, then brake: 1 rad from rest to rest for a rigid joint
    size = (rotor + link) / length**2
    return lambda t: [size if t < length else -size if t < 2 * length else 0.0]


figure = new_figure(7.5, 4.7)
figure.suptitle("An elastic joint: residual vibration for two pulse lengths", fontsize=15, x=0.02, ha="left", color=INK)
panels = figure.subplots(1, 2, sharey=True)
titles = ("pulses of 0.7 periods", "pulses of one period")
for axes, share, title in zip(panels, (0.7, 1.0), titles, strict=True):
    length = share * period
    motion = dy.simulate(soft, 1.6, torque=pulse(length), points=801)
    rotor_angle = motion.actuator_states[joint][:, 0]
    after = motion.q[motion.t > 2 * length, 0]
    print(f"{title}: the link oscillates by {np.degrees(np.ptp(after)):.2f} deg after the command")
    axes.axvspan(0, 2 * length, color=STRUCTURE, alpha=0.15, label="command")
    axes.plot(motion.t, np.degrees(rotor_angle), color=FORCE, linewidth=2, label="rotor")
    axes.plot(motion.t, np.degrees(motion.q[:, 0]), color=MOTION, linewidth=3, label="link")
    tidy(axes)
    axes.set(xlabel="time in s", xlim=(0, 1.6))
    axes.set_title(title, fontsize=12, color=INK)
panels[0].set_ylabel("angle in degrees")
panels[1].legend(frameon=False, fontsize=11, loc="lower right")
save(figure, folder / "14_elastic_joint.png")

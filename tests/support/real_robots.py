"""Real robots that example-robot-data ships: (path, base, a frame to look at or None for the last)."""

ROBOTS = [
    ("ur_description/urdf/ur5_robot.urdf", "fixed", "tool0"),
    ("ur_description/urdf/ur3_robot.urdf", "fixed", "ee_link"),
    ("ur_description/urdf/ur10_robot.urdf", "floating", "wrist_2_link"),
    ("xarm_description/urdf/xarm7.urdf", "fixed", "link7"),
    ("kinova_description/robots/kinova.urdf", "fixed", "j2s6s200_link_6"),
    ("z1_description/urdf/z1.urdf", "fixed", "link06"),
    ("so_arm_description/urdf/so101.urdf", "fixed", "gripper_link"),
    ("bravo7_description/urdf/bravo7_no_ee.urdf", "fixed", None),
    ("allegro_hand_description/urdf/allegro_right_hand.urdf", "fixed", "link_3.0_tip"),
    ("double_pendulum_description/urdf/double_pendulum.urdf", "fixed", None),
    ("finger_edu_description/robots/finger_edu.urdf", "fixed", None),
    ("centauro_description/urdf/centauro.urdf", "floating", None),
    ("go2_description/urdf/go2.urdf", "floating", "FL_foot"),
    ("a1_description/urdf/a1.urdf", "floating", "FR_foot"),
    ("anymal_b_simple_description/robots/anymal.urdf", "floating", "LF_FOOT"),
    ("hyq_description/robots/hyq_no_sensors.urdf", "floating", None),
    ("solo_description/robots/solo12.urdf", "floating", "FL_FOOT"),
    ("bolt_description/robots/bolt.urdf", "floating", None),
    ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "floating", None),
    ("simple_humanoid_description/urdf/simple_humanoid.urdf", "floating", None),
    ("icub_description/robots/icub_reduced.urdf", "floating", None),
    ("talos_data/robots/talos_reduced.urdf", "floating", "left_sole_link"),
]

# large ones, whose code takes long to compile, are compared in a campaign only
USUAL = [robot for robot in ROBOTS if not robot[0].startswith(("centauro", "hyq", "simple_humanoid", "icub", "talos"))]

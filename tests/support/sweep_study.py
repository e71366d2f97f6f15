"""A study of twelve cases, and an executor that does at once what is submitted."""

from concurrent.futures import Executor, Future

from dynamis.sweeps.study_file import study_from_text

TEXT = """
robot = "planar_2r_melchiorri"
duration = 0.2
points = 5
draws = 12
seed = 5
part = 2
[vary]
"q0.joint1" = { uniform = [-1, 1] }
"viscous.*" = { choice = [0, 30] }
"""
STUDY = study_from_text(TEXT, name="study.toml")


class Serial(Executor):
    """Whatever is submitted is done at once."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

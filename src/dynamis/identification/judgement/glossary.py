"""The words of a report, explained for a reader who identifies a robot for the first time."""

GLOSSARY = (
    (
        "Base parameter",
        "A sum of masses, moments and inertias that torques depend on. Its parts cannot be told apart.",
    ),
    ("Condition number", "How many times weaker the least excited direction of the parameters is than the best excited one."),
    ("Confidence interval", "A range that contains the true value in 95 of 100 repetitions, if the model is right."),
    ("Essential parameters", "Those that the data need; leaving out the others does not make the fit worse than noise would."),
    ("Held out", "Blocks of time that the fit has not seen. How well they are predicted is what a model is worth."),
    ("Leverage", "How much one equation pulls the fit towards itself, from 0 to 1."),
    ("Physically consistent", "A link has positive mass and moments of inertia that some real distribution of mass has."),
    ("Prior model", "The parameters the robot's file had before the identification."),
    ("Residual", "Measured torque less the torque of the model."),
    (
        "Unexplained, in percent",
        "RMS of the residual over RMS of the torque: 0 is perfect, 100 is what predicting zero gives.",
    ),
    ("White noise", "Noise without memory. Residuals that stay alike over time contain something the model lacks."),
    ("σ, standard error", "How much an estimate would scatter if the experiment were repeated; σ, % is relative to the value."),
)

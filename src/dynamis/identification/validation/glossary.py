"""Glossary of a report."""

GLOSSARY = (
    (
        "Base parameter",
        "A linear combination of masses, first moments and inertias that determines torques. Its terms cannot be separated.",
    ),
    ("Condition number", "Ratio of the best to the least excited direction of the parameters."),
    ("Confidence interval", "A range that contains the true value in 95 of 100 repetitions, if the model is correct."),
    ("Essential parameters", "Parameters whose elimination would increase the residual significantly."),
    ("Held out", "Blocks of time not used in the fit. The prediction error on them measures the quality of the model."),
    ("Leverage", "Influence of one equation on its own fitted value, from 0 to 1."),
    ("Physically consistent", "A link has positive mass and moments of inertia of a real mass distribution."),
    ("Prior model", "The parameters in the robot's file before the identification."),
    ("Residual", "Measured minus predicted torque."),
    (
        "Residual, in percent",
        "RMS residual relative to the RMS torque: 0 is perfect, 100 corresponds to predicting zero.",
    ),
    ("White noise", "Uncorrelated noise. Residuals correlated over time indicate effects missing in the model."),
    ("σ, standard error", "Standard deviation of an estimate over repeated experiments; σ, % is relative to the value."),
)

"""Assessment of an identification: statistics of the fit, validation on held-out motion, verdict, plots, report."""

"""The report of a robot: sections, the data of their figures, and the page."""

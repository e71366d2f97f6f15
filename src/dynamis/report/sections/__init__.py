"""The sections of a report, one in each module: ``build(subject, section, budget)`` fills what is said and shown."""

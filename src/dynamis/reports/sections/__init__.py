"""The sections of a report, one per module.

``build(subject, section)`` fills a section, the same on every machine; ``add_extra(subject, section, budget)``, where there is
one, adds content that is marked as extra while there is time.
"""

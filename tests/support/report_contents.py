"""The parts of a report."""


def report_blocks(contents, key, kind):
    section = next(s for s in contents.sections if s.key == key)
    return [block for block in section.blocks if isinstance(block, kind)]

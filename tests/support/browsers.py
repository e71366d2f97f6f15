"""The browser that prints and shows pages."""

import pytest

from dynamis.documents.printing import find_browser
from dynamis.errors import MissingExtraError


def find_browser_or_skip():
    try:
        find_browser()
    except MissingExtraError as error:
        pytest.skip(str(error))

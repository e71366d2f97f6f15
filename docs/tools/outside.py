"""Files of the repository that pages refer to, such as ``../benchmarks/plots/x.png``, become files of the site.

On a code host these links lead out of ``docs``; the site has no outside, so they are rewritten to copies inside. An example
becomes a page: its picture, how it is run, and its code.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)(\))")


def on_files(files: Any, config: Any) -> Any:
    for script in sorted((Path(config.config_file_path).parent / "examples").glob("[0-9]*.py")):
        page = f"examples/{script.stem}.md"
        files.append(File.generated(config, page, content=_shown(script), inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def _shown(script: Path) -> str:
    name = re.sub(r"^\d+_", "", script.stem).replace("_", " ")
    picture = f"![{name}](../gallery/{script.name.removesuffix('.py')}.png)"
    run = f"```sh\npython examples/{script.name}\n```"
    code = f"```python\n{script.read_text(encoding='utf-8').rstrip()}\n```"
    # guides come first in a search: a listing matches every word of its code
    settings = "---\nsearch:\n  exclude: true\n---\n"
    return f"{settings}\n# Example: {name}\n\n{picture}\n\n{run}\n\n{code}\n\nOther examples: [gallery](../gallery.md).\n"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    root = Path(config.config_file_path).parent
    here = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def inside(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, match[2]))
        if target.startswith(("docs/", "..")) or target.endswith(".md") or not (root / target).is_file():
            return match[0]
        if files.get_file_from_path(example := f"{target.removesuffix('.py')}.md") is not None:
            target = example
        elif files.get_file_from_path(target) is None:
            files.append(File.generated(config, target, abs_src_path=str(root / target)))
        return match[1] + posixpath.relpath(target, posixpath.dirname(page.file.src_uri) or ".") + match[3]

    return LINK.sub(inside, markdown)

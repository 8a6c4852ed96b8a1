"""The pages of the site, from files of this checkout.

The files of `docs` keep their places. Some files outside become pages too (`ELSEWHERE`), a Python
file that a page links to becomes a page of its text, and links between them are led there.
"""

import posixpath
import re
from pathlib import Path

import notebook
import plates

from grokatlas import registry

DOCS = "docs"
# files outside docs that are pages, by their place in the site
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "config/README.md": "reference/yaml.md",
    "docs/notebook.ipynb": notebook.PAGE,
    "recorded/README.md": "reference/recorded.md",
    "src/grokatlas/engine/contracts.py": "reference/contracts.md",
    "tests/README.md": "reference/tests.md",
}
OF_STUDY = re.compile(r"studies/\w+/docs/papers/")  # the pages of a study's papers
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]+)?\)")
NAMED = re.compile(r"(?<![\[`/\w])(`?)([\w-][\w/-]*\.md)\1(?![\w`/\]])")
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
# the text of a Python file; it is found by links, not by words
SOURCE = "---\nnosearch: true\norphan: true\n---\n\n# `{path}`\n\n```python\n{text}\n```\n"


class Pages:
    """The pages that are written into a folder.

    Args:
        root: the checkout.
        folder: where the pages go.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        self.sources: set[str] = set()

    def add_docs(self) -> None:
        """Add every page of `docs`, and its pictures."""
        for file in registry.own_files(self.root / DOCS, "**/*"):
            origin = file.relative_to(self.root).as_posix()
            page = file.relative_to(self.root / DOCS)
            if page.parts[0] == "site" or file.is_dir():
                continue
            if file.suffix == ".md" and len(page.parts) < 3:  # tables of papers are in their pages
                self._add_doc(page.as_posix(), file.read_text(encoding="utf-8"), origin)
            elif file == notebook.FILE:
                text, pictures = notebook.as_page(notebook.load())
                self.add(notebook.PAGE, text, origin)
                for name, content in pictures.items():
                    (self.folder / name).write_bytes(content)
            elif file.suffix == ".png":
                self._copy(file, page.as_posix())

    def add_studies(self) -> None:
        """Add the page of every study, with its pictures."""
        for file in registry.own_files(self.root, "studies/*/docs/papers/**/*"):
            origin = file.relative_to(self.root).as_posix()
            page = self._page_of(origin) or ""
            if file.suffix == ".md":
                self.add(page, file.read_text(encoding="utf-8"), origin)
            elif file.suffix == ".png":
                self._copy(file, page)

    def _add_doc(self, page: str, text: str, origin: str) -> None:
        """Add a page of `docs`; of the plates, one for each besides."""
        if page == plates.PAGE:
            text, each = plates.split(text)
            for name, plate in each.items():
                self.add(f"papers/plates/{name}.md", plate, origin)
        self.add(page, text, origin)

    def add_elsewhere(self) -> None:
        """Add the Markdown files of `ELSEWHERE`, but for the README: the site has a first page."""
        for origin, page in ELSEWHERE.items():
            if origin.endswith(".md") and origin != "README.md":
                text = (self.root / origin).read_text(encoding="utf-8")
                self.add(page, text.partition("\n## Components\n")[0], origin)

    def add_sources(self) -> None:
        """Add every Python file that a page links to."""
        for origin in sorted(self.sources):
            text = (self.root / origin).read_text(encoding="utf-8")
            self._write(_source_page(origin), SOURCE.format(path=origin, text=text))

    def add(self, page: str, text: str, origin: str) -> None:
        """Add a page.

        Args:
            page: its place in the site.
            text: Markdown, with links as they are right in its file.
            origin: its file, as a path in the checkout.
        """
        self._write(page, self._led(text, page, posixpath.dirname(origin)))

    def _copy(self, file: Path, page: str) -> None:
        (self.folder / page).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / page).write_bytes(file.read_bytes())

    def _write(self, page: str, text: str) -> None:
        file = self.folder / page
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _led(self, text: str, page: str, folder: str) -> str:
        """The text with its links as they are right in the site; code blocks stay."""
        lines, fence = [], ""
        for line in text.splitlines():
            found = FENCE.match(line)
            if found and (not fence or found[1].startswith(fence)):
                fence = "" if fence else found[1]
            elif not fence and not line.startswith("    "):
                line = LINK.sub(lambda link: self._link(link, page, folder), line)
                line = NAMED.sub(lambda name: self._named(name, page), line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def _link(self, link: re.Match[str], page: str, folder: str) -> str:
        origin = posixpath.normpath(posixpath.join(folder, link[1]))
        if (self.root / origin / "README.md").is_file():
            origin += "/README.md"
        target = self._page_of(origin)
        if target is None:
            return link[0]
        return f"]({posixpath.relpath(target, posixpath.dirname(page) or '.')}{link[2] or ''})"

    def _named(self, name: re.Match[str], page: str) -> str:
        """A page that is named by its path becomes a link, unless it is the page itself."""
        target = self._page_of(name[2]) if (self.root / name[2]).is_file() else None
        if target in (None, page, "index.md"):
            return name[0]
        return f"[{name[0]}]({posixpath.relpath(target, posixpath.dirname(page) or '.')})"

    def _page_of(self, origin: str) -> str | None:
        """The page of a file of the checkout; None if it is none."""
        if origin in ELSEWHERE:
            return ELSEWHERE[origin]
        if origin.startswith(f"{DOCS}/"):
            return origin.removeprefix(f"{DOCS}/")
        if found := OF_STUDY.match(origin):
            return f"studies/{origin[found.end() :]}"
        if origin.endswith(".py") and (self.root / origin).is_file():
            self.sources.add(origin)
            return _source_page(origin)
        return None


def _source_page(origin: str) -> str:
    return f"source/{origin.removeprefix('src/').removesuffix('.py')}.md"

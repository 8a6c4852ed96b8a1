"""Build the documentation site: ``python docs/site/build.py [FOLDER]`` (default ``build/site``).

The pages are put together in ``FOLDER.pages``; Sphinx makes HTML of them. Every warning is an
error: a link that leads nowhere, a page that no menu has.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "src"))


def main(folder: Path) -> int:
    """Build the site in a folder; the exit code of Sphinx."""
    pages = folder.with_name(f"{folder.name}.pages")
    for each in (folder, pages):
        shutil.rmtree(each, ignore_errors=True)
    write_pages(pages)
    sphinx = ["-m", "sphinx", "--builder", "html", "--conf-dir", str(HERE)]
    strict = ["--fail-on-warning", "--keep-going", "--quiet", "--jobs", "auto"]
    command = [sys.executable, *sphinx, *strict, str(pages), str(folder)]
    done = subprocess.run(command, check=False)
    if done.returncode == 0:
        # pictures that cells of an HTML table lead to, which Sphinx does not see
        shutil.copytree(pages / "benchmark", folder / "benchmark")
        shutil.rmtree(pages)
        print(f"built {folder}/index.html")
    return done.returncode


def write_pages(folder: Path) -> None:
    """Write every page of the site, with its pictures, into a folder."""
    import reference
    from pages import Pages

    from grokatlas import registry

    pages = Pages(ROOT, folder)
    pages.add_docs()
    pages.add_studies()
    pages.add_elsewhere()
    pages.add("reference/commands.md", reference.commands(), "src/grokatlas/cli.py")
    pages.add("reference/contracts.md", reference.contracts(), "src/grokatlas/engine/contracts.py")
    pages.add("reference/components.md", reference.overview(), "src/grokatlas/registry.py")
    for block, name in registry.FOLDERS.items():
        origin = f"src/grokatlas/components/{name}/README.md"
        pages.add(f"reference/components/{name}.md", reference.components(block), origin)
    pages.add_sources()


if __name__ == "__main__":
    sys.exit(main(Path(*sys.argv[1:2] or ["build/site"]).absolute()))

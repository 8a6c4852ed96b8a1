"""From what a person types to a result: a path, id, ``paper/figure``, or a file sent by mail."""

from pathlib import Path

from grokatlas.audit import metadata
from grokatlas.audit.tree import JOB_FILE, MANIFEST, Tree
from grokatlas.errors import UserError, closest
from grokatlas.plan import declared_jobs
from grokatlas.results import layout
from grokatlas.results.layout import SCALES
from grokatlas.results.result import ROOT, Result

SUFFIXES = (f".{MANIFEST}", f".{JOB_FILE}", ".pdf", ".png", ".md", ".tex", ".csv", ".parquet")
INSIDE = ("runs", "data", *SCALES)  # a folder of that name alone may hold anybody's results


def target(tree: Tree, text: str) -> str:
    """The one result that a path, id or name means; an error for none or several."""
    below = targets_below(tree, Path(text))
    if len(below) == 1:
        return below[0]
    names = below or _by_name(tree, text)
    if len(names) > 1:
        raise UserError(text, f"means {len(names)} results, such as {names[0]}; name one")
    if not names and Path(text).is_file():
        return _by_origin(tree, Path(text))
    if not names:
        raise UserError(text, _absence(tree, text))
    return names[0]


def _absence(tree: Tree, text: str) -> str:
    """The reason why a name means no result: it was not made yet, or nothing is called so."""
    for name in (text, *_stems(text)):
        if name in tree.results and tree.results[name].files:
            return tree.results[name].problem
    jobs = declared_jobs.jobs() or {}
    known = {*jobs, *tree.results}
    if known.intersection([text, text.rpartition(".")[0], *_stems(text)]):
        return "was not made yet; run `snakemake` to make it"
    short = {"/".join(name.split("/")[-2:]) for name in known if name.count("/") == 4}
    hint = closest(text, sorted(known | short))
    anyway = "name a path, paper/figure or the first digits of a run"
    return f"no such result in {tree.folder}; {hint or anyway}"


def targets(tree: Tree, texts: list[str]) -> list[str]:
    """All results that paths, ids or names mean; a folder means everything below it."""
    results: dict[str, None] = {}
    for text in texts:
        results |= dict.fromkeys(targets_below(tree, Path(text)) or [target(tree, text)])
    return list(results)


def targets_below(tree: Tree, path: Path) -> list[str]:
    """The results at a path or below it, if the path is in the tree or holds it."""
    name = _name(tree, path)
    if name is None:
        holds = tree.folder.resolve().is_relative_to(path.resolve())
        return list(tree.results) if holds else []
    owner = tree.owner(name)
    if owner:
        return [owner.target]
    if name in tree.results:
        return [name]
    for suffix in SUFFIXES:
        if name.endswith(suffix) and name.removesuffix(suffix) in tree.results:
            return [name.removesuffix(suffix)]
    return [each for each in tree.results if name == ROOT or each.startswith(f"{name}/")]


def tree_of(path: Path, default: Path) -> Path:
    """The results folder that a path is in or that it holds, else the default."""
    for folder in (path / ROOT, path, *path.parents):
        named = folder.name == ROOT and any((folder / inner).is_dir() for inner in INSIDE)
        if named or ((folder / "runs").is_dir() and (folder / "data").is_dir()):
            return folder
    return default


def _name(tree: Tree, path: Path) -> str | None:
    """A path as the tree names it; None outside. Links are not followed below the tree."""
    if path.is_symlink() and path.resolve() == Path(tree.root):
        path = path.resolve()
    absolute = path.parent.resolve() / path.name if path.name != ".." else path.resolve()
    if not absolute.is_relative_to(tree.root):
        return None
    return "/".join((ROOT, *absolute.relative_to(tree.root).parts))


def _by_name(tree: Tree, text: str) -> list[str]:
    """Results called by ``paper/figure``, ``paper/experiment`` or the first digits of an id."""
    if "/" not in text and len(text) >= 4:
        places = tuple(f"{ROOT}/{folder}/{text}" for folder in ("runs", "data"))
        return [name for name in tree.results if name.startswith(places)]
    names = [n for n in _stems(text) if n in tree.results and tree.results[n].manifest]
    return names[:1]


def _stems(text: str) -> list[str]:
    """The stems that ``paper/figure`` or ``paper/experiment`` may mean, today's scale first."""
    parts = text.split("/")
    if len(parts) != 2:
        return []
    scales = dict.fromkeys(filter(None, [declared_jobs.scale(), *SCALES]))
    kinds = (layout.figure_stem, layout.table_stem)
    return [stem(scale, *parts).as_posix() for scale in scales for stem in kinds]


def _by_origin(tree: Tree, path: Path) -> str:
    """The figure whose digest a pdf or png from elsewhere carries."""
    origin = metadata.origin(path)
    for name, result in tree.results.items():
        if origin.digest in digests(result):
            return name
    raise UserError(str(path), f"{origin}; its figure is not in {tree.folder}")


def digests(result: Result) -> set[str]:
    """The digest that a result has, and those it had before it was accepted."""
    content = result.sound
    return {content.get("digest"), *(note["old"] for note in content.get("accepted", []))}

"""The results behind another as its page shows them: each by itself, below experiments, and all."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from grokatlas.audit import explain
from grokatlas.results import dotted, endings
from grokatlas.results.manifest import MARK
from grokatlas.text import machine

# from what is looked at to what it was made from
KINDS = ("atlas", "claims", "figure", "table", "measure", "run", "dataset")
OK = ("ok", "not kept")


@dataclass(frozen=True)
class Node:
    """One result.

    Attributes:
        target: its name in the tree.
        kind: of its job.
        title: what it is, in words.
        verdict: the worst that `verify` finds of its files.
        reason: what is wrong, if it is not ok.
        content: its manifest; empty if it cannot be trusted.
    """

    target: str
    kind: str
    title: str
    verdict: str
    reason: str
    content: dict[str, Any] = field(repr=False)

    @property
    def cause(self) -> str:
        """What is wrong, without where it is."""
        return self.reason.partition(" (results/")[0]

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return self.target.replace("/", "-")

    @property
    def name(self) -> str:
        """Its id or its own name."""
        return self.target.rpartition("/")[2]

    @property
    def digest(self) -> str:
        """The first digits of its digest."""
        return str(self.content.get("digest", ""))[:12]

    @property
    def task(self) -> str:
        """Of a data set, the name of its task."""
        tasks = self.content.get("spec", {}).get("tasks") or [{}]
        return str(tasks[0].get("name", ""))

    @property
    def commit(self) -> str:
        """The first digits of the commit of its code, and whether files differed from it."""
        git = self.content.get("git") or {}
        dirty = " with uncommitted changes" if git.get("dirty") else ""
        return f"{git['commit'][:12]}{dirty}" if git.get("commit") else "unknown"

    @property
    def made(self) -> str:
        """When it was started: ``2026-11-20 16:57 UTC``."""
        text = str(self.content.get("started", ""))
        return f"{text[:10]} {text[11:16]} UTC" if len(text) > 16 else text

    @property
    def where(self) -> str:
        """The machine and its device."""
        host = (self.content.get("host") or {}).get("name", "")
        return ", ".join(filter(None, [str(host), machine(self.content)]))

    @property
    def seconds(self) -> float:
        """Of wall time."""
        return float(self.content.get("wall_seconds", 0.0))

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """The notes of its acceptance."""
        return list(self.content.get("accepted", []))

    @property
    def brought(self) -> bool:
        """Whether it was brought from a run store."""
        return MARK in self.content

    @property
    def lines(self) -> list[str]:
        """What `grokatlas explain` says of it."""
        return explain.about(self.content) if self.content else []


@dataclass(frozen=True)
class Trained:
    """A run of an experiment.

    Attributes:
        node: the run.
        label: its case.
        measures: what was computed of it.
        data: its data sets.
        own: what `explain` says of it and not of every run of the experiment.
        repeated: whether it is shown at an experiment above.
    """

    node: Node
    label: str
    measures: list[Node]
    data: list[Node]
    own: list[str]
    repeated: bool

    @property
    def measured(self) -> list[str]:
        """What is wrong with its measures, and not with the run itself."""
        verdicts = dict.fromkeys(each.verdict for each in self.measures)
        return [verdict for verdict in verdicts if verdict not in ("ok", self.node.verdict)]

    @property
    def members(self) -> str:
        """How many members it has, and how many diverged."""
        if not self.node.content:
            return ""
        told = dotted.members(self.node.content["spec"]).partition(":")[0]
        diverged = endings.summary(self.node.content)
        return f"{told}, {len(self.node.content['diverged'])} diverged" if diverged else told


@dataclass(frozen=True)
class Experiment:
    """A table, and the runs that it is made of.

    Attributes:
        node: the table.
        runs: in the order of its cells.
        common: what `explain` says of each of these runs, if there are several.
    """

    node: Node
    runs: list[Trained]
    common: list[str]

    @property
    def seconds(self) -> float:
        """The wall time of its runs."""
        return sum(run.node.seconds for run in self.runs)

    @property
    def verdicts(self) -> Counter[str]:
        """How many of its runs and measures have each verdict."""
        nodes = (node for run in self.runs for node in (run.node, *run.measures))
        return Counter(node.verdict for node in nodes)


@dataclass(frozen=True)
class Accepted:
    """What was accepted at once.

    Attributes:
        reason: why the change of code was neutral.
        who: accepted it.
        when: it was.
        notes: the results, each with its note.
    """

    reason: str
    who: str
    when: str
    notes: list[tuple[Node, dict[str, Any]]]

    @property
    def changed(self) -> list[str]:
        """The modules that had changed."""
        return sorted({name for _, note in self.notes for name in note.get("changed") or []})


@dataclass(frozen=True)
class Lineage:
    """All that the page shows.

    Attributes:
        target: what is looked at.
        nodes: it and all behind it, by target.
        experiments: the tables among them with their runs.
        others: what is not below a table, for every kind.
        mixed: what was not made alike.
        notes: what could not be judged.
    """

    target: Node
    nodes: dict[str, Node]
    experiments: list[Experiment]
    others: dict[str, list[Node]]
    mixed: list[str]
    notes: list[str]

    @property
    def problems(self) -> list[Node]:
        """What is not as it should be."""
        return [node for node in self.nodes.values() if node.verdict not in OK]

    @property
    def reasons(self) -> list[tuple[str, str, list[Node]]]:
        """The same by verdict and reason: those that say the same stand together."""
        found: dict[tuple[str, str], list[Node]] = {}
        for node in self.problems:
            found.setdefault((node.verdict, node.cause), []).append(node)
        return [(*key, nodes) for key, nodes in found.items()]

    def opened(self, experiment: Experiment, most: int) -> bool:
        """Whether an experiment's runs are shown without a click: few, and few in all."""
        count = sum(len(each.runs) for each in self.experiments)
        return len(experiment.runs) <= most and count <= 3 * most

    @property
    def accepted(self) -> list[Accepted]:
        """What was accepted after changes of code, by reason."""
        found: dict[tuple[str, ...], list[tuple[Node, dict[str, Any]]]] = {}
        for node in self.nodes.values():
            for note in node.accepted:
                key = tuple(str(note.get(name, "")) for name in ("reason", "who", "when"))
                found.setdefault(key, []).append((node, note))
        return [Accepted(*key, notes) for key, notes in found.items()]

    @property
    def steps(self) -> list[tuple[str, list[Node]]]:
        """The kinds that there are, from the target to the data, with their results."""
        kinds = {kind: [n for n in self.nodes.values() if n.kind == kind] for kind in KINDS}
        return [(kind, nodes) for kind, nodes in kinds.items() if nodes]

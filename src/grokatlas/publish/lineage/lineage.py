"""From a results tree to the lineage of one result: runs below the experiment that they are of."""

from dataclasses import replace
from pathlib import Path

from grokatlas.audit import explain, mixed
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import VERDICTS, Finding, Report, verify
from grokatlas.plan.jobs import Job
from grokatlas.publish.lineage.nodes import KINDS, Experiment, Lineage, Node, Trained
from grokatlas.results import layout
from grokatlas.results.ancestry import ancestors


def of(tree: Tree, target: str, jobs: dict[str, Job] | None) -> Lineage:
    """The lineage of a result.

    Args:
        tree: the results.
        target: one of them, whose manifest is sound.
        jobs: what the checkout declares, for what is stale; None if there is no checkout.
    """
    names = ancestors([target], lambda name: _upstream(tree, name))
    report = verify(tree, jobs, [name for name in names if name in tree.results])
    worst = _worst(report)
    nodes = {name: _node(tree, name, worst) for name in names}
    shown: set[str] = set()
    tables = [node for node in nodes.values() if node.kind == "table"]
    experiments = [_experiment(tree, node, nodes, shown) for node in tables]
    below = {node.target for node in tables} | shown
    below |= {each.target for e in experiments for run in e.runs for each in run.measures}
    rest = [node for node in nodes.values() if node.target not in below | {target}]
    others = {kind: [node for node in rest if node.kind == kind] for kind in KINDS}
    return Lineage(
        nodes[target],
        nodes,
        experiments,
        others,
        mixed.of(mixed.behind(tree, target)),
        [note for note in report.notes if not note.startswith(tuple(mixed.KINDS.values()))],
    )


def _upstream(tree: Tree, target: str) -> list[str]:
    """What a result was made from, whether it is here or not."""
    if target not in tree.results:
        return []
    return list(dict.fromkeys([*tree.inputs(target), *tree.results[target].upstream]))


def _worst(report: Report) -> dict[str, Finding]:
    """The worst finding on each result; what is said of one file names it."""
    worst: dict[str, Finding] = {}
    for name, finding in report.findings.items():
        target = report.targets[name]
        told = finding
        if finding.verdict in ("missing", "modified"):
            problem = "is not here" if finding.verdict == "missing" else finding.reason
            told = replace(finding, reason=f"{name} {problem}")
        places = [VERDICTS.index(each.verdict) for each in (told, worst.get(target, Finding()))]
        if target not in worst or places[0] > places[1]:
            worst[target] = told
    return worst


def _node(tree: Tree, target: str, worst: dict[str, Finding]) -> Node:
    title, result = explain.title(target), tree.results.get(target)
    if result is None:
        return Node(target, layout.kind_of(Path(target)), title, "missing", "it is not here", {})
    finding = worst.get(target, Finding())
    reason = finding.reason
    if len(finding.chain) > 1 and finding.chain[-1] not in reason:
        reason += f" ({finding.chain[-1]})"
    kind = layout.kind_of(Path(target))
    return Node(target, kind, title, finding.verdict, reason, result.sound)


def _experiment(tree: Tree, table: Node, nodes: dict[str, Node], shown: set[str]) -> Experiment:
    """A table with its runs; what is shown of them is added to `shown`."""
    inputs = [nodes[name] for name in _upstream(tree, table.target)]
    labels = {
        cell["run"]: cell.get("label", "")
        for cell in table.content.get("spec", {}).get("cells", [])
    }
    runs = [node for node in inputs if node.kind == "run"]
    measures = [node for node in inputs if node.kind == "measure"]
    lines = [node.lines for node in runs if node.content]
    common = [line for line in lines[0] if all(line in each for each in lines)] if lines[1:] else []
    found = []
    for run in runs:
        data = [nodes[name] for name in _upstream(tree, run.target)]
        own = [line for line in run.lines if line not in common]
        of_run = [each for each in measures if each.target.split("/")[2] == run.name]
        seen = run.target in shown
        found.append(Trained(run, labels.get(run.name, ""), of_run, data, own, seen))
        shown.add(run.target)
    order = list(labels)
    found.sort(
        key=lambda run: order.index(run.node.name) if run.node.name in labels else len(order)
    )
    return Experiment(table, found, common)


def picture(tree: Tree, node: Node) -> bytes | None:
    """The png of a figure that is what its manifest says; None for anything else."""
    name = f"{node.target}.png"
    recorded = tree.results[node.target].outputs.get(name)
    path: Path = tree.path(name)
    if node.kind != "figure" or recorded is None or not path.is_file() or name in tree.refused:
        return None
    return path.read_bytes() if tree.sha256(name) == recorded else None

"""The provenance of results as the metadata of a Workflow Run RO-Crate.

It conforms to the Provenance Run Crate profile 0.5, thereby to Workflow Run and Process Run Crate
(https://www.researchobject.org/workflow-run-crate/). Everything in it is read from manifests, job
files and the files themselves. What they do not say is left out, so there is no author and no
agent; so are the names of hosts and of who accepted a result.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas import __version__
from grokatlas.export import archive
from grokatlas.export.archive_files import FileToPack
from grokatlas.results import foreign, hashing, revision
from grokatlas.results.result import Result

if TYPE_CHECKING:
    from rocrate.model.entity import Entity

WORKFLOW = "Snakefile"
LICENCE = {"id": "MIT", "name": "MIT License", "url": "https://spdx.org/licenses/MIT"}
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
STEPS = {  # kind of result: its rule, and what the rule does
    "dataset": ("dataset", "Make the training and test data of a task."),
    "run": ("train", "Train one run: history and snapshots."),
    "measure": ("measure", "Compute a quantity from a trained run."),
    "table": ("table", "Join histories and measures of an experiment; compute its light measures."),
    "figure": ("figure", "Draw a figure from tables."),
}
FORMATS = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".safetensors": "application/octet-stream",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}
_TIME = "%Y-%m-%dT%H:%M:%SZ"  # in manifests
_ZONED = "%Y-%m-%dT%H:%M:%S+00:00"  # as the profiles want it


def describe(results: list[Result], members: list[FileToPack], scale: str) -> dict[str, Any]:
    """The metadata of a crate, as JSON-LD: of results, upstream first, and of its other files."""
    description = _Description()
    description.add_workflow()
    for member in members:
        description.add_file(member)
    for result in results:
        description.add_job(result)
    description.add_run(results, scale)
    description.add_root(results, scale)
    content: dict[str, Any] = description.crate.metadata.generate()
    for entity in content["@graph"]:
        for key, value in entity.items():
            if isinstance(value, list) and len(value) == 1:  # what RO-Crate 1.1 recommends
                entity[key] = value[0]
    return content


class _Description:
    """The entities of a crate, added upstream first."""

    def __init__(self) -> None:
        from rocrate.rocrate import ROCrate

        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_terms.update(TERMS)
        self.root = self.crate.root_dataset
        self.entities: dict[str, Entity] = {}
        self.examples: set[tuple[str, str]] = set()

    def add(self, id_: str, type_: str, name: str, **facts: Any) -> "Entity":
        """A contextual entity; the one of this id, where there is one."""
        from rocrate.model.contextentity import ContextEntity

        if id_ not in self.entities:
            properties = {"@type": type_, "name": name, **facts}
            self.entities[id_] = self.crate.add(ContextEntity(self.crate, id_, properties))
        return self.entities[id_]

    def add_root(self, results: list[Result], scale: str) -> None:
        """Add the crate itself, its profiles and licence."""
        self.crate.name = f"Grokking Atlas, scale {scale}"
        self.crate.description = (
            f"Figures and tables of the Grokking Atlas at scale {scale}, and the runs, measures "
            "and data behind them, each file with the job that made it. It is dated by the last "
            "of these jobs."
        )
        span = _span(results)
        if span:
            self.root["datePublished"] = span["endTime"][:10]
        self.crate.license = self.add(
            LICENCE["url"], "CreativeWork", LICENCE["name"], identifier=LICENCE["id"]
        )
        for url, name in PROFILES.items():
            profile = self.add(url, "CreativeWork", name, version=url.rpartition("/")[2])
            self.root.append_to("conformsTo", profile)

    def add_workflow(self) -> None:
        """The workflow and its steps."""
        types = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
        text = (
            "Workflow and configuration are those of the checkout in which this crate was "
            "written. The version of a file's tool names the commit whose code made the file."
        )
        version = _revision(__version__, revision.facts()["git"])
        facts = {"@type": types, "name": "Grokking Atlas", "description": text, "version": version}
        self.workflow = self.crate.add_workflow(
            WORKFLOW, WORKFLOW, main=True, lang="snakemake", properties=facts
        )
        self.entities[WORKFLOW] = self.workflow
        for position, (rule, text) in enumerate(STEPS.values()):
            id_ = f"{WORKFLOW}#{rule}"
            step = self.add(id_, "HowToStep", rule, description=text, position=str(position))
            self.workflow.append_to("step", step)

    def add_file(self, member: FileToPack) -> None:
        """A file of the crate."""
        if member.name != WORKFLOW:
            added = self.crate.add_file(member.source, member.name)
            self.entities[member.name] = added
            added["name"] = member.name
        file = self.entities[member.name]
        file["sha256"] = member.sha256
        file["contentSize"] = str(member.size)
        file["encodingFormat"] = FORMATS.get(Path(member.name).suffix, "text/plain")

    def add_job(self, result: Result) -> None:
        """The action of one job, the tool that it used, and the step that it is a run of."""
        rule, text = STEPS[result.kind]
        name = result.target.partition("/")[2]
        tool = self.tool(result)
        job_file, _ = result.records
        inputs = [job_file, *result.sound["inputs"]]
        source = self.source(result)
        said = " ".join([text, *foreign.origin(result.sound)])
        create = self.add(
            f"#job/{name}",
            "CreateAction",
            f"{rule} {name}",
            description=f"{said} {_machine(result.sound)}".strip(),
            instrument=tool,
            object=[*(self.entities[file] for file in inputs), *source],
            result=[self.entities[file] for file in result.outputs],
            actionStatus="http://schema.org/CompletedActionStatus",
            **_times(result),
        )
        step = self.entities[f"{WORKFLOW}#{rule}"]
        title = f"orchestrate {rule} {name}"
        self.add(f"#control/{name}", "ControlAction", title, instrument=step, object=create)
        self.root.append_to("mentions", create)
        for file in inputs:
            self.exemplify(tool, "input", "job" if file == job_file else "files", file)
        for file in result.outputs:
            self.exemplify(tool, "output", file[len(result.target) + 1 :], file)

    def add_run(self, results: list[Result], scale: str) -> None:
        """The run of the workflow as a whole, and of the engine."""
        text = (
            "All jobs together, from the start of the first to the end of the last. Their "
            "manifests do not say how many calls of Snakemake made them."
        )
        plotted = [r for r in results if r.kind in archive.PLOTTED]
        outputs = [(result.kind, file) for result in plotted for file in result.outputs]
        chosen = self.add("#scale", "PropertyValue", "scale", value=scale)
        run = self.add(
            "#workflow",
            "CreateAction",
            f"Grokking Atlas at scale {scale}",
            description=text,
            instrument=self.workflow,
            object=[chosen],
            result=[self.entities[file] for _, file in outputs],
            **_span(results),
        )
        self.root.append_to("mentions", run)
        self.exemplify(self.workflow, "input", "scale", "#scale", "Text")
        for kind, file in outputs:
            self.exemplify(self.workflow, "output", f"{kind}s", file)
        versions = sorted({_versions(result).get("snakemake", "") for result in results} - {""})
        if versions:
            controls = [self.entities[f"#control/{r.target.partition('/')[2]}"] for r in results]
            engine = self.add(
                "#engine",
                "OrganizeAction",
                "Snakemake",
                instrument=[self.software("snakemake", version) for version in versions],
                object=controls,
                result=run,
                **_span(results),
            )
            self.root.append_to("mentions", engine)

    def source(self, result: Result) -> list["Entity"]:
        """The work of others that a run was imported from; none of any other result."""
        block = result.sound["spec"].get(foreign.IMPORT)
        if block is None:
            return []
        keys = {"version": "commit", "license": "licence"}
        facts = {key: block[own] for key, own in keys.items() if own in block}
        id_ = block["source"] if "://" in block["source"] else f"#source/{hashing.of(block)[:8]}"
        text = "imported: the engine did not train it"
        return [self.add(id_, "CreativeWork", block["source"], description=text, **facts)]

    def tool(self, result: Result) -> "Entity":
        """The software of a job: its command, at the version and commit of its manifest."""
        rule, text = STEPS[result.kind]
        versions, git = _versions(result), result.sound.get("git")
        id_ = f"#tool/{rule}-{hashing.of([versions, git])[:8]}"
        if id_ in self.entities:
            return self.entities[id_]
        version = _revision(versions.get("grokatlas", ""), git)
        facts: dict[str, Any] = {"softwareVersion": version} if version else {}
        needed = [self.software(n, v) for n, v in sorted(versions.items()) if n != "grokatlas"]
        if needed:
            facts["softwareRequirements"] = needed
        name = f"grokatlas {rule}"
        tool = self.add(id_, "SoftwareApplication", name, description=text, **facts)
        self.workflow.append_to("hasPart", tool)
        self.entities[f"{WORKFLOW}#{rule}"].append_to("workExample", tool)
        return tool

    def software(self, name: str, version: str) -> "Entity":
        """A package that a tool needs."""
        id_ = f"#software/{name}-{version}"
        return self.add(id_, "SoftwareApplication", name, softwareVersion=version)

    def exemplify(
        self, owner: "Entity", side: str, name: str, value: str, type_: str = "File"
    ) -> None:
        """Name a file or value as an example of an input or output of a tool or the workflow."""
        id_ = f"{owner.id}{'#' if owner.id == WORKFLOW else '/'}{side}-{name}"
        if id_ not in self.entities:
            slot = self.add(id_, "FormalParameter", name, additionalType=type_)
            owner.append_to(side, slot)
        if (id_, value) not in self.examples:
            self.examples.add((id_, value))
            self.entities[id_].append_to("workExample", self.entities[value])
            self.entities[value].append_to("exampleOfWork", self.entities[id_])


def _revision(version: str, git: dict[str, Any] | None) -> str:
    """A version with the commit, and whether files were changed since, as far as known."""
    commit = f"+{git['commit']}{'.dirty' if git['dirty'] else ''}" if git else ""
    return f"{version}{commit}"


def _versions(result: Result) -> dict[str, str]:
    return result.sound.get("versions") or {}


def _times(result: Result) -> dict[str, str]:
    """Start and end of a job, if its manifest has them."""
    try:
        start = datetime.strptime(result.sound["started"], _TIME)
        end = start + timedelta(seconds=result.sound["wall_seconds"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return {}
    return {name: time.strftime(_ZONED) for name, time in (("startTime", start), ("endTime", end))}


def _span(results: list[Result]) -> dict[str, str]:
    """From the first job's start to the last one's end, as far as manifests have them."""
    times = [time for time in map(_times, results) if time]
    if not times:
        return {}
    return {
        "startTime": min(time["startTime"] for time in times),
        "endTime": max(time["endTime"] for time in times),
    }


def _machine(facts: dict[str, Any]) -> str:
    """Processor and accelerator, without the host's name."""
    host, device = facts.get("host") or {}, facts.get("device") or {}
    parts = [str(host["cpu"])] if host.get("cpu") else []
    parts += [f"{host['cores']} cores"] if host.get("cores") else []
    parts += [str(device["name"])] if device.get("name") else []
    return f"Machine: {', '.join(parts)}." if parts else ""

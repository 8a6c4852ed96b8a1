"""Recorded rows of figures and claims, as the pages of papers look them up."""

from pathlib import Path

from grokatlas.claims.verdicts import NOT_RUN, tally
from grokatlas.declare import claim_models, models, versions
from grokatlas.publish import recorded
from grokatlas.results import csv_file


class RecordedRows:
    """The recorded rows of figures and claims, by paper and name.

    `papers` are the declared ones, to count a judgement once that two of them share.
    """

    def __init__(self, folder: Path, papers: dict[str, models.Paper]) -> None:
        self._papers = papers
        rows = csv_file.read(folder / recorded.FIGURES, "paper", "figure")
        self.figures = {(row["paper"], row["figure"]): row for row in rows}
        rows = csv_file.read(folder / recorded.CLAIMS, "paper", "id", "verdict")
        self.claims = {(row["paper"], row["id"]): row for row in rows}
        self._under: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
        names = ("paper", "id", "interpretation")
        for row in csv_file.read(folder / recorded.INTERPRETATIONS, *names):
            self._under.setdefault((row["paper"], row["id"]), {})[row["interpretation"]] = row

    def verdict(self, paper: str, claim: claim_models.Claim) -> str:
        """The recorded verdict of a claim."""
        return str(self.judged(paper, claim).get("verdict", NOT_RUN))

    def judged(self, paper: str, claim: claim_models.Claim) -> dict[str, str]:
        """The recorded row of a claim; empty if there is none or the interval changed since.

        Of a claim that another paper counts it is the row of that one.
        """
        same = self.same_as(paper, claim)
        owner, _, name = same.partition("/") if same else (paper, "", claim.id)
        row = self.claims.get((owner, name), {})
        return row if _is_of(row, claim) else {}

    def under(self, paper: str, claim: claim_models.Claim) -> dict[str, dict[str, str]]:
        """The recorded rows of a claim, by interpretation, where the scale is the drawn one's."""
        scale = self.judged(paper, claim).get("scale")
        rows = self._under.get((paper, claim.id), {}) if scale else {}
        return {
            key: row for key, row in rows.items() if row["scale"] == scale and _is_of(row, claim)
        }

    def same_as(self, paper: str, claim: claim_models.Claim) -> str:
        """The claim of another paper that has the same judgement: ``paper/id``, or nothing."""
        return versions.same_claim(self._papers, paper, claim)

    def verdicts(
        self, paper: str, claims: list[claim_models.Claim], usual: str | None = None
    ) -> str:
        """The number of claims with each verdict, as text; those that another paper counts apart.

        With a `usual` scale, claims that were judged at another one are counted apart as well.
        """
        by_scale: dict[str, list[str]] = {usual or "": []}
        afterwards: dict[str, list[str]] = {}
        others: dict[str, int] = {}
        for claim in claims:
            if same := self.same_as(paper, claim):
                other = same.partition("/")[0]
                others[other] = others.get(other, 0) + 1
                continue
            scale = (self.judged(paper, claim).get("scale") or usual) if usual else ""
            for given in [by_scale, afterwards] if claim.afterwards else [by_scale]:
                given.setdefault(scale or "", []).append(self.verdict(paper, claim))
        tallies = {
            scale: tally(verdicts, afterwards.get(scale, ()))
            for scale, verdicts in by_scale.items()
        }
        parts = [tallies.pop(usual or "")]
        parts += [f"at {scale} scale {counts}" for scale, counts in tallies.items()]
        parts += [f"{count} counted with `{other}`" for other, count in others.items()]
        return "; ".join(filter(None, parts))


def _is_of(row: dict[str, str], claim: claim_models.Claim) -> bool:
    """True if a recorded row was judged by a claim's interval as it is now."""
    limits = [row.get("expected_low", ""), row.get("expected_high", "")]
    return [float(each) if each else None for each in limits] == claim.expected

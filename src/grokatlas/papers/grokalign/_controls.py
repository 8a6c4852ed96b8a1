"""Controls of claims: tables changed into what a statement excludes, so that it has to fail."""

import pandas as pd

from grokatlas.claims.relabelled import Tables, changed, double

ALONE = ("baseline", "weight_decay")
ENDINGS = (*ALONE, "grokalign", "adversarial")  # what cases end with


def without_grokalign(tables: Tables) -> Tables:
    """The runs with weight decay alone in the place of those with GrokAlign as well."""
    changed_tables = {}
    for name, table in tables.items():
        alone = table[table["case"].str.endswith(ALONE)]
        case = alone["case"].str.replace(f"({'|'.join(ALONE)})$", "grokalign", regex=True)
        rest = table[~table["case"].str.endswith("grokalign")]
        changed_tables[name] = pd.concat([rest, alone.assign(case=case)], ignore_index=True)
    return changed_tables


def methods_turned(tables: Tables) -> Tables:
    """Each method's runs under the name of the next one."""
    changed_tables = {}
    for name, table in tables.items():
        known = [each for each in ENDINGS if table["case"].str.endswith(each).any()]
        case = table["case"]
        for each, following in zip(known, [*known[1:], *known[:1]], strict=True):
            own = table["case"].str.endswith(each)
            case = case.mask(own, table["case"].str.removesuffix(each) + following)
        changed_tables[name] = table.assign(case=case)
    return changed_tables


def steps_doubled(tables: Tables) -> Tables:
    """The runs as if every update took two, as about half the step size would have it."""
    return changed(tables, ["step"], double)


def learning_rate_doubled(tables: Tables) -> Tables:
    """The runs as if they had been made with half the step size that they are taken to have."""
    return changed(tables, ["optimizer.lr"], double)

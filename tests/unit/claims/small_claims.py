"""Functions of claims on one table, ``two``, for tests."""

from grokatlas.claims import statistics


def last_value(tables, case):
    return statistics.last(statistics.history(tables["two"], case=case), "size")


def last_of_drawn(tables):
    return last_value(tables, "drawn")


def needs_a_third(tables):
    if not last_value(tables, "third"):
        raise KeyError("third")
    return last_of_drawn(tables)


def ratio(tables):
    return ratio_over(tables, "other")


def ratio_over(tables, over):
    pairs = zip(last_value(tables, "drawn"), last_value(tables, over), strict=True)
    return [drawn / other for drawn, other in pairs]


def at_time(tables, time):
    return [{"t1": 10.0}[time] for _ in last_of_drawn(tables)]


def halved(tables):
    return {name: table.assign(size=table["size"] / 2) for name, table in tables.items()}


def broken(tables):
    return {"two": tables["three"]}

"""W.Table2.each is refuted. It says (W 6.2 on Table 2, of each):

    14 slots have the highest CPU and memory utilisation.

Assumed: what is printed. Shown about the numbers below; no mechanism is asked.
"""

from fractions import Fraction as F


def exact(value):
    """Lists of integers and of fractions written as text, in rationals."""
    return [exact(part) for part in value] if isinstance(value, list) else value if value is None else F(value)


table = exact([[10, "351/10", "117/5"], [12, "211/5", "137/5"], [14, "439/10", 28], [16, "227/5", "121/5"],
               [20, "203/5", 20]])


def slots_of_table_2(table):
    """Table 2 as printed: slots on the maximum server, utilisation of CPU and of memory in percent."""
    cpu = {slots: used for slots, used, _ in table}
    slots = max(cpu, key=lambda key: cpu[key])
    assert slots != 14
    assert cpu[slots] > cpu[F(14)]
    return {"slots": slots, "cpu": cpu[slots], "at_14": cpu[F(14)]}


found = slots_of_table_2(table)
print(
    "W.Table2.each: the printed utilisation of CPU is {cpu} % at {slots} slots, and {at_14} %"
    " at 14".format(**found)
)

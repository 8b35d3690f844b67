"""The name that was meant; imported for an error's sentence alone."""


def distance(a, b):
    """Letters to insert, delete, change or swap with their neighbour to make b of a."""
    before = last = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def near(name, names):
    """The one of the names that `name` is a slip of, or None."""
    name = str(name).lower()
    ranked = sorted([(distance(name, other.lower()), other) for other in names])
    if ranked and ranked[0][0] <= max(1, len(name) // 3):
        return ranked[0][1]
    return None


def meant(name, names):
    """'did you mean "..."?' with the name that is near, else all of them."""
    best = near(name, names)
    if best:
        return 'did you mean "%s"?' % best
    return "there are " + ", ".join(sorted(names))

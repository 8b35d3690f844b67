"""What became of the stages of a run, in sentences; loaded when they are asked for."""


def lines(program, outcomes):
    """One line for every stage that is finished, then one for whatever was left out."""
    told = [_line(program, spec, one) for spec, one in zip(program["stages"], outcomes)]
    return told + program["notes"]


def _line(program, spec, outcome):
    kept, before, after, total = outcome
    word = "%s %s" % (spec["kind"], "kept" if kept else "rolled back")
    if not total and (before or after or not kept):
        return "%s: information %.2f -> %.2f nats, without labels" % (
            word,
            before / 256,
            after / 256,
        )
    if not total:
        return "%s done, without a guard or without labels to check it" % spec["kind"]
    return "%s: %s" % (word, _measured(program, spec, before, after, total))


def _measured(program, spec, before, after, total):
    """Which samples an accuracy was measured on: held out, or those that were trained on."""
    change = "%.1f %% -> %.1f %%" % (100 * before / total, 100 * after / total)
    held = spec["guard"] == "held"
    if program.get("live") or held and program["train"] < program["samples"]:
        return "held out %d samples: %s" % (total, change)
    cure = ' (recipe["holdout"] = 20 measures on others)' if held else ""
    return "on its own %d training samples: %s%s" % (total, change, cure)

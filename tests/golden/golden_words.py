"""The one place that knows what settings are called today: cases have words, `resolved` gives
the recipe and the options that microzo takes. Renaming a setting changes this file alone."""

import microzo

# word of the cases: (setting of a stage, its value)
_SETTINGS = {
    "each": ("samples", int),  # a probe's, or a step's
    "antithetic": ("antithetic", int),
    "rows": ("factors", str),
}


def setting(word, value):
    """(name, value) of a setting of a stage."""
    name, convert = _SETTINGS.get(word, (word, lambda same: same))
    return name, convert(value)


def stage(recipe, index, changes, short):
    """A stage of a named recipe with changes; `short` holds those of every case, by kind."""
    made = microzo.recipe(recipe)["stages"][index]
    for words in (short, changes):
        for word, value in words.items():
            name, value = setting(word, value)
            if words is changes or name in made:
                made[name] = value
    return made


def resolved(case, short):
    """What runner.py takes: the case with a whole recipe and Trainer's options."""
    recipe = microzo.recipe(case["recipe"])
    recipe.update(case["of_recipe"])
    last = len(recipe["stages"]) - 1
    stages = case["stages"]
    if stages is None:
        stages = [
            (case["recipe"], i, case["changes"] if i == last else {}) for i in range(last + 1)
        ]
    recipe["stages"] = [stage(*parts, short) for parts in stages]
    options = case["options"]
    run = {key: case[key] for key in ("name", "model", "labels", "repeat", "steps")}
    run.update({key: case[key] for key in ("live", "find_step", "cut")})
    return dict(run, recipe=recipe, options=options)

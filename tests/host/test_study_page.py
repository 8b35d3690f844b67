"""The study's page says what its rows say."""

from microzo_host.study import page


def row(recipe, corruption, seed, accuracy, bp):
    return {
        "dataset": "mnist", "network": "demo", "corruption": corruption, "n": 8, "seed": seed,
        "recipe": recipe, "forwards": 100, "macs": 10**9, "ram_bytes": 5000,
        "zero_shot": 50.0, "accuracy": accuracy, "bp": bp,
    }  # fmt: skip


def test_means_spread_and_distance():
    rows = [
        row("spsa", "fog", 0, 70.0, 80.0),
        row("spsa", "fog", 1, 72.0, 80.0),
        row("spsa", "rotate_fixed", 0, 60.0, 75.0),
        row("spsa", "rotate_fixed", 1, 60.0, 75.0),
    ]
    made = page.text(rows, 100)
    assert "| spsa | 100 | 1.00 | 5000 | 71.0 (1.4) | 60.0 (0.0) | 65.5 (0.7) | 12.0 |" in made
    assert "| zero-shot |  |  |  | 50.0 (0.0) |" in made
    assert "| spsa | 71.0 | 60.0 |" in made


def test_without_back_propagation():
    assert "| 71.0 | - |" in page.text([row("spsa", "fog", 0, 71.0, None)], 100)

"""The reference's tables of settings, rules and recipes are those of the declarations."""

import importlib.util
import pathlib

import pytest

from microzo.recipes.names import RECIPES
from microzo.zo.rules import RULES
from microzo_host.report import settings

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location(
    "tool_settings_page", ROOT / "boards/tools/settings_page.py"
)
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)


def test_the_pages_are_up_to_date():
    assert tool.stale() == [], "run make generated"


def test_a_page_that_was_altered_is_stale():
    path, text = next(iter(tool.pages().items()))
    assert (
        settings.replaced(text.replace("| `alpha` | 256", "| `alpha` | 255"), "settings") == text
    )
    with pytest.raises(ValueError, match="no place for rules"):
        settings.replaced("a page", "rules")


@pytest.mark.parametrize("kind", settings.kinds())
def test_every_setting_is_documented(kind):
    rows = settings.settings(kind)
    assert {s.name for s in rows} == set(settings.rows(kind))
    assert all(s.text and settings.about(kind) for s in rows)


def test_equal_rows_of_two_methods_keep_their_own_text():
    texts = [next(s.text for s in settings.settings(k) if s.name == "alpha")
             for k in ("realign", "refilter")]  # fmt: skip
    assert texts[0] != texts[1]


def test_every_rule_has_its_formula():
    page = settings.rules_page()
    assert page.count("c_p  =") == len(RULES)
    assert page.count("```") == 2 * len(RULES)


def test_every_recipe_and_its_methods_are_listed():
    page = settings.recipes_page()
    assert all(f"| `{name}` |" in page for name in RECIPES)
    assert {kind for stages in RECIPES.values() for kind, _ in stages} <= set(settings.kinds())

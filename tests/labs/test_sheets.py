"""The sheets, their answers and the teacher's pages belong together; the answers are today's."""

import re

import lab_pages
import pytest

from microzo_host.labs import sheets

SHEETS = sheets.sheets()
NUMBER = re.compile(r"\d+\.\d+")


def of(page, kind):
    return page.with_name(f"{page.stem[0]}-{kind}.md").read_text()


def questions(text):
    return [int(number) for number in re.findall(r"\bQ(\d+)(?=[.,*])", text)]


def ids(page):
    return page.stem


every = pytest.mark.parametrize("page", SHEETS, ids=ids)


def test_there_are_six():
    assert [page.name[0] for page in SHEETS] == list("123456")


@every
def test_a_sheet_has_a_goal_a_time_and_questions_in_order(page):
    text = page.read_text()
    assert "**Goal.**" in text and "**Time.** 40 minutes." in text and "glossary.md" in text
    numbers = re.findall(r"^\*\*Q(\d+)\.\*\*", text, re.M)
    assert len(numbers) >= 9 and [int(n) for n in numbers] == list(range(1, len(numbers) + 1))
    minutes = [int(n) for n in re.findall(r"^## .*\((\d+) minutes\)$", text, re.M)]
    assert sum(minutes) == 40


@every
def test_every_question_has_its_answer(page):
    asked = re.findall(r"^\*\*Q(\d+)\.\*\*", page.read_text(), re.M)
    heads = re.findall(r"^\*\*(Q[\dQ, ]+)\.\*\*", of(page, "solution"), re.M)
    assert [n for head in heads for n in re.findall(r"\d+", head)] == asked


@every
def test_a_teachers_page_has_a_plan_of_40_minutes_and_what_goes_wrong(page):
    text = of(page, "teacher")
    plan = [tuple(map(int, row)) for row in re.findall(r"^\| (\d+)-(\d+) \|", text, re.M)]
    assert plan[0][0] == 0 and plan[-1][1] == 40
    assert all(a[1] == b[0] for a, b in zip(plan, plan[1:]))
    assert "**What goes wrong**" in text and "**Expected figures**" in text


@every
def test_figures_of_the_answers_are_printed_by_the_code(page):
    """Numbers with a point, in what people wrote; some are of another lab."""
    prose = lab_pages.PART.sub("", of(page, "solution") + of(page, "teacher"))
    printed = "".join(lab_pages.PART.search(of(other, "solution"))[0] for other in SHEETS)
    assert printed.count("```text") > 20
    rounded = {f"{float(number):.1f}" for number in NUMBER.findall(printed)}
    allowed = set(NUMBER.findall(printed)) | rounded
    assert {n for n in NUMBER.findall(prose) if n not in allowed} == set()


def test_the_glossary_is_in_order():
    words = re.findall(r"^\| ([^|]+?) \|", (sheets.folder() / "glossary.md").read_text(), re.M)
    words = [word for word in words if word != "word" and not word.startswith("-")]
    assert len(words) > 50 and words == sorted(words, key=str.lower)


@pytest.mark.parametrize("page", lab_pages.stable(), ids=ids)
def test_the_answers_show_what_the_code_prints_today(page, labs):
    texts = lab_pages.pages(labs, [page])
    path = lab_pages.solution(page)
    assert texts[path] == path.read_text(), "run make lab-pages"


def test_the_lab_of_own_data_learns(labs):
    """Its network is trained here with float numbers: not the same everywhere."""
    page = SHEETS[5]
    assert page not in lab_pages.stable() and len(lab_pages.stable()) == 5
    printed = "\n".join(lab_pages.on_cpython(page, labs))
    figures = {
        name: float(re.search(rf"^{name}: +([\d.]+) %", printed, re.M)[1])
        for name in ("straight", "turned", "after")
    }
    assert figures["straight"] > 95 and figures["turned"] < 80
    assert figures["after"] > figures["turned"] + 8
    assert "fits: " in printed

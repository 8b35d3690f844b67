"""What a board prints becomes curves: the lines of train.py, and anything else it may send."""

import json

import pytest
import small

import microzo
from microzo.train.progress import Step
from microzo_host.report import live as lives


def fed(*lines):
    live = lives.Live()
    live.feed("".join(line + "\r\n" for line in lines).encode())
    return live


@pytest.mark.parametrize(
    ("loss", "count", "correct", "warning"),
    [(4096 * 3, 4, 3, ""), (4096, 8, -1, "the loss is flat"), (0, 0, -1, ""), (1, 1, 0, "")],
)
def test_the_text_of_a_step_is_read_back(loss, count, correct, warning):
    step = Step("qzo-ff", 12, 200, loss, count, correct, 400, warning)
    found = lives.STEP.match(repr(step))
    assert (found["step"], found["steps"], found["stage"]) == ("12", "200", "qzo-ff")
    assert found["loss"] == (None if step.loss is None else f"{step.loss:.2f}")
    assert found["accuracy"] == (None if step.accuracy is None else f"{100 * step.accuracy:.1f}")
    assert found["eta"] == str(400 * 188 // 1000)


def test_a_run_of_a_trainer(model, data):
    trainer = microzo.Trainer(model, small.short("default"))
    live = lives.Live()
    steps = []
    for step in trainer.run(data):
        steps.append(step)
        live.feed(f"{step}\r\n".encode())
    for line in trainer.outcomes():
        live.feed(f"{line}\r\n".encode())
    curves = live.curves()
    (series,) = curves["series"]
    assert series["loss"] == [
        [i, round(s.loss, 2)] for i, s in enumerate(steps, 1) if s.loss is not None
    ]
    kinds = [spec["kind"] for spec in trainer.program["stages"]]
    assert [stage["kind"] for stage in curves["stages"]] == kinds
    assert [stage["end"] for stage in curves["stages"]][-1] == len(steps)
    kept = [" kept: " in line for line in trainer.outcomes()]
    assert [stage["kept"] for stage in curves["stages"]] == kept[: len(kinds)]


def test_steps_that_are_left_out_do_not_move_the_others():
    live = fed(
        "step 3/9 0.1 s/step eta 0 s (realign)",
        "step 50/100 loss 0.50 acc 80.0 % 0.1 s/step eta 5 s (tail)",
        "step 100/100 loss 0.25 0.1 s/step eta 0 s (tail)",
        "step 5/100 loss 0.30 0.1 s/step eta 0 s (tail)",  # the same kind again
    )
    curves = live.curves()
    assert curves["series"][0]["loss"] == [[59, 0.5], [109, 0.25], [114, 0.3]]
    assert curves["series"][0]["accuracy"] == [[59, 80.0]]
    assert [(s["begin"], s["end"]) for s in curves["stages"]] == [(1, 3), (10, 109), (110, 114)]


def test_lines_may_come_in_pieces():
    live = lives.Live()
    text = b"step 1/2 loss 1.25 0.1 s/step eta 5 s (spsa)\r\n"
    for i in range(len(text)):
        assert live.curves()["series"] == []
        live.feed(text[i : i + 1])
    assert live.curves()["series"][0]["loss"] == [[1, 1.25]]


def test_the_result_ends_it():
    live = fed('RESULT {"before": 63.2, "after": 87.4}')
    assert live.ended and live.state()["progress"].endswith(
        "63.2 % -> 87.4 % of the test samples are right"
    )
    assert fed('RESULT {"before": null, "after": null}').state()["progress"] == "the run has ended"
    for wrong in ("RESULT [", "RESULT 3", "RESULT {}", "RESULT " + "[" * 100_000):
        assert not fed(wrong).ended


def test_nothing_that_a_board_sends_does_harm():
    live = fed(
        "\x1b[2Jcleared", "\x1b]0;title\x07", "step 9/3 (spsa)", "step 0/0 (spsa)",
        "step 1/99999999999 loss 1 (spsa)", "step 1/2 loss 1.2.3 (spsa)", "x" * 5000, "\xff\xfe",
    )  # fmt: skip
    state = live.state()
    json.dumps(state)
    assert state["curves"] == {"series": [], "stages": []}
    assert not any(c in "".join(state["lines"]) for c in "\x1b\x07")
    assert max(map(len, state["lines"])) <= lives.LONGEST and len(state["lines"]) <= lives.LINES
    live.feed(b"y" * 1_000_000)
    assert live.state()["lines"] == state["lines"]


def test_a_long_run_stays_small():
    n = 3 * lives.POINTS
    live = fed(*(f"step {i}/{n} loss 1.00 0.1 s/step eta 0 s (spsa)" for i in range(1, n + 1)))
    loss = live.curves()["series"][0]["loss"]
    assert lives.POINTS / 2 < len(loss) <= lives.POINTS
    assert loss[-1] == [n, 1.0] and loss[0][0] < n / 10


def test_who_waits_is_told():
    live = lives.Live()
    assert live.wait(-1, 0) == 0 and live.wait(0, 0) == 0
    live.feed(b"hello\n")
    assert live.wait(0, 0) == 1
    live.end("over")
    assert live.wait(1, 0) == 2 and live.state()["progress"] == "over" and live.ended

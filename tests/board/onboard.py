"""What the tests of all emulated boards ask a board."""


def evaluate(board, expression, setup=""):
    """The value of a Python expression on the board, after `setup`."""
    return eval(board.exec(f"{setup}\nprint(repr({expression}))"))


def check_that_instruction_counts_repeat(new_board):
    """Two boards that new_board() starts under -icount count the same instructions of a loop."""
    code = """
import time
def count():
    t = time.ticks_cpu()
    for i in range(1000): pass
    return time.ticks_diff(time.ticks_cpu(), t)
"""
    counts = []
    for _ in range(2):
        board = new_board()
        counts.append(evaluate(board, "(count(), count())[1]", code))
        board.close()
    assert abs(counts[0] - counts[1]) <= 2
    assert 5_000 < counts[0] / board.core.ticks_per_instruction < 400_000


def check_that_no_input_is_lost(board):
    """Sends all bytes, also Ctrl-C's, before the board reads one."""
    transport = board.transport()
    data = bytes(range(256)) * 16
    transport.exec_raw_no_follow(
        f"import micropython, sys, time\nmicropython.kbd_intr(-1)\nb = bytearray({len(data)})\n"
        "print('go')\ntime.sleep_ms(200)\nsys.stdin.buffer.readinto(b)\n"
        "print(b == bytes(range(256)) * 16)"
    )
    assert transport.read_until(1, b"go\r\n").endswith(b"go\r\n")
    transport.serial.write(data)
    assert transport.follow(10) == (b"True\r\n", b"")

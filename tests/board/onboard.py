"""What the tests of all emulated boards ask a board."""


def evaluate(board, expression, setup=""):
    """The value of a Python expression on the board, after `setup`."""
    return eval(board.exec(f"{setup}\nprint(repr({expression}))"))


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

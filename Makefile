# The real work is in small scripts under boards/tools/; every step is cached (boards/tools/step.py).
MPY_VERSION ?= 1.25.0
DATA ?= mnist
ALL_ARCHS = x64 armv6m armv7m armv7emsp armv7emdp rv32imc xtensawin
# All of them for all boards, whichever target of the command line builds them.
ARCHS ?= $(if $(filter firmware-all test-full dist,$(MAKECMDGOALS)),$(ALL_ARCHS),x64 armv7emsp)
ARCH_PACKAGES = $(if $(filter rv32imc,$(ARCHS)),packages-rv32) $(if $(filter xtensawin,$(ARCHS)),packages-xtensa)
OTHER_BOARDS = MPS2_AN385 MPS2_AN385_M0PLUS MPS2_AN500 MPS2_AN505 VIRT_RV32
CORE ?= m4

# The first Python that is new enough; everything later runs in .venv.
PYTHON := $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
  $(shell $p -c 'import sys; print("$p") if sys.version_info >= (3, 11) else 0' 2>/dev/null | grep python)))
PY := .venv/bin/python
LAB := PYTHONPATH=host_tools $(PY)
# Tests of one file stay together: they share boards and what the oracle says.
PYTEST := OMP_NUM_THREADS=1 $(PY) -m pytest tests -q -n 2 --dist loadfile

export OBJDIR := build/obj-$(if $(MPY_DIR),$(shell echo $(MPY_DIR) | cksum | cut -d' ' -f1),$(MPY_VERSION))
export MPY := $(if $(MPY_DIR),$(abspath $(MPY_DIR)),build/micropython-$(MPY_VERSION))
export EXTRA_C_MODULES := $(abspath $(EXTRA_C_MODULES))
export MICROPYTHON_LIB := $(abspath $(MICROPYTHON_LIB))
export CIRCUITPY_DIR := $(abspath $(CIRCUITPY_DIR))

TEST_EXTRAS = dev,models,cluster,pages,report,tables,notebooks,docs
STEP = $(PYTHON) boards/tools/step.py
KEY = --key "$(MPY) $(EXTRA_C_MODULES)"
SHELL_MODULE = native_modules/microzo
PICO_INPUTS = boards/tools/build_pico.sh boards/tools/build_env.sh boards/tools/uf2.py

.PHONY: help setup packages fashion packages-rv32 packages-xtensa packages-fuzz packages-browser \
  report-packages python source mpy-cross natmod \
  host-lib unix circuitpython firmware firmware-all firmware-pico firmware-pico2 web build demo check test test-full test-packages fuzz-packages \
  accuracy lab lab-packages lab-pages kit study study-quick study-packages bench bench-peers size size-diff dist repl board lint generated docs docs-packages pictures clean

help: ## Lists these targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /|/' | \
	  while IFS='|' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done
	@echo "  Variables: MPY_VERSION=1.25.0|1.26.1, MPY_DIR=folder, EXTRA_C_MODULES=folders, DATA=mnist|fashion"
	@echo "  CORE=m4|m3|m0plus|m7|m33|rv32 (make repl and board, after make firmware-all)"

setup: packages python source mpy-cross ## Installs what is missing, fetches MicroPython

packages: ## [1/7] Debian packages: compilers and QEMU
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: please install it."; exit 1; }
	@$(STEP) 1/7 "system packages" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON)

fashion: packages ## Fashion-MNIST, unless FASHION_DIR has its files
ifeq ($(FASHION_DIR),)
	@$(STEP) 1/7 Fashion-MNIST --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) dataset-fashion-mnist
endif

packages-rv32: packages ## The RISC-V compiler and QEMU, only for `make firmware-all`
	@$(STEP) 1/7 "RISC-V packages" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
	  qemu-system-misc

packages-xtensa: packages ## The Xtensa compiler, for native modules of ESP32
	@$(STEP) 1/7 "Xtensa packages" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) gcc-xtensa-lx106 picolibc-xtensa-lx106-elf binutils-source

packages-browser: packages ## Chromium, which looks at our pages in the tests
	@$(STEP) 1/7 "browser" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) chromium

packages-fuzz: packages ## clang with libFuzzer, only for `make test-full`
	@$(STEP) 1/7 "fuzzing packages" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) clang libclang-rt-dev

python: packages ## [2/7] Python packages, into .venv
	@$(STEP) 2/7 "python packages" --inputs pyproject.toml boards/tools/python_env.sh boards/tools/requirements.lock \
	  --outputs $(PY) -- boards/tools/python_env.sh $(PYTHON) dev

source: packages ## [3/7] MicroPython's source, verified
ifeq ($(MPY_DIR),)
	@$(STEP) 3/7 "MicroPython source $(MPY_VERSION)" --inputs boards/tools/fetch_micropython.py \
	  --outputs $(MPY)/py -- $(PYTHON) boards/tools/fetch_micropython.py $(MPY_VERSION) $(MPY)
else
	@$(PYTHON) boards/tools/check_tree.py $(MPY_DIR)
endif

mpy-cross: python source ## [4/7] MicroPython's cross compiler
	@$(STEP) 4/7 mpy-cross $(KEY) --outputs $(OBJDIR)/mpy-cross/mpy-cross -- \
	  boards/tools/build_mpy_cross.sh

natmod: mpy-cross $(ARCH_PACKAGES) ## [5/7] Native modules, build/natmod/ARCH/_microzo.mpy
	@$(STEP) 5/7 "native modules" $(KEY) --inputs $(SHELL_MODULE) boards/tools -- \
	  boards/tools/build_natmod.sh $(ARCHS)

host-lib: python ## [5/7] The same kernels for CPython, build/host/_native.abi3.so
	@$(STEP) 5/7 "host library" --inputs $(SHELL_MODULE) --outputs build/host/_native.abi3.so -- \
	  $(MAKE) --no-print-directory -C $(SHELL_MODULE) -f host.mk OUT=$(abspath build/host) \
	  PYTHON=$(abspath $(PY))

unix: mpy-cross ## [6/7] MicroPython's unix port, build/unix/
	@$(STEP) 6/7 "unix port" $(KEY) --inputs $(SHELL_MODULE) boards/tools \
	  --outputs build/unix/micropython -- boards/tools/build_unix.sh

firmware: mpy-cross ## [7/7] The emulated board's firmware, build/firmware/
	@$(STEP) 7/7 firmware $(KEY) --inputs boards $(SHELL_MODULE) $(EXTRA_C_MODULES) \
	  --outputs build/firmware/mps2-an386-256K-stock.elf -- boards/tools/build_firmware.sh

firmware-all: firmware packages-rv32 natmod ## Firmware and native modules of all emulated boards
	@SIZES=256K $(STEP) 7/7 "firmware of all boards" $(KEY) --inputs boards $(SHELL_MODULE) \
	  $(EXTRA_C_MODULES) --outputs build/firmware/virt-rv32-256K-usermod.elf -- \
	  boards/tools/build_firmware.sh $(OTHER_BOARDS)

firmware-pico: mpy-cross ## MicroPython's own firmware of Raspberry Pi Pico, from packages, and its emulator
	@$(STEP) 1/7 "Pico packages" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) cmake $(if $(shell command -v npm),,nodejs npm)
	@$(STEP) 2/7 rp2040js --outputs build/node/node_modules/rp2040js -- \
	  npm install --prefix build/node --no-audit --no-fund rp2040js@1.4.1
	@$(STEP) 3/7 "Pico sources" --inputs boards/tools/fetch_pico.py --outputs build/pico-sources/mbedtls -- \
	  $(PYTHON) boards/tools/fetch_pico.py build/pico-sources
ifeq ($(filter armv6m,$(ARCHS)),)
	@$(STEP) 5/7 "Pico native module" $(KEY) --inputs $(SHELL_MODULE) boards/tools/build_natmod.sh \
	  --outputs build/natmod/armv6m/_microzo.mpy -- boards/tools/build_natmod.sh armv6m
endif
	@$(STEP) 7/7 "Pico firmware" $(KEY) --inputs $(PICO_INPUTS) --outputs build/firmware/rpi-pico-stock.uf2 -- \
	  boards/tools/build_pico.sh RPI_PICO

web: python mpy-cross host-lib ## MicroPython with the kernels as a page of its own, build/web/
	@$(STEP) 1/7 "browser packages" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) emscripten
	@$(STEP) 7/7 "WebAssembly port" --key "$(MPY) $(MICROPYTHON_LIB)" --inputs $(SHELL_MODULE) boards/web/variant boards/tools/build_web.sh \
	  boards/tools/build_env.sh --outputs build/wasm/micropython.wasm -- boards/tools/build_web.sh
	@PYTHONPATH=device:host_tools $(STEP) 7/7 "web page" --inputs build/wasm device boards/web docs/labs host_tools/microzo_host \
	  boards/tools/web_page.py boards/tools/markdown_cells.py --outputs build/web/index.html -- \
	  $(PY) boards/tools/web_page.py build/wasm build/web
	@echo "  $(PY) -m http.server -d build/web 8000"

firmware-pico2: firmware-pico packages-rv32 ## Firmware of Pico 2 with the kernels, Arm and RISC-V; a table of sizes
	@KINDS=usermod $(STEP) 7/7 "Pico 2 firmware" $(KEY) --inputs $(PICO_INPUTS) $(SHELL_MODULE) \
	  --outputs build/firmware/rpi-pico2-riscv-usermod.uf2 -- \
	  boards/tools/build_pico.sh RPI_PICO2 RPI_PICO2-RISCV
	@$(PY) boards/tools/pico_size.py $(OBJDIR) --json build/pico-size.json

circuitpython: mpy-cross ## CircuitPython's limits in a unix port; its own port with CIRCUITPY_DIR=<tree>
	@$(STEP) 1/7 "32-bit packages" --inputs boards/tools/packages.sh -- \
	  boards/tools/packages.sh $(PYTHON) gcc-multilib
	@$(STEP) 6/7 "CircuitPython's limits" --key "$(MPY) $(CIRCUITPY_DIR)" \
	  --inputs boards/circuitpython boards/tools/build_circuitpython.sh \
	  --outputs build/unix/micropython-limits -- boards/tools/build_circuitpython.sh

build: setup natmod host-lib unix firmware ## All of the above

demo: build $(filter fashion,$(DATA)) ## Adapts a network on the emulated board (DATA=mnist or fashion)
	@$(LAB) -m microzo_host.cli demo --data $(DATA)

# LiteRT and ONNX, which judge imported models, Dask, what draws, what makes the site and what runs the
# labs.
test-packages: python ## Reference packages of the importers, Dask, plots: for the tests
	@$(STEP) 2/7 "test packages" --inputs pyproject.toml -- \
	  boards/tools/python_env.sh $(PYTHON) $(TEST_EXTRAS)

report-packages: python ## Pictures and pages of `microzo report`, `watch`, `show`; tables for notebooks
	@$(STEP) 2/7 "report packages" --inputs pyproject.toml -- \
	  boards/tools/python_env.sh $(PYTHON) dev,report,tables

fuzz-packages: test-packages ## atheris, only for `make test-full`
	@$(STEP) 2/7 "fuzzing in Python" --inputs pyproject.toml -- \
	  boards/tools/python_env.sh $(PYTHON) $(TEST_EXTRAS),fuzz

check: lint host-lib test-packages ## Lint and the fast tests, about a minute: before a commit
	@MICROZO_FULL= $(PYTEST) -m "not slow and not board and not bench"

# What these two need may be missing: on another release or processor their tests are skipped.
test: build test-packages ## The tests, with reduced fuzzing
	@$(MAKE) --no-print-directory firmware-pico || echo "* no firmware of a Pico: its smoke run is skipped"
	@$(MAKE) --no-print-directory circuitpython || echo "* no 32-bit libraries: CircuitPython's limits are skipped"
	@MICROZO_STRICT=1 MICROZO_FULL= $(PYTEST)

test-full: packages-rv32 packages-fuzz packages-browser build fuzz-packages firmware-all firmware-pico circuitpython web ## The tests, with full fuzzing and everything slow
	@MICROZO_STRICT=1 MICROZO_FULL=1 $(PYTEST) -o timeout=3600

lab-packages: python ## JupyterLab and what the labs need
	@$(STEP) 2/7 "lab packages" --inputs pyproject.toml --show -- \
	  boards/tools/python_env.sh $(PYTHON) dev,lab

lab: lab-packages host-lib ## Opens the six labs in JupyterLab, folder build/labs
	@$(LAB) -m microzo_host.cli lab build/labs

lab-pages: test-packages host-lib ## Writes what the labs' code prints into their answers
	@$(PY) boards/tools/lab_pages.py --write

kit: lab-packages ## The labs for computers without a network: make kit KIT=folder (after make dist)
	@$(LAB) -m microzo_host.cli kit "$(or $(KIT),build/kit)"

study-packages: python ## What accuracy and study need: PyTorch
	@$(STEP) 2/7 "study packages" --inputs pyproject.toml --show -- \
	  boards/tools/python_env.sh $(PYTHON) dev,study

accuracy: study-packages host-lib fashion ## Accuracy against back-propagation, build/accuracy.json
	@$(LAB) -m microzo_lab accuracy

study-quick: study-packages host-lib fashion ## Recipes against back-propagation, ten minutes
	@$(LAB) -m microzo_lab quick

study: study-packages host-lib fashion ## The whole study, hours; goes on where it stopped
	@$(LAB) -m microzo_lab quick --full --page host_tools/microzo_lab/notes/study.md

bench: build test-packages ## Figures of speed and memory
	@$(PY) tests/bench/run.py
	@$(PY) tests/bench/models.py
	@$(PY) tests/bench/host_speed.py

# Checkouts of other libraries, each may be left out; none is fetched.
bench-peers: build packages-rv32 ## The kernels beside CMSIS_NN_DIR, MURISCV_NN_DIR, TINYMAIX_DIR
	@$(PY) tests/bench/peers.py --cmsis-nn "$(CMSIS_NN_DIR)" --muriscv-nn "$(MURISCV_NN_DIR)" \
	  --tinymaix "$(TINYMAIX_DIR)"

size: natmod ## Code size of the native modules (ARCHS="x64 armv7emsp ...")
	@$(PY) boards/tools/natmod_size.py $(SHELL_MODULE) build/natmod $(OBJDIR) --archs $(ARCHS)

size-diff: natmod ## Code size against another revision: make size-diff REV=HEAD~3
	@boards/tools/size_diff.sh "$(REV)" $(ARCHS)

dist: build ## Wheel, sdist, mip folders and CircuitPython's, checked: build/dist/
	@$(STEP) dist packages $(KEY) --inputs device host_tools native_modules pyproject.toml \
	  boards/tools build/natmod build/firmware --outputs build/dist/mip -- $(PY) boards/tools/dist.py
	@$(STEP) dist check --inputs build/dist boards/tools/dist_check.py --show -- \
	  $(PY) boards/tools/dist_check.py

repl: firmware natmod host-lib ## Opens the REPL of a board with microzo and the demo's files (leave with Ctrl-X; FRESH=1)
	@$(LAB) -m microzo_host.cli emulator --core $(CORE) --demo $(if $(FRESH),--fresh) --repl

board: firmware natmod host-lib ## Starts that board, prints its port for mpremote, until Ctrl-C
	@$(LAB) -m microzo_host.cli emulator --core $(CORE) --demo $(if $(FRESH),--fresh)

lint: python ## ruff and codespell
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m codespell_lib

generated: python ## Writes what is made from declarations: plan words, tables of pages, package.json
	@$(PY) boards/tools/words.py --write
	@$(PY) boards/tools/settings_page.py --write
	@$(PY) boards/tools/package_list.py --write

docs-packages: python ## What makes the site
	@$(STEP) 2/7 "site packages" --inputs pyproject.toml -- \
	  boards/tools/python_env.sh $(PYTHON) dev,docs

docs: docs-packages ## The site with the API reference and a search, to read offline: build/site/
	@$(PY) boards/tools/docs_site.py
	@echo "open build/site/index.html"

pictures: report-packages host-lib ## The pictures of README.md, docs/pictures/
	@$(LAB) boards/tools/pictures.py

clean: ## Removes what was built; .venv stays
	rm -rf build

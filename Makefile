# Two commands: `make demo` sets everything up and measures; `make test` sets up and tests.
.PHONY: demo test check docs setup-demo setup-test lock

demo: setup-demo
	@.venv/bin/cvmbench run quick

test: setup-test check
	@.venv/bin/pytest

check:
	@.venv/bin/ruff check
	@.venv/bin/ruff format --check
	@.venv/bin/mypy

docs:
	@.venv/bin/sphinx-build -W -q docs docs/_build/html

setup-demo:
	@tools/setup.sh demo

setup-test:
	@tools/setup.sh test

# Renews the lock; hashes only, so that every machine uses the index it is set up for.
lock:
	.venv/bin/uv pip compile -q --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --python-version 3.11 --universal --upgrade --extra dev pyproject.toml \
	  -o requirements/locked.txt

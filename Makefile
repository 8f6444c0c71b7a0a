# The two commands to know: make demo, make test.
CARGO ?= cargo

.PHONY: help demo test lint bench fuzz asan

help:
	@echo "make demo    build, make data, do the main job, show the result"
	@echo "make test    everything that is tested: format, lints, tests, documentation"
	@echo "make lint    format and lints alone"
	@echo "make bench   speed beside other libraries and the machine's limit (minutes)"
	@echo "make fuzz    each parser against random bytes (SECONDS=60 each)"
	@echo "make asan    the tests of the core under AddressSanitizer"

demo:
	$(CARGO) run --release --quiet --example demo

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --all-targets -- -D warnings

test: lint
	$(CARGO) test
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps

bench:
	$(CARGO) run --release --quiet -p umbel-bench

# The two commands to know: make demo, make test.
CARGO ?= cargo
# Seconds for each fuzz target.
SECONDS ?= 60

.PHONY: help demo test lint bench bench-command bench-stream bench-near fuzz asan hadoop-up hadoop-down test-hadoop test-hadoop-full bench-hadoop

help:
	@echo "make demo           build, make data, do the main job, show the result"
	@echo "make test           everything that is tested: format, lints, tests, documentation"
	@echo "make lint           format and lints alone"
	@echo "make bench          the core beside other libraries and the machine's limit (minutes)"
	@echo "make bench-command  the command beside wc, grep, awk, sort and zcat (minutes)"
	@echo "make bench-stream   umbel stream beside nc and wc: training, and questions meanwhile (a minute)"
	@echo "make bench-near     near structures beside sorted arrays, trees, hash sets and a scan (minutes)"
	@echo "make hadoop-up      a real Hadoop on this machine; eval \"\$$(make -s hadoop-up)\" to use it; make hadoop-down"
	@echo "make test-hadoop-full  and every hash, layout, way, number of mappers and reducers (hours)"
	@echo "make bench-hadoop   umbel's jobs beside a plain Java MapReduce program on such a cluster (half an hour)"
	@echo "make test-hadoop    jobs on such a cluster (part of make test)"
	@echo "make fuzz           each parser against random bytes, SECONDS=60 each (nightly compiler)"
	@echo "make asan           the core's tests under AddressSanitizer (nightly compiler)"

demo:
	@$(CARGO) build --release --quiet -p umbel-cli
	@demo/run

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --all-targets -- -D warnings

test: lint
	$(CARGO) test
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps
	$(MAKE) test-hadoop

bench:
	$(CARGO) run --release --quiet -p umbel-bench

bench-command:
	$(CARGO) build --release --quiet -p umbel-cli
	bench/command

# The OpenBSD nc knows when its input has ended (-N).
bench-stream:
	nc -h 2>&1 | grep -q OpenBSD || { apt-get -q update && apt-get -qy install netcat-openbsd; }
	$(CARGO) build --release --quiet -p umbel-cli
	bench/stream

bench-near:
	$(CARGO) run --release --quiet -p umbel-bench -- --near

# The saved corpus stays as it is: what is found goes below fuzz/target.
fuzz:
	command -v cargo-fuzz >/dev/null || $(CARGO) install cargo-fuzz
	cd fuzz && for target in bloom_from_bytes groups_from_bytes distinct_from_bytes counts_from_bytes count_groups_from_bytes near_from_bytes similar_from_bytes; do \
		mkdir -p target/corpus/$$target && \
		$(CARGO) +nightly fuzz run $$target target/corpus/$$target corpus/$$target -- \
			-max_total_time=$(SECONDS) -max_len=4096 || exit 1; \
	done

# Covers the heap; the pages of large filters and mapped files come straight from the system, where the sanitizer does not look.
asan:
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test -p umbel --tests --target x86_64-unknown-linux-gnu

hadoop-up:
	@engines/hadoop/cluster up

hadoop-down:
	@engines/hadoop/cluster down

test-hadoop:
	$(CARGO) build --release --quiet -p umbel-cli
	engines/hadoop/test

test-hadoop-full:
	$(CARGO) build --release --quiet -p umbel-cli
	engines/hadoop/test
	engines/hadoop/test Matrix

bench-hadoop:
	$(CARGO) build --release --quiet -p umbel-cli
	bench/hadoop/run

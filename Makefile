# The two commands to know: make demo, make test.
CARGO ?= cargo
# Seconds for each fuzz target.
SECONDS ?= 60
# How often drivers and workers are killed.
ROUNDS ?= 100
# The Python package's own environment.
VENV ?= .venv

.PHONY: help demo test lint bench bench-command bench-stream bench-near bench-python bench-hadoop fuzz asan
.PHONY: lab test-lab
.PHONY: python test-python test-python-slow java hadoop-up hadoop-down test-hadoop test-hadoop-full
.PHONY: spark-up spark-down bench-spark test-spark test-spark-full

help:
	@echo "make demo           build, make data, do the main job, show the result"
	@echo "make test           everything that is tested: format, lints, tests, documentation"
	@echo "make lint           format and lints alone"
	@echo "make python         the Python package, built and installed into .venv"
	@echo "make test-python    the tests of the Python package alone; make test-python-slow opens and closes a file a million times"
	@echo "make bench          the core beside other libraries and the machine's limit (minutes)"
	@echo "make bench-command  the command beside wc, grep, awk, sort and zcat (minutes)"
	@echo "make bench-stream   umbel stream beside nc and wc: training, and questions meanwhile (a minute)"
	@echo "make bench-near     near structures beside sorted arrays, trees, hash sets and a scan; similar filters beside a scan and HNSW (minutes)"
	@echo "make bench-python   the Python package beside rbloom, and beside the core (a minute)"
	@echo "make lab            published experiments done again, and docs/results/index.html drawn of them (hours; a stopped run goes on);"
	@echo "                    ONLY=a1 does one, AGAIN=1 measures what is finished once more, QUICK=1 is a small version (two minutes)"
	@echo "make test-lab       that small version, and its page opened in Chromium (part of make test)"
	@echo "make hadoop-up      a real Hadoop on this machine; eval \"\$$(make -s hadoop-up)\" to use it; make hadoop-down"
	@echo "make test-hadoop-full  and every hash, layout, way, number of mappers and reducers, on the cluster (an hour)"
	@echo "make bench-hadoop   umbel's jobs beside a plain Java MapReduce program on such a cluster (half an hour)"
	@echo "make test-hadoop    jobs on such a cluster (part of make test)"
	@echo "make spark-up       a real standalone Spark on this machine; eval \"\$$(make -s spark-up)\" to use it; make spark-down"
	@echo "make bench-spark    filters from Spark beside Spark's own, a plain PySpark program and a broadcast join (ten minutes)"
	@echo "make test-spark     jobs on such a cluster (part of make test)"
	@echo "make test-spark-full  drivers and workers killed, ROUNDS=100 times each, jobs on YARN, and files on s3a:// (hours)"
	@echo "make fuzz           each parser against random bytes, SECONDS=60 each (nightly compiler)"
	@echo "make asan           the core's tests under AddressSanitizer (nightly compiler)"

demo:
	@$(CARGO) build --release --quiet -p umbel-cli
	@demo/run

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --all-targets -- -D warnings
	$(CARGO) clippy -p umbel-py -- -D warnings

test: lint
	$(CARGO) test
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps
	$(MAKE) test-python
	$(MAKE) test-spark
	$(MAKE) test-hadoop
	$(MAKE) test-lab

# Tools, and what the tests compare with, in an environment of its own: nothing is installed beside it.
$(VENV)/ready: pyproject.toml
	python3 -c 'import venv, ensurepip' || { apt-get -q update && apt-get -qy install python3-venv; }
	python3 -m venv --clear $(VENV)
	$(VENV)/bin/pip install --quiet maturin pytest hypothesis numpy pyarrow 'pandas<3' polars rbloom 'pyspark==4.3.*'
	touch $@

python: $(VENV)/ready
	rm -rf target/wheels
	$(VENV)/bin/maturin build --quiet --release --out target/wheels
	$(VENV)/bin/pip install --quiet --no-deps --force-reinstall target/wheels/*.whl

test-python: python
	$(VENV)/bin/python -m pytest -q --tb=short python/tests

test-python-slow: python
	UMBEL_LEAK_ROUNDS=1000000 $(VENV)/bin/python -m pytest -q python/tests -k leaks

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

bench-python: python
	$(CARGO) build --release --quiet -p umbel-bench
	$(VENV)/bin/python bench/python target/release/umbel-bench

bench-near:
	$(CARGO) run --release --quiet -p umbel-bench -- --near

# Spark's driver is Python; a quick run has no engines.
lab: $(if $(QUICK),,java python)
	$(CARGO) build --release --quiet -p umbel-cli -p umbel-bench
	$(CARGO) run --release --quiet -p umbel-lab -- $(if $(QUICK),--quick) $(if $(AGAIN),--again) $(ONLY)

LAB_VENV = target/lab-venv

# The browser is the system's; its driver comes with the Python package.
$(LAB_VENV)/ready:
	command -v chromium >/dev/null || { apt-get -q update && apt-get -qy install --no-install-recommends chromium; }
	python3 -c 'import venv, ensurepip' || { apt-get -q update && apt-get -qy install python3-venv; }
	python3 -m venv --clear $(LAB_VENV)
	$(LAB_VENV)/bin/pip install --quiet playwright
	touch $@

test-lab: $(LAB_VENV)/ready
	$(CARGO) test --quiet -p umbel-lab
	$(MAKE) lab QUICK=1 AGAIN=1
	$(LAB_VENV)/bin/python lab/test target/lab-quick/index.html docs/results/index.html

# The saved corpus stays as it is: what is found goes below fuzz/target.
fuzz:
	command -v cargo-fuzz >/dev/null || $(CARGO) install cargo-fuzz
	cd fuzz && for target in bloom_from_bytes groups_from_bytes distinct_from_bytes counts_from_bytes count_groups_from_bytes near_from_bytes similar_from_bytes partial_from_bytes sequence_records; do \
		mkdir -p target/corpus/$$target && \
		$(CARGO) +nightly fuzz run $$target target/corpus/$$target corpus/$$target -- \
			-max_total_time=$(SECONDS) -max_len=4096 || exit 1; \
	done

# Covers the heap. The sanitizer looks neither into assembly (single keys) nor at what comes straight from the system: pages of large filters, mapped files.
asan:
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test -p umbel --tests --target x86_64-unknown-linux-gnu

hadoop-up: java
	@engines/hadoop/cluster up

hadoop-down:
	@engines/hadoop/cluster down

spark-up: java $(VENV)/ready
	@VENV=$(VENV) engines/spark/cluster up

spark-down:
	@engines/spark/cluster down

# Spark's own and others beside umbel; QUICK=1 for a tenth of the keys.
bench-spark: java python
	bench/spark/batch $(if $(QUICK),--quick)
	$(VENV)/bin/python bench/spark/stream $(if $(QUICK),--quick)

test-spark: java python
	$(VENV)/bin/python -m pytest -q --tb=short engines/spark/test

test-spark-full: java python
	$(VENV)/bin/pip install --quiet 'moto[server]'
	UMBEL_SPARK_ROUNDS=$(ROUNDS) $(VENV)/bin/python -m pytest -v --tb=short engines/spark/test/test_crash.py engines/spark/test/test_yarn.py engines/spark/test/test_s3.py

# A Java and Maven, unless they are here.
java:
	@{ command -v java && command -v mvn; } >/dev/null || { apt-get -q update && apt-get -qy install default-jdk-headless maven; } >&2

test-hadoop: java
	$(CARGO) build --release --quiet -p umbel-cli
	engines/hadoop/test

test-hadoop-full: java
	$(CARGO) build --release --quiet -p umbel-cli
	engines/hadoop/test
	engines/hadoop/test Matrix

bench-hadoop: java
	$(CARGO) build --release --quiet -p umbel-cli
	bench/hadoop/run

"""The cluster itself: jobs run in its executors, and those have the package."""


def test_a_job_runs_in_executors_of_both_workers(spark):
    def work(rows):
        import os
        import time

        import umbel

        # Longer than it takes to give the other task to the other worker.
        time.sleep(1)
        filter = umbel.Bloom(1000)
        filter.update([str(row) for row in rows])
        yield os.getcwd(), filter.to_bytes()

    parts = spark.sparkContext.parallelize(range(1000), 2).mapPartitions(work).collect()
    assert spark.sparkContext.master.startswith("spark://127.0.0.1:")
    assert len({where for where, _ in parts}) == 2

    import umbel

    whole = umbel.Bloom(1000)
    whole.update([str(row) for row in range(1000)])
    first, second = [umbel.from_bytes(filter) for _, filter in parts]
    assert (first | second).to_bytes() == whole.to_bytes()

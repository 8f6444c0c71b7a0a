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


def test_executors_of_a_node_share_one_copy_of_a_filter(spark, folder):
    import umbel
    from umbel.spark.carrier import shared

    umbel.Bloom(1000).save(folder / "given.umbel")
    name = shared(spark.sparkContext, folder / "given.umbel")

    def work(_):
        import os
        import time

        from umbel.spark import given

        time.sleep(1)
        path = given.path(name)
        yield path, os.stat(path).st_ino

    found = spark.sparkContext.parallelize(range(2), 2).mapPartitions(work).collect()
    assert len({path for path, _ in found}) == 2
    assert len({copy for _, copy in found}) == 1

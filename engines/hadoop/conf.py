"""The configuration of the cluster: everything on loopback, everything below one folder.

${node} is the number of a node, which its daemons are started with."""

from xml.sax.saxutils import escape

LOG4J = """log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{HH:mm:ss} %p %c{1}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
"""


def write_conf(conf, folder, lib, ports, mark):
    """Writes the files of a configuration folder. Containers get the mark, a variable and its value."""
    at = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
    any_port = "127.0.0.1:0"
    classpath = f"{conf},{lib}/*"
    # Containers run on a machine that others use too.
    lean = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    files = {
        "core-site": {
            "fs.defaultFS": f"hdfs://{at['fs']}",
            "hadoop.tmp.dir": f"{folder}/tmp",
            "ipc.client.connect.max.retries": 3,
            "ipc.client.connect.retry.interval": 500,
        },
        "hdfs-site": {
            "dfs.namenode.name.dir": f"file://{folder}/name",
            "dfs.namenode.http-address": at["namenode"],
            "dfs.datanode.data.dir": f"file://{folder}/data${{node}}",
            "dfs.datanode.address": any_port,
            "dfs.datanode.ipc.address": any_port,
            "dfs.datanode.http.address": any_port,
            "dfs.datanode.hostname": "127.0.0.1",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.namenode.safemode.extension": 0,
            "dfs.permissions.enabled": "false",
            "dfs.replication": 2,
            # A lost DataNode is known after some twenty seconds, not ten minutes.
            "dfs.heartbeat.interval": 1,
            "dfs.namenode.heartbeat.recheck-interval": 5000,
        },
        "yarn-site": {
            "yarn.resourcemanager.address": at["rm"],
            "yarn.resourcemanager.scheduler.address": at["scheduler"],
            "yarn.resourcemanager.resource-tracker.address": at["tracker"],
            "yarn.resourcemanager.admin.address": at["admin"],
            "yarn.resourcemanager.webapp.address": at["web"],
            "yarn.resourcemanager.hostname": "127.0.0.1",
            # The jars hold no configuration for the capacity scheduler.
            "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler",
            "yarn.nodemanager.address": any_port,
            "yarn.nodemanager.hostname": "127.0.0.1",
            "yarn.nodemanager.bind-host": "127.0.0.1",
            "yarn.nodemanager.localizer.address": any_port,
            "yarn.nodemanager.webapp.address": any_port,
            "yarn.nodemanager.collector-service.address": any_port,
            "yarn.nodemanager.local-dirs": f"{folder}/local${{node}}",
            "yarn.nodemanager.log-dirs": f"{folder}/logs/containers${{node}}",
            "yarn.nodemanager.delete.debug-delay-sec": 600,
            "yarn.nodemanager.admin-env": f"MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX,{mark}",
            "yarn.nodemanager.aux-services": "mapreduce_shuffle",
            "yarn.nodemanager.aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
            "yarn.nodemanager.resource.memory-mb": 3072,
            "yarn.nodemanager.resource.cpu-vcores": 8,
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99,
            # Otherwise all clusters of a user share a folder in /tmp.
            "yarn.node-attribute.fs-store.root-dir": f"file://{folder}/attributes",
            "yarn.scheduler.minimum-allocation-mb": 256,
            "yarn.application.classpath": classpath,
            # A lost NodeManager, and with it what ran there: known after twenty seconds, and nobody waits for it three minutes.
            "yarn.nm.liveness-monitor.expiry-interval-ms": 20000,
            "yarn.client.nodemanager-connect.max-wait-ms": 10000,
            "yarn.client.nodemanager-connect.retry-interval-ms": 1000,
            "yarn.resourcemanager.connect.max-wait.ms": 10000,
            "yarn.resourcemanager.connect.retry-interval.ms": 1000,
        },
        "mapred-site": {
            "mapreduce.framework.name": "yarn",
            "mapreduce.application.classpath": classpath,
            "mapreduce.shuffle.port": 0,
            "yarn.app.mapreduce.am.resource.mb": 768,
            "yarn.app.mapreduce.am.command-opts": f"-Xmx512m {lean}",
            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 200,
            "mapreduce.map.memory.mb": 768,
            "mapreduce.map.java.opts": f"-Xmx384m {lean}",
            "mapreduce.reduce.memory.mb": 1024,
            "mapreduce.reduce.java.opts": f"-Xmx640m {lean}",
            "mapreduce.task.io.sort.mb": 32,
            "mapreduce.job.reduce.slowstart.completedmaps": 1.0,
            "mapreduce.client.progressmonitor.pollinterval": 300,
            "mapreduce.client.completion.pollinterval": 300,
            "mapreduce.jobhistory.address": at["history"],
            "mapreduce.jobhistory.webapp.address": at["history_web"],
            "mapreduce.jobhistory.admin.address": at["history_admin"],
            "mapreduce.jobhistory.jhist.format": "json",
            "mapreduce.reduce.shuffle.connect.timeout": 10000,
            "mapreduce.reduce.shuffle.read.timeout": 30000,
        },
    }
    for name, values in files.items():
        properties = [f"  <property><name>{key}</name><value>{escape(str(value))}</value></property>\n" for key, value in values.items()]
        (conf / f"{name}.xml").write_text(f"<configuration>\n{''.join(properties)}</configuration>\n")
    (conf / "log4j.properties").write_text(LOG4J)

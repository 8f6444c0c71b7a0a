//! What Hadoop's command says while a job runs, line by line.

use std::time::{Duration, Instant};

use umbel_job::jobs::{Event, Report};

/// How long a server may be silent before the job has been taken: once round what Hadoop's command tries, which goes on for a quarter of an hour.
const SILENCE: Duration = Duration::from_secs(9);

/// What Hadoop says more where a server was lost.
const LOST: &str = "wiki.apache.org/hadoop/";

/// What has been said so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    report: Report,
    /// The number of mappers.
    splits: Option<u64>,
    /// The name of the job, which it has before the cluster knows of it; where its files are until then.
    job: Option<String>,
    staging: Option<String>,
    /// Where the ResourceManager is; a server that does not answer, and since when.
    manager: Option<String>,
    silent: Option<(String, Instant)>,
    /// The first line that tells of a failure; why the job has ended; the last line.
    failure: Option<String>,
    reason: Option<String>,
    last: String,
}

impl Log {
    pub(crate) fn take(&mut self, line: &str, watch: &mut impl FnMut(Event)) {
        self.place(line);
        if let Some((_, id)) = line.split_once("Running job: ") {
            self.report.id = id.trim().into();
            watch(Event::Started(self.report.id.clone()));
        } else if let Some(percent) = progress(line) {
            watch(percent);
        } else if let Some((name, count)) = counter(line) {
            self.report.counters.insert(name.into(), count);
        } else if let Some((_, reason)) = line.split_once(" failed with state ") {
            self.reason =
                Some(reason.split_once(" due to: ").map_or(reason, |(_, why)| why).into());
        } else if tells_of_failure(line) {
            self.failure.get_or_insert(words(line).into());
        }
        if !line.trim().is_empty() {
            self.last = line.trim().into();
        }
    }

    /// Notes where the job, its files and the servers are.
    fn place(&mut self, line: &str) {
        let behind = |words: &str| line.split_once(words).map(|(_, rest)| first_word(rest));
        if let Some(path) = behind(" for path: ").filter(|path| path.contains("/.staging/job_")) {
            self.staging = Some(path.into());
            self.job = path.rsplit('/').next().map(Into::into);
        } else if let Some(job) = behind("Submitting tokens for job: ").or(behind("Running job: "))
        {
            self.job = Some(job.into());
        } else if let Some(application) = behind("Submitted application application_") {
            self.job = Some(format!("job_{application}"));
        } else if let Some(splits) = behind("number of splits:") {
            self.splits = splits.parse().ok();
        } else if let Some(manager) = behind("Connecting to ResourceManager at ") {
            self.manager = manager.rsplit('/').next().map(Into::into);
        } else if let Some(server) = behind("Retrying connect to server: ") {
            let server = server.trim_end_matches('.').rsplit('/').next().unwrap_or(server);
            let is_known = self.silent.as_ref().is_some_and(|(known, _)| known == server);
            if !is_known {
                self.silent = Some((server.into(), Instant::now()));
            }
        }
    }

    /// The job's name, if the cluster may know of it.
    pub(crate) fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    /// The folder of the job's files on HDFS, until the cluster removes it.
    pub(crate) fn staging(&self) -> Option<&str> {
        self.staging.as_deref()
    }

    /// Whether a server has been silent for so long that the job will not be taken.
    pub(crate) fn is_in_vain(&self) -> bool {
        let silent = self.silent.as_ref();
        self.job.is_none() && silent.is_some_and(|(_, since)| since.elapsed() >= SILENCE)
    }

    /// What is known of the job.
    pub(crate) fn report(self) -> Report {
        let counter = |name: &str| self.report.counters.get(name).copied().unwrap_or(0);
        // Attempts that are run again, or twice, are launched too.
        let maps = self.splits.unwrap_or_else(|| counter("Launched map tasks"));
        let bytes = counter("Map output bytes");
        Report { maps, map_output_bytes: bytes, ..self.report }
    }

    /// One line that says why.
    pub(crate) fn failure(self) -> String {
        let silent = self.silent.map(|(server, _)| unanswered(&server, self.manager.as_deref()));
        let why = self.failure.or(self.reason).unwrap_or(self.last);
        match (silent, self.job) {
            (Some(words), None) => return words,
            (Some(words), Some(job)) if why.contains(LOST) => {
                return format!("{job} is out of sight: {words}");
            }
            _ => {}
        }
        match self.report.id.as_str() {
            "" => format!("Hadoop has not taken the job: {}", why.trim()),
            id => format!("{id} has failed: {}", why.trim()),
        }
    }
}

/// One line about a server that does not answer. The ResourceManager is known by its port: it may have several names.
fn unanswered(server: &str, manager: Option<&str>) -> String {
    let port = |address: &str| address.rsplit(':').next().map(str::to_string);
    match manager.is_some_and(|manager| port(manager) == port(server)) {
        true => format!(
            "the ResourceManager at {server} does not answer: is YARN running? Hadoop's configuration (yarn.resourcemanager.address) names it"
        ),
        false => {
            format!("{server} does not answer: is it running? Hadoop's configuration names it")
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn tells_of_failure(line: &str) -> bool {
    let tells =
        line.contains("Exception") || line.contains(" ERROR ") || line.starts_with("Error: ");
    // Places in a program tell users nothing, and that it has failed is known.
    let is_no_matter = line.contains(" INFO ") || line.contains("Job not successful");
    tells && !line.starts_with("\tat ") && !is_no_matter
}

/// A line without what programs put before the words: time and class, names of exceptions.
fn words(line: &str) -> &str {
    let line = line
        .split_once(" ERROR ")
        .map_or(line, |(_, rest)| rest.split_once(": ").map_or(rest, |(_class, words)| words));
    ["Exception: ", "Error: "]
        .iter()
        .fold(line, |line, name| line.rsplit_once(name).map_or(line, |(_, words)| words))
}

/// ` map 50% reduce 0%`
fn progress(line: &str) -> Option<Event> {
    let (_, map) = line.split_once(" map ")?;
    let (map, reduce) = map.split_once("% reduce ")?;
    let reduce = reduce.trim().strip_suffix('%')?;
    Some(Event::Progress(format!("map {map} %, reduce {reduce} %")))
}

/// A counter: tabs, its name, an equals sign and a number.
fn counter(line: &str) -> Option<(&str, u64)> {
    let (name, count) = line.strip_prefix("\t\t")?.rsplit_once('=')?;
    Some((name.trim(), count.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(said: &str) -> (Log, Vec<Event>) {
        let (mut log, mut events) = (Log::default(), Vec::new());
        said.lines().for_each(|line| log.take(line, &mut |event| events.push(event)));
        (log, events)
    }

    #[test]
    fn what_hadoop_says_is_understood() {
        let (log, events) = log("03:05:19 INFO JobSubmitter: number of splits:8\n\
             03:05:20 INFO Job: Running job: job_1_0001\n03:05:25 INFO Job:  map 0% reduce 0%\n\
             03:05:29 INFO Job:  map 50% reduce 7%\n\tMap-Reduce Framework\n\t\tMap output bytes=688895\n\
             \t\tLaunched map tasks=9\n\
             \t\tFILE: Number of bytes read=12\n");
        let started = Event::Started("job_1_0001".into());
        let progress = |text: &str| Event::Progress(text.into());
        let (none, half) = (progress("map 0 %, reduce 0 %"), progress("map 50 %, reduce 7 %"));
        assert_eq!(events, [started, none, half]);
        let report = log.report();
        assert_eq!((report.maps, report.map_output_bytes), (8, 688_895));
    }

    #[test]
    fn the_job_is_known_before_the_cluster_has_it() {
        let place = "1 INFO JobResourceUploader: Disabling Erasure Coding for path: /tmp/hadoop-yarn/staging/me/.staging/job_1_0002";
        let known = log(place).0;
        assert_eq!(known.job(), Some("job_1_0002"));
        assert_eq!(known.staging(), Some("/tmp/hadoop-yarn/staging/me/.staging/job_1_0002"));
        for line in [
            "1 INFO JobSubmitter: Submitting tokens for job: job_1_0002",
            "1 INFO YarnClientImpl: Submitted application application_1_0002",
            "1 INFO Job: Running job: job_1_0002",
        ] {
            assert_eq!(log(line).0.job(), Some("job_1_0002"), "{line}");
        }
        assert_eq!(log("1 INFO Job: Connecting").0.job(), None);
    }

    #[test]
    fn a_silent_manager_is_said_in_one_line() {
        let said = "1 INFO Proxy: Connecting to ResourceManager at /10.0.0.1:8032\n\
            1 INFO Client: Retrying connect to server: rm/10.0.0.1:8032. Already tried 0 time(s); retry policy is x\n\
            1 INFO RetryInvocationHandler: java.net.ConnectException: Call From a to rm:8032 failed on connection exception\n";
        let mut silent = log(said).0;
        assert!(!silent.is_in_vain());
        let since = |log: &mut Log| log.silent.as_mut().unwrap().1 -= SILENCE;
        since(&mut silent);
        assert!(silent.is_in_vain());
        let words = silent.failure();
        assert!(
            words.starts_with("the ResourceManager at 10.0.0.1:8032 does not answer"),
            "{words}"
        );
        // A job that is known is waited for, whoever is silent.
        let mut running = log(&format!("{said}1 INFO Job: Running job: job_1\n")).0;
        since(&mut running);
        assert!(!running.is_in_vain());
        let lost = format!(
            "1 INFO Job: Running job: job_1\n{said}1 ERROR StreamJob: Call From a to rm:8032 failed on connection exception: \
             java.net.ConnectException: Connection refused; For more details see:  http://wiki.apache.org/hadoop/ConnectionRefused\n"
        );
        let words = log(&lost).0.failure();
        assert!(
            words.starts_with(
                "job_1 is out of sight: the ResourceManager at 10.0.0.1:8032 does not answer"
            ),
            "{words}"
        );
    }

    #[test]
    fn failures_are_said_without_java() {
        let failed = "1 INFO Job: Running job: job_1\n\
            Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 137\n\
            \tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)\n\
            1 INFO Job: Job job_1 failed with state FAILED due to: Task failed task_1_m_000000\n\
            1 ERROR StreamJob: Job not successful!\n";
        let why =
            "job_1 has failed: PipeMapRed.waitOutputThreads(): subprocess failed with code 137";
        assert_eq!(log(failed).0.failure(), why);
        let ended = "1 INFO Job: Running job: job_1\n\
            1 INFO Job: Job job_1 failed with state KILLED due to: Application killed by user.\n\
            1 ERROR StreamJob: Job not successful!\nStreaming Command Failed!\n";
        assert_eq!(log(ended).0.failure(), "job_1 has failed: Application killed by user.");
        let refused = "1 ERROR StreamJob: Error Launching job : Call From a to b failed on connection exception\n\
            Streaming Command Failed!\n";
        let why = "Hadoop has not taken the job: Error Launching job : Call From a to b failed on connection exception";
        assert_eq!(log(refused).0.failure(), why);
        assert_eq!(
            log("no such class\n").0.failure(),
            "Hadoop has not taken the job: no such class"
        );
    }
}

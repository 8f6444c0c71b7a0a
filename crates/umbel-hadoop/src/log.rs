//! What Hadoop's command says while a job runs, line by line.

use umbel_job::jobs::{Event, Report};

/// What has been said so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    report: Report,
    /// The first line that tells of a failure; why the job has ended; the last line.
    failure: Option<String>,
    reason: Option<String>,
    last: String,
}

impl Log {
    pub(crate) fn take(&mut self, line: &str, watch: &mut impl FnMut(Event)) {
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

    /// What is known of the job.
    pub(crate) fn report(self) -> Report {
        let counter = |name: &str| self.report.counters.get(name).copied().unwrap_or(0);
        let (maps, bytes) = (counter("Launched map tasks"), counter("Map output bytes"));
        Report { maps, map_output_bytes: bytes, ..self.report }
    }

    /// One line that says why.
    pub(crate) fn failure(self) -> String {
        let why = self.failure.or(self.reason).unwrap_or(self.last);
        match self.report.id.as_str() {
            "" => format!("Hadoop has not taken the job: {}", why.trim()),
            id => format!("{id} has failed: {}", why.trim()),
        }
    }
}

fn tells_of_failure(line: &str) -> bool {
    let tells =
        line.contains("Exception") || line.contains(" ERROR ") || line.starts_with("Error: ");
    // Places in a program tell users nothing, and that it has failed is known.
    tells && !line.starts_with("\tat ") && !line.contains("Job not successful")
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
        let (log, events) = log(
            "03:05:20 INFO Job: Running job: job_1_0001\n03:05:25 INFO Job:  map 0% reduce 0%\n\
             03:05:29 INFO Job:  map 50% reduce 7%\n\tMap-Reduce Framework\n\t\tMap output bytes=688895\n\
             \t\tFILE: Number of bytes read=12\n",
        );
        let started = Event::Started("job_1_0001".into());
        let progress = |text: &str| Event::Progress(text.into());
        let (none, half) = (progress("map 0 %, reduce 0 %"), progress("map 50 %, reduce 7 %"));
        assert_eq!(events, [started, none, half]);
        assert_eq!(log.report().map_output_bytes, 688_895);
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

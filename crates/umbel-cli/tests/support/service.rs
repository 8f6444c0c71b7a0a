//! A running `umbel stream`, and its clients.

// Each test uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, ErrorKind, Lines, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

use crate::support::{Folder, heeding_signals, signal};

pub struct Service {
    pub child: Child,
    /// Where it listens, training first, in the order of the arguments.
    pub at: Vec<SocketAddr>,
    stderr: Option<Lines<BufReader<ChildStderr>>>,
}

impl Service {
    /// Starts `umbel stream` with these words as further arguments, and waits until it listens at all its addresses.
    pub fn start(folder: &Folder, line: &str) -> Service {
        let command = heeding_signals(&folder.umbel(&format!("stream {line}")));
        Service::spawn(command, line.matches(":0").count())
    }

    /// The same in a process that may have so many open files.
    pub fn start_limited(folder: &Folder, line: &str, files: u32) -> Service {
        let umbel = folder.umbel(&format!("stream {line}"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {files}; exec \"$@\""), "sh"]);
        shell.arg(umbel.get_program()).args(umbel.get_args());
        shell.current_dir(folder.path("."));
        Service::spawn(shell, line.matches(":0").count())
    }

    fn spawn(mut command: Command, addresses: usize) -> Service {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let at = (0..addresses).map(|_| {
            let line = stderr.next().unwrap().unwrap();
            let address = line.strip_prefix("umbel: ").and_then(|rest| rest.rsplit(' ').next());
            address.and_then(|address| address.parse().ok()).unwrap_or_else(|| panic!("{line}"))
        });
        let at = at.collect();
        Service { child, at, stderr: Some(stderr) }
    }

    pub fn connect(&self, which: usize) -> TcpStream {
        connect(self.at[which]).unwrap()
    }

    /// Sends everything, and waits for all that comes back.
    pub fn send(&self, which: usize, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        talk(self.connect(which), bytes.as_ref())
    }

    /// The next line that it says on stderr and that is as wanted.
    pub fn hear(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        let mut lines = self.stderr.as_mut().unwrap().map_while(Result::ok);
        lines.find(|line| wanted(line)).unwrap()
    }

    /// Everything that it says on stderr from now on goes to a thread of its own.
    pub fn said(&mut self) -> std::thread::JoinHandle<Vec<String>> {
        let stderr = self.stderr.take().unwrap();
        std::thread::spawn(move || stderr.map_while(Result::ok).collect())
    }

    /// Sends a signal, and waits for the end: its exit code, what it printed, and what it said.
    pub fn end(mut self, name: &str) -> (Option<i32>, Vec<u8>, Vec<String>) {
        let said = self.said();
        signal(&self.child, name);
        let Output { status, stdout, .. } = self.child.wait_with_output().unwrap();
        (status.code(), stdout, said.join().unwrap())
    }

    /// Waits for the end of one that was signalled.
    pub fn stop_quietly(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends it in the proper way, with a word about lines that were not used.
    pub fn stop_with_unused(self) {
        let (code, stdout, said) = self.end("TERM");
        assert_eq!((code, stdout.as_slice(), said.len()), (Some(0), &[][..], 1), "{said:?}");
        assert!(said[0].contains(" not used: empty, or longer than "), "{said:?}");
    }

    /// Ends it in the proper way, without a word.
    pub fn stop(self) {
        let (code, stdout, said) = self.end("TERM");
        assert_eq!((code, stdout.as_slice(), said.as_slice()), (Some(0), &[][..], &[][..]));
    }
}

pub fn connect(to: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(to)?;
    // Nothing takes as long.
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends everything while reading all that comes back.
pub fn talk(stream: TcpStream, bytes: &[u8]) -> Vec<u8> {
    let mut reply = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // It may have had enough before the end.
            _ = (&stream).write_all(bytes);
            _ = stream.shutdown(Shutdown::Write);
        });
        (&stream).read_to_end(&mut reply).unwrap();
    });
    reply
}

/// Asks one question, and reads the answer.
pub fn ask(stream: &TcpStream, key: &str) -> String {
    (&*stream).write_all(format!("{key}\n").as_bytes()).unwrap();
    read_line(stream)
}

/// One line, without its end.
pub fn read_line(mut stream: &TcpStream) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    loop {
        match stream.read(&mut byte) {
            Ok(1) if byte != *b"\n" => line.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => break assert!(read.is_ok(), "{read:?}"),
        }
    }
    String::from_utf8(line).unwrap()
}

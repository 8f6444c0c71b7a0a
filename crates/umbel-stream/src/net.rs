//! Sockets: listening, accepting, waiting.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::hub::Hub;
use crate::service::Message;
use crate::{Error, Result};

/// Room for a thread's calls; its buffers are elsewhere.
const STACK: usize = 256 << 10;
/// Open files that are not connections: the state, sources, listeners. Half of them all where there are few.
const SPARE: u64 = 32;
/// The pause before another connection is taken, when the system refused one; and how often that is said.
const PAUSE: Duration = Duration::from_millis(100);
const REMINDER: Duration = Duration::from_secs(60);
/// Who does not take a short line in this time does not read.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is done with a connection, in a thread of its own.
pub(crate) type Serve = fn(&Arc<Hub>, TcpStream);

/// Listens; an error says what to do.
pub(crate) fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|source| match source.kind() {
        ErrorKind::AddrInUse => Error::Refused(format!(
            "{address}: the address is in use: another program listens there; stop it or choose another port"
        )),
        ErrorKind::PermissionDenied => Error::Refused(format!(
            "{address}: permission denied: ports below 1024 belong to the system; choose another port"
        )),
        ErrorKind::AddrNotAvailable => Error::Refused(format!(
            "{address}: it is not an address of this machine; 0.0.0.0 stands for all of them"
        )),
        _ => Error::io(address)(source),
    })
}

/// Serves each connection in a thread of its own, for ever.
pub(crate) fn accept(hub: &Arc<Hub>, listener: &TcpListener, serve: Serve) {
    let mut said: Option<Instant> = None;
    loop {
        let result = match listener.accept() {
            Ok((stream, _)) => start(hub, stream, serve),
            // The client went away.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => Ok(()),
            Err(error) => {
                // The connection still stands there: asking again at once would be in vain.
                std::thread::sleep(PAUSE);
                Err(format!("no connection can be taken: {error}{}; trying again", advice(&error)))
            }
        };
        if let Err(why) = result
            && said.is_none_or(|said| said.elapsed() > REMINDER)
        {
            said = Some(Instant::now());
            let at = listener.local_addr().map_or_else(|_| String::new(), |at| format!("{at}: "));
            hub.send(Message::Warning(format!("{at}{why}")));
        }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE) => ", raise the limit (ulimit -n)",
        _ => "",
    }
}

/// Gives a connection a thread, if there is room for it: otherwise why not.
fn start(hub: &Arc<Hub>, stream: TcpStream, serve: Serve) -> Result<(), String> {
    let Some(place) = Connections::enter(hub) else {
        refuse(&stream, "too many connections");
        let limit = hub.connections.limit;
        return Err(format!(
            "a connection was refused: there are {limit}, as many as the limit of open files allows (ulimit -n)"
        ));
    };
    let thread = std::thread::Builder::new().stack_size(STACK);
    let spawned = thread.spawn(move || serve(&place.0, prepared(stream)));
    spawned
        .map(drop)
        .map_err(|error| format!("a connection was closed, for want of a thread: {error}"))
}

/// The connections that are open, no more than there is room for.
pub(crate) struct Connections {
    open: AtomicUsize,
    limit: usize,
}

/// A place among them, until it is dropped.
struct Place(Arc<Hub>);

impl Connections {
    /// As many as this process may have open files: it asks for all that the system would give.
    pub(crate) fn new() -> Connections {
        let now = getrlimit(Resource::Nofile);
        // Refused, the limit stays as it is.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, ..now });
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let limit = usize::try_from(files - SPARE.min(files / 2)).unwrap_or(usize::MAX);
        Connections { open: AtomicUsize::new(0), limit }
    }

    pub(crate) fn count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    fn enter(hub: &Arc<Hub>) -> Option<Place> {
        let place = Place(Arc::clone(hub));
        let before = hub.connections.open.fetch_add(1, Ordering::Relaxed);
        (before < hub.connections.limit).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers go out at once; a host that is gone is noticed within two minutes. What a socket refuses it does without.
pub(crate) fn prepared(stream: TcpStream) -> TcpStream {
    let _ = stream.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(&stream, true);
    let _ = sockopt::set_tcp_keepidle(&stream, Duration::from_secs(60));
    let _ = sockopt::set_tcp_keepintvl(&stream, Duration::from_secs(10));
    let _ = sockopt::set_tcp_keepcnt(&stream, 6);
    stream
}

/// Says why, and closes. What the client has sent is left unread, so that it may lose the line if it goes on sending.
pub(crate) fn refuse(stream: &TcpStream, why: &str) {
    say(stream, &format!("error: {why}\n"));
    let _ = stream.shutdown(Shutdown::Write);
}

/// Writes a short line beside a stream; whether it was taken.
pub(crate) fn say(mut stream: &TcpStream, line: &str) -> bool {
    let _ = stream.set_write_timeout(Some(PATIENCE));
    stream.write_all(line.as_bytes()).is_ok()
}

/// Waits until there is something to read, or the end. A plain file always has.
pub(crate) fn wait_readable(from: &impl AsFd) -> io::Result<()> {
    loop {
        match poll(&mut [PollFd::new(from, PollFlags::IN)], None) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

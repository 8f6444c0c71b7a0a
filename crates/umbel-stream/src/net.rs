//! Sockets: listening, accepting, waiting.

use std::io::{self, ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::hub::Hub;
use crate::{Error, Result};

/// Room for a thread's calls; its buffers are elsewhere.
const STACK: usize = 256 << 10;
/// Open files that are not connections: the state, sources, listeners.
const SPARE: u64 = 32;
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
    loop {
        match listener.accept() {
            Ok((stream, _)) => start(hub, stream, serve),
            // The client went away, or the system has no room: it may have later.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn start(hub: &Arc<Hub>, stream: TcpStream, serve: Serve) {
    let Some(place) = Connections::enter(hub) else {
        return refuse(&stream, "too many connections");
    };
    let thread = std::thread::Builder::new().stack_size(STACK);
    // Where the system gives no thread, the connection is closed.
    let _ = thread.spawn(move || serve(&place.0, prepared(stream)));
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
        let limit = usize::try_from(files.saturating_sub(SPARE)).unwrap_or(usize::MAX);
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
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

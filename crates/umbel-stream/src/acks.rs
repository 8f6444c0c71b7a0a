//! Training connections with a name: they are told which of their lines are on disk.

use std::io::{ErrorKind, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::hub::Hub;
use crate::train::{Origin, Training, too_long};
use crate::{lock, net};

/// The longest name.
const MAX_NAME: usize = 256;

/// Numbers for those who are told.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A connection that is told of snapshots.
struct Told<'c> {
    hub: &'c Hub,
    name: &'c str,
    /// One line at a time.
    out: Mutex<&'c TcpStream>,
    /// The number of its last line, once the trainer has ended.
    end: OnceLock<u64>,
}

/// Serves a training connection whose first line is its name.
pub(crate) fn serve(hub: &Arc<Hub>, stream: TcpStream) {
    let name = match read_name(&stream) {
        Ok(name) => name,
        Err(why) => return net::refuse(&stream, why),
    };
    let (connected, snapshots) = {
        let mut books = hub.books();
        (books.connect(&name), books.snapshots)
    };
    let (saved, folded) = match connected {
        Ok(lines) => lines,
        Err(why) => return net::refuse(&stream, &why),
    };
    let told = Told { hub, name: &name, out: Mutex::new(&stream), end: OnceLock::new() };
    std::thread::scope(|scope| {
        let teller = std::thread::Builder::new().stack_size(64 << 10);
        let spawned =
            told.ack(saved) && teller.spawn_scoped(scope, || told.tell(snapshots)).is_ok();
        let origin = Origin::Trainer(name.clone(), folded);
        let mut training = Training { from: &stream, origin, line: saved };
        let result = match spawned {
            true => training.run(hub, |line| _ = told.say(&too_long(hub, line))),
            false => Ok(()),
        };
        // A connection that broke hears nothing more.
        let end = if result.is_ok() { training.line } else { 0 };
        hub.ended(result);
        hub.publish(|books| {
            books.disconnect(&name);
            let _ = told.end.set(end);
        });
    });
}

impl Told<'_> {
    /// Sends an ack after each snapshot, until the trainer has ended and all of its lines are on disk.
    fn tell(&self, mut snapshots: u64) {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        loop {
            self.hub.books().told.insert(id, snapshots);
            let over = |saved| self.end.get().is_some_and(|&end| saved >= end);
            let books =
                self.hub.wait(|books| books.snapshots > snapshots || over(books.saved(self.name)));
            let (is_new, saved) = (books.snapshots > snapshots, books.saved(self.name));
            snapshots = books.snapshots;
            drop(books);
            if (is_new && !self.ack(saved)) || over(saved) {
                break;
            }
        }
        self.hub.books().told.remove(&id);
    }

    fn ack(&self, saved: u64) -> bool {
        self.say(&format!("ack {saved}\n"))
    }

    /// Who does not listen is cut off: it will be told when it comes again.
    fn say(&self, line: &str) -> bool {
        let out = lock(&self.out);
        let heard = net::say(&out, line);
        if !heard {
            let _ = out.shutdown(Shutdown::Both);
        }
        heard
    }
}

/// The first line, byte by byte: what follows it belongs to training.
fn read_name(mut stream: &TcpStream) -> Result<String, &'static str> {
    let mut name = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(1) if byte == *b"\n" => break,
            Ok(1) if name.len() < MAX_NAME => name.push(byte[0]),
            Ok(1) => return Err("the first line is the trainer's name, of at most 256 bytes"),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return Err("the first line is the trainer's name"),
        }
    }
    let name = name.strip_suffix(b"\r").unwrap_or(&name);
    match std::str::from_utf8(name) {
        Ok(name) if !name.is_empty() && !name.contains(char::is_control) => Ok(name.into()),
        _ => Err("the first line is the trainer's name: text that can be printed"),
    }
}

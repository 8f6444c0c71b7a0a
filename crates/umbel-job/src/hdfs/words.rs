//! What HDFS says, in words for people.

use std::io;

use hdfs_native::HdfsError;

const REPORT: &str = "`hdfs dfsadmin -report` tells which run, and how full they are";

/// What a NameNode said, or its silence; in the words of the system where there are such.
pub(super) fn of_namenode(error: HdfsError) -> io::Error {
    match error {
        HdfsError::IOError(error) => io::Error::new(
            error.kind(),
            format!(
                "HDFS cannot be reached: {error}: is its NameNode running? Hadoop's configuration (fs.defaultFS) or the path itself names it"
            ),
        ),
        HdfsError::FileNotFound(_) => missing(),
        // Opening says it in the words of the server.
        HdfsError::RPCError(class, message) if class == "java.io.FileNotFoundException" => {
            if message.contains("not a file") {
                folder()
            } else {
                missing()
            }
        }
        HdfsError::AlreadyExists(_) => io::ErrorKind::AlreadyExists.into(),
        HdfsError::IsADirectoryError(_) => folder(),
        HdfsError::DataTransferError(message) => io::Error::other(transfer(&message)),
        HdfsError::RPCError(_, message) | HdfsError::FatalRPCError(_, message) => {
            io::Error::other(rpc(&message))
        }
        error => io::Error::other(first_line(&error.to_string())),
    }
}

/// The same where bytes are read or written: who does not answer is a DataNode.
pub(super) fn of_datanode(error: HdfsError) -> io::Error {
    match error {
        HdfsError::IOError(error) => io::Error::new(
            error.kind(),
            format!("a DataNode of HDFS cannot be reached: {error}; {REPORT}"),
        ),
        error => of_namenode(error),
    }
}

pub(super) fn missing() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "No such file or directory")
}

pub(super) fn folder() -> io::Error {
    let words = "it is a folder, and a file is wanted: name its files (--on hadoop and --on spark read whole folders)";
    io::Error::new(io::ErrorKind::IsADirectory, words)
}

pub(super) fn output_folder() -> io::Error {
    io::Error::new(io::ErrorKind::IsADirectory, "it is a folder: name a file in it")
}

/// What came of the transfer of a block: the library lists all that it knows of the nodes.
fn transfer(message: &str) -> String {
    if message.ends_with(": []") {
        // Where HDFS knows that all of them are gone it names none.
        return format!("no DataNode that runs has all of it; {REPORT}");
    }
    let between = |text: &str, before: &str, end: char| {
        Some(text.split_once(before)?.1.split(end).next()?.trim_matches('"').to_string())
    };
    let nodes = message.split("DatanodeIdProto").skip(1).filter_map(|node| {
        let host = between(node, "ip_addr: ", ',')?;
        Some(format!("{host}:{}", between(node, "xfer_port: ", ',')?))
    });
    let nodes: Vec<String> = nodes.collect();
    match nodes.is_empty() {
        true => format!("a DataNode of HDFS failed: {}", first_line(message)),
        false => {
            format!("none of the DataNodes that have it answers ({}); {REPORT}", nodes.join(", "))
        }
    }
}

/// What the server of a call said: its first line, the rest is for programmers.
fn rpc(message: &str) -> String {
    let message = first_line(message);
    match message.contains("could only be written to") {
        true => {
            let running =
                message.split_once("There are ").and_then(|(_, rest)| rest.split_once(' '));
            let running = running.map_or("", |(number, _)| number);
            format!(
                "no DataNode of HDFS can take it ({running} run): they are down or full; {REPORT}"
            )
        }
        false => message,
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_nodes_are_named_in_one_line() {
        let node = |port: u32| {
            format!(
                "DatanodeInfoProto {{ id: DatanodeIdProto {{ ip_addr: \"10.0.0.1\", host_name: \"a\", xfer_port: {port}, info_port: 1 }}, capacity: Some(1) }}"
            )
        };
        let said = format!("All DataNodes failed: [{}, {}]", node(9866), node(9867));
        let words = of_datanode(HdfsError::DataTransferError(said)).to_string();
        assert!(
            words.contains("(10.0.0.1:9866, 10.0.0.1:9867)") && words.contains("dfsadmin"),
            "{words}"
        );
        assert!(!words.contains("Proto"), "{words}");
        let none = HdfsError::DataTransferError("All DataNodes failed: []".into());
        let words = of_datanode(none).to_string();
        assert!(
            words.starts_with("no DataNode that runs has all of it; `hdfs dfsadmin"),
            "{words}"
        );
        let refused = || HdfsError::IOError(io::ErrorKind::ConnectionRefused.into());
        assert!(
            of_datanode(refused()).to_string().contains("a DataNode of HDFS cannot be reached")
        );
        assert!(of_namenode(refused()).to_string().contains("is its NameNode running?"));
        let full = "File /.s.umbel.7.part could only be written to 0 of the 1 minReplication nodes. \
                    There are 2 datanode(s) running and 2 node(s) are excluded in this operation.\n\tat x";
        let words =
            of_datanode(HdfsError::RPCError("java.io.IOException".into(), full.into())).to_string();
        assert!(words.contains("(2 run)") && !words.contains("part"), "{words}");
    }

    #[test]
    fn a_folder_is_called_a_folder() {
        let class = "java.io.FileNotFoundException";
        let said = |words: &str| of_namenode(HdfsError::RPCError(class.into(), words.into()));
        assert_eq!(said("Path is not a file: /new\n\tat x").kind(), io::ErrorKind::IsADirectory);
        assert_eq!(said("File does not exist: /new\n\tat x").kind(), io::ErrorKind::NotFound);
    }
}

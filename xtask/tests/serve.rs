//! `cargo xtask serve`, as someone at a terminal uses it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

fn serve(port: u16) -> Child {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["serve", "--runtime", "local", "--port", &port.to_string()])
        .env_remove("PUP_DATABASE")
        .env_remove("PUP_PUBLIC_URL")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(child: &mut Child, signal: &str) -> ExitStatus {
    let kill = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    child.wait().unwrap()
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_serves_a_fresh_store_until_a_signal_and_leaves_nothing_behind() {
    for signal in ["-TERM", "-INT"] {
        let mut child = serve(0);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut after = |words: &str| {
            let line = lines
                .by_ref()
                .map(Result::unwrap)
                .find(|line| line.contains(words));
            let line = line.unwrap_or_else(|| panic!("the server does not print {words:?}"));
            String::from(line.split(words).nth(1).unwrap().trim())
        };
        let address: SocketAddr = after("listening on http://").parse().unwrap();
        let database = PathBuf::from(after("database "));
        assert!(address.ip().is_loopback());
        assert!(database.is_file());
        let answer = get(address, "/manifest.json");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

        let status = interrupt(&mut child, signal);
        assert!(status.success(), "{signal}: {status}");
        assert!(
            TcpStream::connect(address).is_err(),
            "the server is still there"
        );
        assert!(
            !database.parent().unwrap().exists(),
            "the store is still there"
        );
    }
}

#[test]
fn a_port_that_is_taken_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = serve(port).wait_with_output().unwrap();
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(&port.to_string()), "{errors}");
}

#[test]
fn a_runtime_that_does_not_exist_is_answered_with_those_that_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["serve", "--runtime", "moon"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("possible values: local, lambda"),
        "{errors}"
    );
}

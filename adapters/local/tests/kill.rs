//! Processes that are killed while they write.
//!
//! Two processes write to one file and print what was acknowledged; both are killed with SIGKILL, at moments
//! that are not theirs to choose. What they had printed must be there, and nothing may be there by half. (That
//! a power loss takes nothing either rests on `synchronous = FULL`, which another test looks at.)
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use pup_extension::{
    store::{
        Change, Commit, Expect, Item, Key, Name, Outcome, Partition, Revision, Store,
        StoreErrorKind, Value,
    },
    time::Timestamp,
};
use pup_extension_local::SqliteStore;
use rusqlite::Connection;

const ROUNDS: u64 = 8;
const PROCESSES: u64 = 2;
/// In each process.
const WRITERS: u64 = 6;
const NOW: Timestamp = Timestamp::from_secs(1_785_196_800);

const DATABASE: &str = "PUP_KILL_TEST_DATABASE";
const PROCESS: &str = "PUP_KILL_TEST_PROCESS";

/// Writer and number of each commit that was acknowledged.
type Acknowledged = mpsc::Receiver<(u64, i64)>;

#[test]
fn acknowledged_commits_survive_a_kill_and_none_is_there_by_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut acknowledged: BTreeMap<u64, i64> = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut running: Vec<_> = (0..PROCESSES)
            .map(|process| start(&path, process))
            .collect();
        // Both are at work before the first is killed.
        for (_, lines) in &running {
            let first = lines.recv_timeout(Duration::from_secs(60)).unwrap();
            note(&mut acknowledged, first);
        }
        for (process, (child, _)) in running.iter_mut().enumerate() {
            let moment = (round * 37 + process as u64 * 53) % 97;
            thread::sleep(Duration::from_millis(moment));
            assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for (_, lines) in running {
            // Up to the end of what it had written.
            lines.iter().for_each(|line| note(&mut acknowledged, line));
        }
        inspect(&path, &acknowledged);
    }
    let total: i64 = acknowledged.values().sum();
    println!("{total} commits were acknowledged over {ROUNDS} rounds");
    assert!(total > 100, "{total} commits show little");
}

fn note(acknowledged: &mut BTreeMap<u64, i64>, (writer, number): (u64, i64)) {
    let before = acknowledged.insert(writer, number);
    assert!(before.is_none_or(|before| before < number));
}

fn start(path: &Path, process: u64) -> (Child, Acknowledged) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "writes_until_it_is_killed",
            "--ignored",
            "--nocapture",
        ])
        .env(DATABASE, path)
        .env(PROCESS, process.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (sender, acknowledged) = mpsc::channel();
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let Some(line) = line.strip_prefix("acknowledged ") else {
                continue;
            };
            let (writer, number) = line.split_once(' ').unwrap();
            sender
                .send((writer.parse().unwrap(), number.parse().unwrap()))
                .unwrap();
        }
    });
    (child, acknowledged)
}

/// Opens what the killed processes left.
fn inspect(path: &Path, acknowledged: &BTreeMap<u64, i64>) {
    let store = SqliteStore::open(path).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let get = |name: &Name| {
        let key = Key::new(Partition::unscoped(), name.clone());
        runtime.block_on(store.get(&key, NOW)).unwrap()
    };
    let mut sum = 0;
    for writer in 0..PROCESSES * WRITERS {
        let acknowledged = acknowledged.get(&writer).copied().unwrap_or_default();
        let [number, text] = names(writer).map(|name| get(&name));
        let (Some(number), Some(text)) = (&number, &text) else {
            assert!(
                number.is_none() && text.is_none(),
                "writer {writer} is there by half"
            );
            assert_eq!(acknowledged, 0, "writer {writer} lost everything");
            continue;
        };
        let Value::Number(there) = number.value else {
            panic!("not a number")
        };
        // The last one may have been written without that its answer was.
        assert!(
            (acknowledged..=acknowledged + 1).contains(&there),
            "writer {writer}: {there} is there, {acknowledged} was acknowledged"
        );
        assert_eq!(
            text.value,
            long_text(there),
            "writer {writer}: another text"
        );
        assert_eq!(
            text.revision, number.revision,
            "writer {writer}: another commit"
        );
        sum += there;
    }
    let total = get(&total()).map(|item| item.value);
    assert_eq!(total, Some(Value::Number(sum)), "each commit once");
    drop(store);
    let verdict: String = Connection::open(path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
}

/// The process that is killed.
#[test]
#[ignore = "the other test starts it"]
fn writes_until_it_is_killed() {
    let path = env::var_os(DATABASE).unwrap();
    let process: u64 = env::var(PROCESS).unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(path).unwrap();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(write(store.clone(), process * WRITERS + writer)))
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

async fn write(store: SqliteStore, writer: u64) {
    let [number, text] = names(writer);
    let key = Key::new(Partition::unscoped(), number.clone());
    let mut last = store.get(&key, NOW).await.unwrap();
    loop {
        let next = 1 + match &last {
            Some(Item {
                value: Value::Number(number),
                ..
            }) => *number,
            _ => 0,
        };
        let expect = last
            .as_ref()
            .map_or(Expect::Absent, |item| Expect::At(item.revision));
        let put = |name: &Name, value| Change::put(name.clone(), expect, value, None);
        let id = Revision::new(u128::from(writer) << 64 | u128::try_from(next).unwrap());
        let commit = Commit::new(id, Partition::unscoped())
            .with(put(&number, Value::Number(next)))
            .unwrap()
            .with(put(&text, long_text(next)))
            .unwrap()
            .with(Change::add(total(), 1))
            .unwrap();
        match store.commit(&commit, NOW).await {
            Ok(Outcome::Applied) => {}
            // The other process had the lock for too long.
            Err(error) if error.kind() == StoreErrorKind::NotApplied => continue,
            other => panic!("{other:?}"),
        }
        // In one piece, so that a kill can't cut it.
        let line = format!("acknowledged {writer} {next}\n");
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        last = Some(Item {
            value: Value::Number(next),
            revision: id,
            expires_at: None,
        });
    }
}

fn names(writer: u64) -> [Name; 2] {
    ["number", "text"].map(|part| Name::of([&writer.to_string(), part]).unwrap())
}

fn total() -> Name {
    Name::of(["total"]).unwrap()
}

/// Several pages, so that there is a half to be found.
fn long_text(number: i64) -> Value {
    Value::Bytes(format!("{number} ").repeat(4_000).into())
}

//! What an SQLite store promises beyond the port.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{fs, path::Path, thread, time::Duration};

use futures_util::{
    FutureExt,
    future::{join_all, try_join},
};
use pup_extension::{
    store::{
        Change, Commit, Expect, Key, Name, Outcome, Partition, Query, Revision, Store,
        StoreErrorKind, Value,
    },
    time::Timestamp,
};
use pup_extension_local::{OpenErrorKind, SqliteOptions, SqliteStore};
use rusqlite::Connection;

const NOW: Timestamp = Timestamp::from_secs(1_785_196_800);

fn name(part: &str) -> Name {
    Name::of([part]).unwrap()
}

fn key(part: &str) -> Key {
    Key::new(Partition::unscoped(), name(part))
}

fn commit(id: u128, change: Change) -> Commit {
    Commit::new(Revision::new(id), Partition::unscoped())
        .with(change)
        .unwrap()
}

fn add(id: u128, part: &str) -> Commit {
    commit(id, Change::add(name(part), 1))
}

fn rows(path: &Path) -> i64 {
    Connection::open(path)
        .unwrap()
        .query_row("SELECT count(*) FROM item", [], |row| row.get(0))
        .unwrap()
}

#[tokio::test]
async fn what_was_committed_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    let expires_at = Some(NOW + Duration::from_secs(60));
    let put = Change::put(name("a"), Expect::Absent, Value::Number(1), expires_at);
    store.commit(&commit(1, put), NOW).await.unwrap();
    let before = store.get(&key("a"), NOW).await.unwrap();
    assert!(before.is_some());
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.get(&key("a"), NOW).await.unwrap(), before);
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_readable_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("several/folders");
    let path = inner.join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    store.commit(&add(1, "a"), NOW).await.unwrap();
    store.get(&key("a"), NOW).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    let mut files: Vec<_> = fs::read_dir(&inner)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                mode(&entry.path()),
            )
        })
        .collect();
    files.sort();
    let expected = ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"];
    assert_eq!(files, expected.map(|name| (name.to_owned(), 0o600)));
}

#[test]
fn a_newer_database_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    drop(SqliteStore::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Newer);
    let message = error.to_string();
    assert!(
        message.contains("its version is 7, and this program knows 1"),
        "{message}"
    );
    assert!(message.contains("store.sqlite"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_of_something_else_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE item (x)").unwrap();
    drop(other);
    let text = folder.path().join("text");
    fs::write(
        &text,
        "a letter to somebody, long enough for a header. ".repeat(10),
    )
    .unwrap();
    for path in [path, text] {
        let before = fs::read(&path).unwrap();
        let error = SqliteStore::open(&path).unwrap_err();
        assert_eq!(error.kind(), OpenErrorKind::Foreign, "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_path_that_can_hold_no_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [
        file.join("store.sqlite"),
        folder.path().to_owned(),
        "".into(),
    ] {
        let error = SqliteStore::open(&path).unwrap_err();
        assert!(
            matches!(error.kind(), OpenErrorKind::Io | OpenErrorKind::Database),
            "{error}"
        );
        assert!(error.to_string().contains(&path.display().to_string()));
    }
}

#[test]
fn many_can_open_and_make_one_file_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        thread::scope(|scope| {
            let opening: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| SqliteStore::open(&path).map(drop)))
                .collect();
            for opened in opening {
                opened.join().unwrap().unwrap();
            }
        });
    }
}

#[tokio::test]
async fn a_lock_that_is_held_too_long_means_not_applied_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let options = SqliteOptions::default().busy_timeout(Duration::from_millis(50));
    let store = options.open(&path).unwrap();
    store.commit(&add(1, "a"), NOW).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let error = store.commit(&add(2, "a"), NOW).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
    let item = store.get(&key("a"), NOW).await.unwrap().unwrap();
    assert_eq!(item.value, Value::Number(1));

    other.execute_batch("ROLLBACK").unwrap();
    store.commit(&add(3, "a"), NOW).await.unwrap();
    let item = store.get(&key("a"), NOW).await.unwrap().unwrap();
    assert_eq!(item.value, Value::Number(2));
}

#[tokio::test]
async fn a_lock_that_is_held_for_a_while_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let release = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        other.execute_batch("ROLLBACK").unwrap();
    });
    let outcome = store.commit(&add(1, "a"), NOW).await.unwrap();
    assert_eq!(outcome, Outcome::Applied);
    release.join().unwrap();
}

#[test]
fn a_commit_whose_future_is_dropped_is_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    // The lock keeps the commit from being done before its future is dropped.
    let lock = Connection::open(&path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    for id in 0..10 {
        let begun = add(id, "a");
        assert!(store.commit(&begun, NOW).now_or_never().is_none());
    }
    lock.execute_batch("ROLLBACK").unwrap();
    // Waits for what is queued.
    drop(store);
    let value: i64 = lock
        .query_row("SELECT value FROM item", [], |row| row.get(0))
        .unwrap();
    assert_eq!(value, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_callers_at_once_are_all_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("store.sqlite")).unwrap();
    let callers = (0..1_000).map(|id| {
        let store = store.clone();
        async move {
            let commit = add(id, "count");
            let part = key("count");
            try_join(store.commit(&commit, NOW), store.get(&part, NOW)).await
        }
    });
    for answer in join_all(callers).await {
        assert_eq!(answer.unwrap().0, Outcome::Applied);
    }
    let item = store.get(&key("count"), NOW).await.unwrap().unwrap();
    assert_eq!(item.value, Value::Number(1_000));
}

#[tokio::test]
async fn commits_remove_expired_rows_a_bounded_number_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    let expired = NOW + Duration::from_secs(1);
    let mut many = Commit::new(Revision::new(1), Partition::unscoped());
    for number in 0..100 {
        let expires_at = Some(if number < 90 {
            expired
        } else {
            expired + Duration::from_secs(1)
        });
        let item = name(&format!("item{number}"));
        many.push(Change::put(item, Expect::Any, Value::Number(1), expires_at))
            .unwrap();
    }
    store.commit(&many, NOW).await.unwrap();
    assert_eq!(rows(&path), 100);
    // A conflict removes nothing.
    let conflict = commit(
        2,
        Change::check(name("other"), Expect::At(Revision::new(9))),
    );
    store.commit(&conflict, expired).await.unwrap();
    assert_eq!(rows(&path), 100);
    store.commit(&add(3, "other"), expired).await.unwrap();
    let left = rows(&path);
    assert!(
        (12..100).contains(&left),
        "some and not all of them: {left}"
    );
    for id in 4..20 {
        store.commit(&add(id, "other"), expired).await.unwrap();
    }
    assert_eq!(rows(&path), 11);
}

#[test]
fn a_read_without_a_runtime_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("store.sqlite")).unwrap();
    let read = store.get(&key("a"), NOW).now_or_never().unwrap();
    assert_eq!(read.unwrap_err().kind(), StoreErrorKind::NotApplied);
}

#[tokio::test]
async fn a_row_that_this_crate_never_writes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    let insert = "INSERT INTO item (partition, name, revision, expires_at, value)
        VALUES ('u', ?1, zeroblob(16), NULL, 1)";
    other.execute(insert, ["a\nb"]).unwrap();
    let query = Query {
        partition: Partition::unscoped(),
        prefix: String::new(),
        after: None,
        limit: 10,
    };
    let error = store.list(&query, NOW).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
    // The table itself keeps out the rest: a short revision, a time before the epoch, a text or a float.
    for values in [
        "zeroblob(15), NULL, 1",
        "zeroblob(16), -1, 1",
        "zeroblob(16), NULL, 'text'",
        "zeroblob(16), NULL, 1.5",
        "zeroblob(16), NULL, NULL",
    ] {
        let insert = format!(
            "INSERT INTO item (partition, name, revision, expires_at, value)
             VALUES ('u', 'x', {values})"
        );
        assert!(other.execute(&insert, []).is_err(), "{values}");
    }
}

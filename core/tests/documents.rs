//! The documents keep up with the code: every test that they name is there. (Their links are checked by the `docs`
//! stage of `cargo xtask test`.)

#![cfg(not(target_arch = "wasm32"))]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests; clippy exempts test functions alone"
)]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below a folder whose name ends so; what is built is left out.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

fn documents() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    files(&root().join("docs"), ".md", &mut paths);
    paths
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

/// What stands between two marks, each time.
fn between<'a>(text: &'a str, start: &'a str, end: char) -> impl Iterator<Item = &'a str> {
    text.split(start)
        .skip(1)
        .filter_map(move |rest| rest.split_once(end).map(|(inner, _)| inner))
}

/// Whether it has the form of a test's path, `a::b::what_holds`. What is shorter names a function or a type.
fn is_test(code: &str) -> bool {
    let named = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    code.contains("::")
        && code.split("::").all(named)
        && code
            .rsplit("::")
            .next()
            .is_some_and(|name| name.contains('_'))
}

#[test]
fn every_test_that_is_named_exists() {
    let mut paths = Vec::new();
    files(&root(), ".rs", &mut paths);
    let sources: Vec<(String, String)> = paths
        .into_iter()
        .map(|path| {
            let name = path.to_str().unwrap().replace('\\', "/");
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    let mut count = 0;
    for (path, text) in documents() {
        // Names stand in single backticks, none of which spans a line.
        let codes = text
            .lines()
            .flat_map(|line| line.split('`').skip(1).step_by(2));
        for test in codes.filter(|code| is_test(code)) {
            count += 1;
            let (module, name) = (
                test.split("::").next().unwrap(),
                test.rsplit("::").next().unwrap(),
            );
            let definition = format!("fn {name}");
            let there = sources.iter().any(|(file, source)| {
                file.split('/')
                    .any(|part| part.trim_end_matches(".rs") == module)
                    && between(source, &definition, '\n').any(|rest| rest.starts_with(['(', '<']))
            });
            assert!(there, "{test} in {}", path.display());
        }
    }
    assert!(count > 100, "only {count} tests were found");
}

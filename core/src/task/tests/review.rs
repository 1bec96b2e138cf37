//! What a task's function may do without being ended for it, and what it can't hang or break.

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{Either, join, join_all, select},
};
use serde_json::json;

use super::fixture::{Outside, World, of_one_tool};
use crate::{
    prelude::*,
    runtime::Runtime as _,
    store::{
        Commit, Item, Key, MemoryStore, Outcome, Page, Query, Store, StoreError,
        testing::{FaultStore, Operation},
    },
    task::Ran,
    testing::SimRuntime,
};

const SECOND: Duration = Duration::from_secs(1);

fn world(tool: Tool, store: impl Store, number: u32) -> World {
    let extension = Extension::builder("one", "One")
        .author("Example author")
        .description("One.")
        .summary("One.")
        .instructions("For tests.")
        .tool(tool)
        .build()
        .unwrap();
    World::of(extension, Outside::default(), store, number)
}

/// Lets others go on, once.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Runs the next job, at its time.
fn run_next(world: &World) -> Ran {
    let (at, job) = world.pup.background().take_next().unwrap();
    world.runtime.set_time(world.runtime.now().max(at));
    let run = world.pup.service().run_task(&job, None);
    world.runtime.run(run).unwrap()
}

#[test]
fn a_hundred_steps_at_once_are_as_good_as_one() {
    let world = of_one_tool(Tool::task("wide", async |task: TaskContext| {
        let steps = (0..100_u32).map(|number| {
            task.step("one of many", move |step| async move {
                step.sleep(SECOND).await;
                Ok(number)
            })
        });
        let done: Result<Vec<u32>, ToolError> = join_all(steps).await.into_iter().collect();
        Ok::<_, ToolError>(json!(done?.len()))
    }));
    let id = world.create("wide", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!(100));
}

#[test]
fn a_function_that_yields_is_replayed_in_the_same_order() {
    let world = of_one_tool(Tool::task("yield", async |task: TaskContext| {
        let first = async {
            task.step("a", |_| async { Ok(()) }).await?;
            task.step("after a", |_| async { Ok(()) }).await
        };
        let second = async {
            yield_once().await;
            task.step("b", |_| async { Ok(()) }).await
        };
        let (first, second) = join(first, second).await;
        first.and(second)?;
        task.sleep(SECOND).await?;
        Ok::<_, ToolError>(json!("done"))
    }));
    let id = world.create("yield", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!("done"));
}

#[test]
fn branches_that_hand_each_other_things_are_replayed_in_the_same_order() {
    use futures_util::future::join3;

    let world = of_one_tool(Tool::task("relay", async |task: TaskContext| {
        let (one, two) = (Mutex::new(false), Mutex::new(false));
        // Each looks before the one before it has set its flag, so a turn of its own is between them.
        let wait = async |flag: &Mutex<bool>| {
            while !*flag.lock().unwrap() {
                yield_once().await;
            }
        };
        let last = async {
            wait(&two).await;
            task.step("last", |_| async { Ok(()) }).await
        };
        let middle = async {
            wait(&one).await;
            *two.lock().unwrap() = true;
            Ok::<_, ToolError>(())
        };
        let first = async {
            for _ in 0..3 {
                yield_once().await;
            }
            *one.lock().unwrap() = true;
            task.step("first", |_| async { Ok(()) }).await?;
            task.step("second", |_| async { Ok(()) }).await
        };
        let (last, middle, first) = join3(last, middle, first).await;
        last.and(middle).and(first)?;
        task.sleep(SECOND).await?;
        Ok::<_, ToolError>(json!("done"))
    }));
    let id = world.create("relay", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!("done"));
}

#[test]
fn a_step_that_never_rests_keeps_its_lease() {
    let runtime = Arc::new(Mutex::new(None::<SimRuntime>));
    let works = Arc::new(AtomicU32::new(0));
    let (clock, begun) = (Arc::clone(&runtime), Arc::clone(&works));
    let tool = Tool::task("busy", move |task: TaskContext| {
        let (clock, begun) = (Arc::clone(&clock), Arc::clone(&begun));
        async move {
            task.step("computes", |_| {
                begun.fetch_add(1, Ordering::SeqCst);
                let clock = clock.lock().unwrap().clone().unwrap();
                async move {
                    for _ in 0..100 {
                        clock.advance(SECOND);
                        yield_once().await;
                    }
                    Ok(())
                }
            })
            .await?;
            Ok::<_, ToolError>(json!("done"))
        }
    });
    let world = of_one_tool(tool);
    *runtime.lock().unwrap() = Some(world.runtime.clone());
    let id = world.create("busy", json!({}), "c1");
    let (_, job) = world.pup.background().take_next().unwrap();
    let service = world.pup.service();
    let begun = world.runtime.now();
    let other = async {
        while world.runtime.now().since(begun) < Duration::from_secs(60) {
            yield_once().await;
        }
        service.run_task(&job, None).await.unwrap()
    };
    let (ran, other) = world.runtime.run(join(service.run_task(&job, None), other));
    assert!(matches!(other, Ran::Busy(_)), "{other:?}");
    assert_eq!(ran.unwrap(), Ran::Ended);
    assert_eq!(world.completed(&id), json!("done"));
    assert_eq!(works.load(Ordering::SeqCst), 1);
}

#[test]
fn a_long_replay_keeps_its_lease() {
    let runtime = Arc::new(Mutex::new(None::<SimRuntime>));
    let clock = Arc::clone(&runtime);
    let tool = Tool::task("slow", move |task: TaskContext| {
        let clock = Arc::clone(&clock);
        async move {
            for _ in 0..100 {
                task.step("quick", |_| async { Ok(()) }).await?;
                // Something that takes long to compute.
                clock.lock().unwrap().as_ref().unwrap().advance(SECOND);
            }
            task.sleep(SECOND).await?;
            Ok::<_, ToolError>(json!("done"))
        }
    });
    let store = FaultStore::new(MemoryStore::default());
    let world = world(tool, store.clone(), 0);
    *runtime.lock().unwrap() = Some(world.runtime.clone());
    let id = world.create("slow", json!({}), "c1");
    assert!(matches!(run_next(&world), Ran::Later(_)));
    let before = store.operations().len();
    assert_eq!(run_next(&world), Ran::Ended);
    let commits: Vec<_> = store.operations()[before..]
        .iter()
        .filter(|recorded| matches!(recorded.operation, Operation::Commit(_)))
        .map(|recorded| recorded.now)
        .collect();
    let longest = commits.windows(2).map(|two| two[1].since(two[0])).max();
    assert!(longest < Some(Duration::from_secs(45)), "{longest:?}");
    assert_eq!(world.completed(&id), json!("done"));
}

#[test]
fn a_journal_that_no_step_adds_to_has_its_limit_too() {
    // It fills while one run waits for something of its own, or from one pause to the next.
    for in_one_run in [200, 78] {
        let runtime = Arc::new(Mutex::new(None::<SimRuntime>));
        let clock = Arc::clone(&runtime);
        let world = of_one_tool(Tool::task("draws", move |task: TaskContext| {
            let clock = clock.lock().unwrap().clone().unwrap();
            async move {
                let mut drawn = 0;
                for round in 0..400 {
                    for _ in 0..220 {
                        drawn ^= task.random();
                    }
                    if round < in_one_run {
                        clock.sleep(Duration::from_millis(1)).await;
                    } else {
                        task.sleep(SECOND).await?;
                    }
                }
                Ok::<_, ToolError>(json!(drawn.to_string()))
            }
        }));
        *runtime.lock().unwrap() = Some(world.runtime.clone());
        let id = world.create("draws", json!({}), "c1");
        world.pup.run_tasks();
        let task = world.get(&id);
        assert_eq!(task["status"], "failed", "{task}");
        let message = task["statusMessage"].as_str().unwrap();
        assert!(message.contains("more than can be recorded"), "{message}");
    }
}

#[test]
fn code_that_waits_for_what_it_once_dropped_is_a_change() {
    let tool = |waits: bool| {
        Tool::task("tool", move |task: TaskContext| async move {
            let work = Box::pin(task.step("slow", |step| async move {
                step.sleep(Duration::from_secs(60)).await;
                Ok(())
            }));
            let alarm = Box::pin(task.sleep(Duration::from_secs(10)));
            if waits {
                let (done, woke) = join(work, alarm).await;
                done?;
                woke?;
            } else if let Either::Left((done, _)) = select(work, alarm).await {
                done?;
            }
            task.step("after", |step| async move {
                step.sleep(Duration::from_secs(100)).await;
                Ok(())
            })
            .await?;
            Ok::<_, ToolError>(json!("done"))
        })
    };
    let store = MemoryStore::default();
    let first = world(tool(false), store.clone(), 1);
    let id = first.create("tool", json!({}), "c1");
    // Its process dies in the last step.
    let (_, job) = first.pup.background().take_next().unwrap();
    let run = Box::pin(first.pup.service().run_task(&job, None));
    let death = Box::pin(first.runtime.sleep(Duration::from_secs(50)));
    first.runtime.run(async { drop(select(run, death).await) });
    let second = world(tool(true), store, 2);
    second
        .runtime
        .set_time(first.runtime.now() + Duration::from_secs(3_600));
    second.get(&id);
    second.pup.run_tasks();
    let task = second.get(&id);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(
        task["statusMessage"]
            .as_str()
            .unwrap()
            .contains("was changed")
    );
}

#[test]
fn a_pause_that_was_refused_stays_so_though_the_clock_is_set_back() {
    let world = of_one_tool(
        Tool::task("refused", async |task: TaskContext| {
            let refused = task.sleep(Duration::from_secs(90)).await.is_err();
            task.step("quick", |_| async { Ok(()) }).await?;
            task.step("slow", |step| async move {
                step.sleep(SECOND).await;
                Ok(())
            })
            .await?;
            Ok::<_, ToolError>(json!({ "refused": refused }))
        })
        .ttl(Duration::from_secs(90)),
    );
    let id = world.create("refused", json!({}), "c1");
    // A run dies in the second step, and the next has a clock that is an hour behind.
    let (_, job) = world.pup.background().take_next().unwrap();
    let mut run = Box::pin(world.pup.service().run_task(&job, None));
    assert!((&mut run).now_or_never().is_none());
    drop(run);
    let now = world.runtime.now().as_millis();
    world
        .runtime
        .set_time(Timestamp::from_millis(now - 3_600_000));
    world.get(&id);
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "refused": true }));
}

#[test]
fn an_operation_from_outside_is_refused_in_a_step() {
    let world = of_one_tool(Tool::task("nested", async |task: TaskContext| {
        let outer = Mutex::new(Some(Box::pin(task.sleep(SECOND))));
        let refused = task
            .step("waits", |_| {
                let pause = outer.lock().unwrap().take();
                async move {
                    Ok(match pause {
                        Some(pause) => pause.await.is_err(),
                        None => false,
                    })
                }
            })
            .await?;
        task.sleep(SECOND).await?;
        Ok::<_, ToolError>(json!({ "refused": refused }))
    }));
    let id = world.create("nested", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "refused": true }));
}

#[test]
fn a_result_that_can_not_be_read_back_fails_its_step() {
    let world = of_one_tool(Tool::task("nan", async |task: TaskContext| {
        let step = task.step("nan", |_| async { Ok(f64::NAN) }).await;
        Ok::<_, ToolError>(json!({ "failed": step.is_err_and(|error| !error.is_rejection()) }))
    }));
    let id = world.create("nan", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(
        world.completed(&id),
        json!({ "failed": true }),
        "{}",
        world.get(&id)
    );
}

/// A store in which a task is cancelled between the look at its head and at its journal.
#[derive(Clone)]
struct Meanwhile {
    store: MemoryStore,
    armed: Arc<AtomicBool>,
}

impl Store for Meanwhile {
    async fn get(&self, key: &Key, now: Timestamp) -> Result<Option<Item>, StoreError> {
        let name = key.name.as_str();
        if let Some((head, _)) = name.split_once("/journal/")
            && self.armed.swap(false, Ordering::SeqCst)
        {
            for name in [head, name] {
                let name = crate::store::Name::from_encoded(name).unwrap();
                let change = crate::store::Change {
                    name,
                    expect: crate::store::Expect::Any,
                    operation: crate::store::Operation::Delete,
                };
                let id = crate::store::Revision::new(now.as_millis().into());
                let mut commit = Commit::new(id, key.partition.clone());
                commit.push(change).unwrap();
                self.store.commit(&commit, now).await?;
            }
        }
        self.store.get(key, now).await
    }

    async fn commit(&self, commit: &Commit, now: Timestamp) -> Result<Outcome, StoreError> {
        self.store.commit(commit, now).await
    }

    async fn list(&self, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        self.store.list(query, now).await
    }
}

#[test]
fn a_task_that_ends_while_its_journal_is_read_is_no_error() {
    let store = Meanwhile {
        store: MemoryStore::default(),
        armed: Arc::default(),
    };
    let tool = Tool::task("large", async |task: TaskContext| {
        let _: String = task
            .step("large", |_| async { Ok("x".repeat(20_000)) })
            .await?;
        task.sleep(SECOND).await?;
        Ok::<_, ToolError>(())
    });
    let world = world(tool, store.clone(), 0);
    world.create("large", json!({}), "c1");
    assert!(matches!(run_next(&world), Ran::Later(_)));
    store.armed.store(true, Ordering::SeqCst);
    assert_eq!(run_next(&world), Ran::Ended);
    assert!(!store.armed.load(Ordering::SeqCst));
}

#[test]
fn a_run_that_was_taken_over_says_that_another_is_at_work() {
    let world = of_one_tool(Tool::task("slow", async |task: TaskContext| {
        task.step("slow", |step| async move {
            step.sleep(Duration::from_secs(10)).await;
            Ok(())
        })
        .await?;
        Ok::<_, ToolError>(json!("done"))
    }));
    let id = world.create("slow", json!({}), "c1");
    let (_, job) = world.pup.background().take_next().unwrap();
    let service = world.pup.service();
    let other = async {
        world.runtime.sleep(Duration::from_secs(5)).await;
        // The machine slept, or its clock was set.
        let later = world.runtime.now() + Duration::from_secs(60);
        let take_over = service.run_task(&job, None);
        let mut take_over = Box::pin(async {
            world.runtime.set_time(later);
            take_over.await
        });
        take_over.as_mut().await.unwrap()
    };
    let (ran, other) = world
        .runtime
        .run(join(service.run_task(&job, None), Box::pin(other)));
    assert_eq!(other, Ran::Ended);
    assert!(matches!(ran.unwrap(), Ran::Busy(_)));
    assert_eq!(world.completed(&id), json!("done"));
}

#[test]
fn a_state_that_outlives_its_step_is_told_that_its_writes_would_be_lost() {
    let tool = Tool::task("leak", async |task: TaskContext| {
        let leaked = Mutex::new(None);
        task.step("leak", |step| {
            *leaked.lock().unwrap() = Some(step.state());
            async move { Ok(()) }
        })
        .await?;
        let late = leaked
            .lock()
            .unwrap()
            .take()
            .map(|state| state.add("count", 1));
        Ok::<_, ToolError>(json!({ "refused": late.is_some_and(|late| late.is_err()) }))
    });
    let world = of_one_tool(tool);
    let id = world.create("leak", json!({}), "c1");
    world.pup.run_tasks();
    assert_eq!(world.completed(&id), json!({ "refused": true }));
}

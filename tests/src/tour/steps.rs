//! The steps, in the order in which a newcomer meets them.

use std::time::{SystemTime, UNIX_EPOCH};

use pup_extension_cli::{
    Answer, CallOptions, Client, EventOptions, Outcome, Secret, SignedRequest, UserRequest,
};
use serde_json::{Value, json};

use super::{
    report::{Report, Seen},
    tasks,
};
use crate::place::{Place, Result, Secrets, Server};

/// Visits everything.
pub(super) async fn all(place: &impl Place, report: &mut Report) -> Result<()> {
    let first = new_secret()?;
    let secrets = Secrets {
        current: first.clone(),
        previous: None,
    };
    let server = place.serve(&secrets).await?;
    let pup = server.client(&first)?;
    let mut answered = Vec::new();

    report.part("The manifest and the challenge");
    manifest(&pup, report).await?;
    challenge(&pup, report, &mut answered).await?;

    report.part("Discovery");
    discovery(&pup, report, &mut answered).await?;

    report.part("Calls");
    calls(&pup, report, &mut answered).await?;

    report.part("Forgeries");
    forgeries(&pup, &server, report).await?;

    report.part("Once");
    once(&pup, report, &mut answered).await?;

    report.part("Events");
    events(&pup, report).await?;

    report.part("Replays of everything that was answered");
    replays(&pup, report, &answered).await?;

    report.part("A kill, and a restart on the same database");
    let server = kill(place, server, &secrets, report).await?;

    report.part("A task that takes its time");
    let server = tasks::baking(place, server, &secrets, report).await?;

    report.part("A task that asks");
    let server = tasks::asking(place, server, &secrets, report).await?;

    report.part("A rotated secret");
    rotation(place, server, first, report).await
}

async fn manifest(pup: &Client, report: &mut Report) -> Result<()> {
    let manifest = pup.manifest().await?.json()?;
    report.step(
        "the manifest is served, and names its tools and endpoints",
        expect(
            manifest["id"] == "snack_club"
                && manifest["endpoints"]["mcp"] == format!("{}/mcp", pup.base_url()),
            || {
                format!(
                    "snack_club {}, tools {}",
                    manifest["protocolVersion"],
                    names(&manifest["tools"])
                )
            },
            &manifest,
        ),
    );
    Ok(())
}

async fn challenge(
    pup: &Client,
    report: &mut Report,
    answered: &mut Vec<SignedRequest>,
) -> Result<()> {
    let answer = pup.challenge("a signed text").await?;
    let echoed = answer.challenge();
    report.step(
        "a signed challenge is echoed",
        expect(
            echoed.as_deref().ok() == Some("a signed text"),
            || "\"a signed text\" came back".into(),
            &status(&answer),
        ),
    );
    answered.push(answer.request().clone());
    Ok(())
}

async fn discovery(
    pup: &Client,
    report: &mut Report,
    answered: &mut Vec<SignedRequest>,
) -> Result<()> {
    let answer = pup.discover().await?;
    let result = Value::Object(answer.result()?);
    report.step(
        "server/discover names the protocol version",
        expect(
            result["supportedVersions"] == json!(["2026-07-28"]),
            || "2026-07-28".into(),
            &result,
        ),
    );
    answered.push(answer.request().clone());

    let answer = pup.list_tools().await?;
    let listed = Value::Object(answer.result()?);
    let manifest = pup.manifest().await?.json()?;
    report.step(
        "tools/list has the manifest's tools, each with its schema",
        expect(
            names(&listed["tools"]) == names(&manifest["tools"])
                && listed["tools"].as_array().is_some_and(|tools| {
                    tools
                        .iter()
                        .all(|tool| tool["inputSchema"]["type"] == "object")
                }),
            || names(&listed["tools"]),
            &listed,
        ),
    );
    answered.push(answer.request().clone());
    Ok(())
}

async fn calls(pup: &Client, report: &mut Report, answered: &mut Vec<SignedRequest>) -> Result<()> {
    let greeted = pup
        .to_builder()
        .setting("greeting", "Hello, snackers!")
        .build()?;
    let answer = greeted
        .call("snack_menu", json!({}), CallOptions::new())
        .await?;
    let menu = structured(&answer);
    report.step(
        "a read: the menu, with the installation's greeting and a button",
        expect(
            menu["choices"] == json!(["popcorn", "fruit", "pretzels"])
                && menu["greeting"] == "Hello, snackers!"
                && menu["pup"]["actions"][0]["tool"] == "save_snack",
            || format!("choices {}, counts {}", menu["choices"], menu["counts"]),
            &menu,
        ),
    );
    answered.push(answer.request().clone());

    let answer = pup
        .call(
            "save_snack",
            json!({ "snack": "fruit" }),
            CallOptions::new(),
        )
        .await?;
    report.step(
        "a write: a preference is saved",
        expect(
            structured(&answer) == json!({ "saved": "fruit" }),
            || structured(&answer).to_string(),
            &status(&answer),
        ),
    );
    answered.push(answer.request().clone());

    let answer = pup
        .call(
            "save_snack",
            json!({ "snack": "gravel" }),
            CallOptions::new(),
        )
        .await?;
    report.step(
        "wrong arguments are refused by name, and nothing runs",
        expect(
            code(&answer) == Some(-32602) && answer.status() == 400,
            || message(&answer),
            &status(&answer),
        ),
    );

    let request = UserRequest {
        message_id: "message-1".into(),
        channel_id: "channel-2".into(),
        content: "Quote me!".into(),
    };
    let answer = pup
        .call(
            "quote_request",
            json!({}),
            CallOptions::new().user_request(request.clone()),
        )
        .await?;
    report.step(
        "a tool that declares `userRequest` is given the asker's message",
        expect(
            structured(&answer)["content"] == "Quote me!",
            || structured(&answer).to_string(),
            &status(&answer),
        ),
    );
    answered.push(answer.request().clone());

    let answer = pup
        .call("forget_snack", json!({}), CallOptions::new())
        .await?;
    report.step(
        "the preference is deleted",
        expect(
            structured(&answer) == json!({ "forgotten": true }),
            || structured(&answer).to_string(),
            &status(&answer),
        ),
    );
    answered.push(answer.request().clone());
    Ok(())
}

async fn forgeries(pup: &Client, server: &Server, report: &mut Report) -> Result<()> {
    let mut tampered = call(
        pup,
        "save_snack",
        json!({ "snack": "fruit" }),
        CallOptions::new(),
    )?;
    let body = String::from_utf8(tampered.body().to_vec())?.replace("fruit", "pretzels");
    tampered.set_body(body);
    let answer = pup.send(&tampered).await?;
    report.step(
        "a body that was changed after it was signed is refused",
        expect(answer.status() == 401, || status(&answer), &status(&answer)),
    );

    let stranger = server.client(&new_secret()?)?;
    let answer = stranger.challenge("let me in").await?;
    report.step(
        "a signature under another secret is refused",
        expect(answer.status() == 401, || status(&answer), &status(&answer)),
    );

    for (promise, skew) in [
        ("an old signature is refused", -301),
        ("one from the future is refused", 310),
    ] {
        let answer = pup
            .to_builder()
            .clock_skew_secs(skew)
            .build()?
            .challenge("late")
            .await?;
        report.step(
            promise,
            expect(answer.status() == 401, || status(&answer), &status(&answer)),
        );
    }
    Ok(())
}

async fn once(pup: &Client, report: &mut Report, answered: &mut Vec<SignedRequest>) -> Result<()> {
    let before = count(pup, "popcorn").await?;
    let snack = json!({ "snack": "popcorn" });
    let first = pup
        .call(
            "save_snack",
            snack.clone(),
            CallOptions::new().call_id("tour-retry"),
        )
        .await?;
    let again = pup
        .call(
            "save_snack",
            snack.clone(),
            CallOptions::new().call_id("tour-retry"),
        )
        .await?;
    report.step(
        "a call that is sent again under its callId has the same answer and no second effect",
        expect(
            structured(&first) == structured(&again) && count(pup, "popcorn").await? == before + 1,
            || format!("both {}, counted once", structured(&again)),
            &status(&again),
        ),
    );
    answered.extend([first.request().clone(), again.request().clone()]);

    let pretzels = json!({ "snack": "pretzels" });
    let reused = pup
        .call(
            "save_snack",
            pretzels,
            CallOptions::new().call_id("tour-retry"),
        )
        .await?;
    let other = pup.to_builder().asker("another-member").build()?;
    let stolen = other
        .call(
            "save_snack",
            snack.clone(),
            CallOptions::new().call_id("tour-retry"),
        )
        .await?;
    report.step(
        "the same callId with other arguments, or from another member, is refused",
        expect(
            code(&reused).is_some()
                && code(&reused) == code(&stolen)
                && count(pup, "pretzels").await? == 0,
            || message(&reused),
            &format!("{} and {}", status(&reused), status(&stolen)),
        ),
    );

    let before = count(pup, "popcorn").await?;
    let duplicate = CallOptions::new().call_id("tour-race");
    let (answers, equal) = race(pup, &snack, &duplicate).await?;
    report.step(
        "64 duplicates at once: one effect, one answer for all",
        expect(
            equal == 64 && count(pup, "popcorn").await? == before + 1,
            || format!("{equal} equal answers, counted once"),
            &format!("{equal} of 64 equal"),
        ),
    );
    answered.extend(answers.iter().map(|answer| answer.request().clone()));

    let before = count(pup, "popcorn").await?;
    let (_, saved) = race(pup, &snack, &CallOptions::new()).await?;
    let after = count(pup, "popcorn").await?;
    report.step(
        "64 different calls at once on one counter: none is lost",
        expect(
            saved == 64 && after == before + 64,
            || format!("the count stands at {after}"),
            &format!("{saved} of 64 saved"),
        ),
    );
    Ok(())
}

/// Saves a snack 64 times at once: the answers, and how many of them say that popcorn was saved.
async fn race(pup: &Client, snack: &Value, options: &CallOptions) -> Result<(Vec<Answer>, usize)> {
    let mut racing = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (pup, snack, options) = (pup.clone(), snack.clone(), options.clone());
        racing.spawn(async move { pup.call("save_snack", snack, options).await });
    }
    let answers: Vec<Answer> = racing
        .join_all()
        .await
        .into_iter()
        .collect::<std::result::Result<_, _>>()?;
    let saved = answers
        .iter()
        .filter(|answer| structured(answer) == json!({ "saved": "popcorn" }))
        .count();
    Ok((answers, saved))
}

async fn events(pup: &Client, report: &mut Report) -> Result<()> {
    let delivery = EventOptions::new().delivery_id("tour-delivery");
    let first = pup
        .event("member.joined", "member-7", delivery.clone())
        .await?;
    let changed = pup
        .to_builder()
        .setting("greeting", "Another greeting")
        .build()?;
    let again = changed.event("member.joined", "member-7", delivery).await?;
    let menu = menu(pup).await?;
    report.step(
        "a member is welcomed; a retried delivery has the same bytes and no second effect",
        expect(
            first.status() == 200 && first.body() == again.body() && menu["welcomed"] == 1,
            || {
                first
                    .json()
                    .map(|json| json.to_string())
                    .unwrap_or_default()
            },
            &format!(
                "{} and {}, welcomed {}",
                status(&first),
                status(&again),
                menu["welcomed"]
            ),
        ),
    );
    let other = pup
        .event(
            "member.joined",
            "member-8",
            EventOptions::new().delivery_id("tour-delivery"),
        )
        .await?;
    report.step(
        "the same delivery id with another event is refused",
        expect(other.status() == 409, || status(&other), &status(&other)),
    );
    let unknown = pup
        .event("member.danced", "member-7", EventOptions::new())
        .await?;
    report.step(
        "an event that nobody knows is answered, not failed",
        expect(
            unknown.status() == 200 && unknown.json()? == json!({}),
            || "{}".into(),
            &status(&unknown),
        ),
    );
    Ok(())
}

async fn replays(pup: &Client, report: &mut Report, answered: &[SignedRequest]) -> Result<()> {
    let mut refused = 0;
    for request in answered {
        refused += usize::from(pup.send(request).await?.status() == 409);
    }
    report.step(
        "each is refused, byte for byte the same as before",
        expect(
            refused == answered.len(),
            || format!("{refused} of {refused} answered 409"),
            &format!("{refused} of {}", answered.len()),
        ),
    );
    Ok(())
}

/// Kills the server in the middle of a load, and sends the load again as pup would.
async fn kill(
    place: &impl Place,
    server: Server,
    secrets: &Secrets,
    report: &mut Report,
) -> Result<Server> {
    const CALLS: usize = 40;
    const AT_ONCE: usize = 8;
    let pup = server.client(&secrets.current)?;
    let before = count(&pup, "pretzels").await?;
    // Of bounded length, so that the load can't get far ahead of who counts its answers: some of it is always left.
    let (answered, mut answers) = tokio::sync::mpsc::channel(AT_ONCE);
    for first in 0..AT_ONCE {
        let (pup, answered) = (pup.clone(), answered.clone());
        tokio::spawn(async move {
            for number in (first..CALLS).step_by(AT_ONCE) {
                let options = CallOptions::new().call_id(format!("tour-kill-{number}"));
                let answer = pup
                    .call("save_snack", json!({ "snack": "pretzels" }), options)
                    .await;
                if answer.is_ok() && answered.send(()).await.is_err() {
                    return;
                }
            }
        });
    }
    drop(answered);
    let mut acknowledged = 0;
    while acknowledged < CALLS / 2 && answers.recv().await.is_some() {
        acknowledged += 1;
    }
    server.kill();
    while answers.recv().await.is_some() {
        acknowledged += 1;
    }

    let server = place.serve(secrets).await?;
    let pup = server.client(&secrets.current)?;
    let mut saved = 0;
    for number in 0..CALLS {
        let name = format!("tour-kill-{number}");
        // A call that the killed process was running is taken over when its lease has run out.
        for _ in 0..4 {
            let answer = pup
                .call(
                    "save_snack",
                    json!({ "snack": "pretzels" }),
                    CallOptions::new().call_id(&*name),
                )
                .await?;
            if structured(&answer) == json!({ "saved": "pretzels" }) {
                saved += 1;
                break;
            }
        }
    }
    let counted = count(&pup, "pretzels").await? - before;
    report.step(
        "every call stands exactly once after its retry",
        expect(
            saved == CALLS && counted == CALLS as u64,
            || format!("{CALLS} calls, {acknowledged} of them answered before the kill; counted {counted}"),
            &format!("{saved} of {CALLS} answered, counted {counted}"),
        ),
    );
    Ok(server)
}

async fn rotation(
    place: &impl Place,
    server: Server,
    first: Secret,
    report: &mut Report,
) -> Result<()> {
    drop(server);
    let second = new_secret()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();

    let during = Secrets {
        current: second.clone(),
        previous: Some((first.clone(), now + 600)),
    };
    let server = place.serve(&during).await?;
    let new = server.client(&second)?.challenge("new").await?;
    let old = server.client(&first)?.challenge("old").await?;
    report.step(
        "during the overlap both secrets are accepted",
        expect(
            new.status() == 200 && old.status() == 200,
            || "200 and 200".into(),
            &format!("{} and {}", status(&new), status(&old)),
        ),
    );
    drop(server);

    let after = Secrets {
        current: second.clone(),
        previous: Some((first.clone(), now - 1)),
    };
    let server = place.serve(&after).await?;
    let new = server.client(&second)?.challenge("new").await?;
    let old = server.client(&first)?.challenge("old").await?;
    report.step(
        "after it the old one is refused",
        expect(
            new.status() == 200 && old.status() == 401,
            || "200 and 401".into(),
            &format!("{} and {}", status(&new), status(&old)),
        ),
    );
    Ok(())
}

fn new_secret() -> Result<Secret> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::from_bytes(&bytes)?)
}

fn call(pup: &Client, tool: &str, arguments: Value, options: CallOptions) -> Result<SignedRequest> {
    Ok(pup.call_request(tool, arguments, options)?)
}

pub(super) async fn menu(pup: &Client) -> Result<Value> {
    let answer = pup
        .call("snack_menu", json!({}), CallOptions::new())
        .await?;
    Ok(structured(&answer))
}

async fn count(pup: &Client, snack: &str) -> Result<u64> {
    let menu = menu(pup).await?;
    menu["counts"][snack]
        .as_u64()
        .ok_or_else(|| format!("the menu has no count of {snack}").into())
}

/// The structured content of an answer; null when it has none.
fn structured(answer: &Answer) -> Value {
    match answer.outcome() {
        Ok(Outcome::Complete(result)) => result.structured().cloned().unwrap_or_default(),
        _ => Value::Null,
    }
}

pub(super) fn code(answer: &Answer) -> Option<i64> {
    answer.json().ok()?["error"]["code"].as_i64()
}

pub(super) fn message(answer: &Answer) -> String {
    let message = answer
        .json()
        .ok()
        .and_then(|json| json["error"]["message"].as_str().map(str::to_owned));
    format!("{}: {}", status(answer), message.unwrap_or_default())
}

pub(super) fn status(answer: &Answer) -> String {
    format!("HTTP {}", answer.status().as_u16())
}

fn names(tools: &Value) -> String {
    let mut names: Vec<&str> = tools
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    names.sort_unstable();
    names.join(", ")
}

pub(super) fn expect(
    held: bool,
    seen: impl FnOnce() -> String,
    got: &impl std::fmt::Display,
) -> Seen {
    if held {
        Ok(seen())
    } else {
        Err(format!("got {got}"))
    }
}

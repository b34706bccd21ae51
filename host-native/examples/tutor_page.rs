//! A loop with callbacks, whose steps appear on a web page as they happen.
//!
//! `cargo run --example tutor_page` prints an address for the browser. It needs neither network nor key: a scripted
//! model in this process answers. The page requests `/events`, and each callback becomes one server-sent event.

use std::{convert::Infallible, error::Error, future::ready};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Frame, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, sync::mpsc, task};
use windlass::{
    Agent, Tool,
    core::uuid_v4,
    model_server::{ModelServer, Script},
};
use windlass_callback_loop::{CallbackLoop, LoopEvent, Preset};

const SCRIPT: &str = r#"{ "exchanges": [
    { "respond": { "content": [
        { "type": "text", "text": "A tree is a graph without cycles, so graphs come first." },
        { "type": "tool_use", "name": "add_concept", "input": { "name": "Graphs" } },
        { "type": "tool_use", "name": "add_concept", "input": { "name": "Trees" } }
    ] } },
    { "respond": "Two concepts: first graphs, then trees." }
] }"#;

const PAGE: &str = r#"<!doctype html>
<meta charset="utf-8">
<title>Tutor</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
  li { margin: .4rem 0; } .tool_call, .tool_result { font-family: ui-monospace, monospace; }
  .failed { color: #b00020; }
</style>
<h1>Tutor</h1>
<p><label><input type="checkbox" id="small"> small mode</label> <button id="start">Teach me trees</button></p>
<ol id="steps"></ol>
<script>
  const steps = document.getElementById('steps');
  const show = (kind, text) => {
    const line = steps.appendChild(document.createElement('li'));
    line.className = kind;
    line.textContent = text;
  };
  document.getElementById('start').onclick = () => {
    steps.replaceChildren();
    const events = new EventSource('/events?small=' + document.getElementById('small').checked);
    const on = (kind, text) => events.addEventListener(kind, (event) => show(kind, text(JSON.parse(event.data))));
    on('agent_reasoning', ({ agent, text }) => `${agent}: ${text}`);
    on('tool_call', ({ tool, input }) => `${tool} ${JSON.stringify(input)}`);
    on('tool_result', ({ tool, summary }) => `${tool} → ${summary}`);
    on('failed', (message) => message);
    events.addEventListener('done', () => { events.close(); document.body.dataset.done = 'true'; });
    events.onerror = () => events.close();
  };
</script>
"#;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Concept {
    name: String,
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    task::LocalSet::new().run_until(serve(listener)).await?;
    Ok(())
}

/// Serves pages until the listener fails.
pub(crate) async fn serve(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (connection, _) = listener.accept().await?;
        let answers = service_fn(|request| ready(Ok::<_, Infallible>(answer(&request))));
        // A disconnected page is no reason to stop.
        task::spawn_local(
            http1::Builder::new().serve_connection(TokioIo::new(connection), answers),
        );
    }
}

fn answer(request: &Request<Incoming>) -> Response<Body> {
    let small = request.uri().query() == Some("small=true");
    let (status, kind, body) = match request.uri().path() {
        "/" => (StatusCode::OK, "text/html", whole(PAGE)),
        "/events" => (StatusCode::OK, "text/event-stream", events(small)),
        _ => (StatusCode::NOT_FOUND, "text/plain", whole("Nothing here.")),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn whole(text: &'static str) -> Body {
    Full::new(Bytes::from_static(text.as_bytes())).boxed_unsync()
}

/// One run of the loop, as the events of a page.
fn events(small: bool) -> Body {
    let (page, events) = mpsc::unbounded_channel();
    task::spawn_local(async move {
        let send = |text: String| {
            // The page is gone; the loop ends by itself.
            let _ = page.send(text);
        };
        let agent = Preset::Topic.name();
        if let Err(error) = teach(small, |event| send(event.to_sse(agent))).await {
            let message = serde_json::Value::from(error.to_string());
            send(format!("event: failed\ndata: {message}\n\n"));
        }
        send("event: done\ndata: null\n\n".to_owned());
    });
    let events = stream::unfold(events, |mut events| async {
        Some((events.recv().await?, events))
    });
    StreamBody::new(events.map(|event| Ok(Frame::data(Bytes::from(event))))).boxed_unsync()
}

/// The loop: a system prompt, a message, a tool, and a callback for each step.
async fn teach(small: bool, on_event: impl FnMut(&LoopEvent)) -> Result<(), Box<dyn Error>> {
    let model = ModelServer::start(Script::parse(SCRIPT)?)?;
    let add_concept = Tool::new(
        "add_concept",
        "Adds a concept",
        |concept: Concept| async move { format!("{} added", concept.name) },
    );
    // With `.api_key_from_env()?` instead of the address, it uses a real model.
    let agent = Agent::builder()
        .base_url(model.url())
        .tool(add_concept)
        .build()?;
    let (host, mut messages) = agent.host();
    let nobody_reads = task::spawn(async move { while messages.recv().await.is_some() {} });

    CallbackLoop::new("You are a patient tutor.", "Teach me trees.")
        .preset(Preset::Topic)
        .small(small)
        .on_event(on_event)
        .run_on(&host, &agent.spec(), uuid_v4([7; 16]), [7; 32])
        .await?;
    drop(host);
    nobody_reads.await?;
    model.verify()?;
    Ok(())
}

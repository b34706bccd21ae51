//! Model servers on loopback that keep a session waiting.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use windlass::{
    Agent, Message,
    core::{
        message::SystemMessage,
        spec::{ResponseLimits, RetryPolicy},
    },
};

use crate::support::messages;

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
const ANSWER: &str = concat!(
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Here.\"}}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);

/// A server whose first exchange goes as `first` says, and whose second one is answered.
fn server(first: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1 << 16]);
        let silent = thread::spawn(move || first(stream));
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1 << 16]);
        stream
            .write_all(format!("{HEAD}{ANSWER}").as_bytes())
            .unwrap();
        drop(stream);
        silent.join().unwrap();
    });
    url
}

/// Signs of life as long as anybody listens.
fn pings(mut stream: TcpStream) {
    let mut sent = stream.write_all(HEAD.as_bytes());
    while sent.is_ok() {
        thread::yield_now();
        sent = stream.write_all(PING.as_bytes());
    }
}

/// Nothing at all as long as anybody listens.
fn nothing(mut stream: TcpStream) {
    while matches!(stream.read(&mut [0; 1 << 16]), Ok(1..)) {}
}

#[tokio::test]
async fn loop_9_a_server_that_only_says_that_it_is_there_is_asked_again() {
    for first in [pings, nothing] {
        let limits = ResponseLimits {
            idle_ms: 300,
            ..ResponseLimits::default()
        };
        let retry = RetryPolicy {
            base_ms: 1,
            ..RetryPolicy::default()
        };
        let agent = Agent::builder()
            .base_url(server(first))
            .api_key("sk-test")
            .retry(retry)
            .response_limits(limits)
            .build()
            .unwrap();
        let mut run = agent.query("Hi");
        let said = messages(&mut run).await;
        let retries: Vec<&str> = (said.iter())
            .filter_map(|message| match message {
                Message::System(SystemMessage::ApiRetry(retry)) => Some(retry.message.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(retries.len(), 1, "{retries:?}");
        assert!(retries[0].contains("300 milliseconds"), "{retries:?}");
        let Some(Message::Result(result)) = said.last() else {
            panic!("{said:?}");
        };
        assert_eq!(result.result.as_deref(), Some("Here."));
    }
}

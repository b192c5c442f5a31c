//! Messages as lines over a pair of byte streams: the stdio transport, apart from the process at its other end.

use std::collections::BTreeSet;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::clock::{Span, Timestamp};

use super::{
    Fault, Run, Seen,
    message::{self, Answer, Message, Request},
};

/// Lines that are no messages, as a banner; more is a program that talks to somebody else.
const MAX_NOISE: usize = 100;
/// How much of a program's standard error is passed on; the rest is read and dropped, so that it never blocks.
const MAX_STDERR: usize = 64 << 10;
/// How long a program that closed its output may still explain itself on standard error.
const LAST_WORDS: Span = Span::seconds(1);

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// One end of a conversation in lines.
pub(super) struct Lines {
    output: Option<Output>,
    input: Input,
    received: Vec<u8>,
    errors: Option<Errors>,
    next_id: u64,
    /// Requests whose answer no longer matters; a late one is no fault.
    abandoned: BTreeSet<u64>,
    noise: usize,
    /// Whether the newer era was found out, in which a server asks nothing.
    pub(super) sessionless: bool,
}

struct Errors {
    input: Input,
    line: Vec<u8>,
    shown: usize,
}

impl Lines {
    pub(super) fn new(output: Output, input: Input, errors: Option<Input>) -> Self {
        Self {
            output: Some(output),
            input,
            received: Vec::new(),
            errors: errors.map(|input| Errors { input, line: Vec::new(), shown: 0 }),
            next_id: 1,
            abandoned: BTreeSet::new(),
            noise: 0,
            sessionless: false,
        }
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn call(&mut self, run: &mut Run<'_>, request: Request<'_>) -> Result<Answer, Fault> {
        let (method, limit) = (request.method(), run.patience());
        let id = self.send(run, request).await?;
        self.receive(run, &[id], method, limit).await.map(|(_, answer)| answer)
    }

    /// Sends a request and gives its id.
    pub(super) async fn send(&mut self, run: &Run<'_>, request: Request<'_>) -> Result<u64, Fault> {
        let id = self.next_id;
        self.next_id += 1;
        self.write(run, request.into_line(Some(id))).await?;
        Ok(id)
    }

    /// Sends a notification.
    pub(super) async fn notify(&mut self, run: &Run<'_>, notification: Request<'_>) -> Result<(), Fault> {
        self.write(run, notification.into_line(None)).await
    }

    /// Says that the answer to `id` is of no interest any more.
    pub(super) fn abandon(&mut self, id: u64) {
        self.abandoned.insert(id);
    }

    /// Waits for the answer to any request in `waiting`; `method` names it in a fault.
    pub(super) async fn receive(
        &mut self,
        run: &mut Run<'_>,
        waiting: &[u64],
        method: &'static str,
        limit: Span,
    ) -> Result<(u64, Answer), Fault> {
        let ends = run.clock.now() + limit;
        loop {
            let line = self.line(run, ends, method, limit).await?;
            let text = std::str::from_utf8(&line).map_err(|_| Fault::NotUtf8)?.trim_ascii();
            if !text.starts_with(['{', '[']) {
                if !text.is_empty() {
                    self.noise += 1;
                    (run.watch)(Seen::Noise(text));
                }
                if self.noise > MAX_NOISE {
                    return Err(Fault::Noise(MAX_NOISE));
                }
                continue;
            }
            match Message::parse(text)? {
                Message::Answer { id: Some(id), answer } => match id.parse::<u64>() {
                    Ok(id) if waiting.contains(&id) => return Ok((id, answer)),
                    Ok(id) if self.abandoned.remove(&id) => {}
                    _ => return Err(Fault::UnknownId(super::fault::quote(id))),
                },
                Message::Answer { id: None, answer: Err(error) } => return Err(error.fault(method)),
                Message::Answer { id: None, answer: Ok(_) } => return Err(Fault::UnknownId("none".to_owned())),
                Message::Request { method, .. } if self.sessionless => {
                    return Err(Fault::Asked(super::fault::quote(&method)));
                }
                Message::Request { id, method } => self.write(run, message::reply(id, &method)).await?,
                Message::Notification { method } => run.changed |= message::says_changed(&method),
            }
        }
    }

    /// Closes the way to the server, which is how it is asked to end.
    pub(super) fn close(&mut self) {
        self.output = None;
    }

    async fn write(&mut self, run: &Run<'_>, mut line: Vec<u8>) -> Result<(), Fault> {
        let Some(output) = &mut self.output else { return Err(Fault::Deaf) };
        line.push(b'\n');
        let ends = (run.clock.now() + run.options.request).min(run.ends);
        let write = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        tokio::select! {
            // A program that has ended can't read either; that it ended is found by reading, and is the better reason.
            done = write => done.or(Ok(())),
            () = run.clock.until(ends) => Err(Fault::Deaf),
        }
    }

    async fn line(
        &mut self,
        run: &mut Run<'_>,
        ends: Timestamp,
        method: &'static str,
        limit: Span,
    ) -> Result<Vec<u8>, Fault> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.received[searched..].iter().position(|b| *b == b'\n') {
                let rest = self.received.split_off(searched + end + 1);
                return Ok(std::mem::replace(&mut self.received, rest));
            }
            searched = self.received.len();
            let sum = run.ends;
            tokio::select! {
                biased;
                // `read_buf` loses nothing when another branch wins.
                count = self.input.read_buf(&mut self.received) => match count {
                    Ok(n) if n > 0 => run.receive(n)?,
                    _ if !self.received.is_empty() => return Ok(std::mem::take(&mut self.received)),
                    _ => {
                        self.last_words(run).await;
                        return Err(Fault::Ended(method));
                    }
                },
                () = Errors::pass_on(&mut self.errors, run.watch) => {}
                () = run.clock.until(ends.min(sum)) => return Err(run.too_late(method, limit)),
            }
        }
    }

    async fn last_words(&mut self, run: &mut Run<'_>) {
        let ends = run.clock.now() + LAST_WORDS;
        while self.errors.is_some() {
            tokio::select! {
                biased;
                () = Errors::pass_on(&mut self.errors, run.watch) => {}
                () = run.clock.until(ends) => return,
            }
        }
    }
}

impl Errors {
    /// Passes on what has come in; pends for ever once the stream has ended.
    async fn pass_on(this: &mut Option<Self>, watch: &mut super::Watch<'_>) {
        let Some(errors) = this else { return std::future::pending().await };
        let mut chunk = [0; 4096];
        let count = errors.input.read(&mut chunk).await.unwrap_or(0);
        if count == 0 {
            errors.show(watch);
            *this = None;
            return;
        }
        for byte in &chunk[..count] {
            match byte {
                b'\n' => errors.show(watch),
                byte if errors.line.len() < MAX_STDERR => errors.line.push(*byte),
                _ => {}
            }
        }
    }

    fn show(&mut self, watch: &mut super::Watch<'_>) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        if text.trim_ascii().is_empty() || self.shown > MAX_STDERR {
            return;
        }
        self.shown += line.len();
        watch(Seen::Stderr(if self.shown > MAX_STDERR { "… (more is not shown)" } else { &text }));
    }
}

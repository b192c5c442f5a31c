//! Opening a server: which era it is of, what it offers; and closing it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{clock::Span, descriptor::MAX_CAPTURE_BYTES};

use super::{
    Fault, Options, Protocol, Run, Seen, Target,
    fault::quote,
    http::Http,
    lines::Lines,
    lists::Harvest,
    message::{Answer, Request, RpcError},
    process::Program,
};

/// Bytes read in all. Four times what a capture holds leaves room for envelopes and for walking the lists again.
const MAX_RECEIVED: usize = 4 * MAX_CAPTURE_BYTES;

/// The way to the server.
pub(super) enum Link {
    Lines(Lines),
    Http(Http),
}

/// What the server said when it was opened.
pub(super) struct Opened {
    pub(super) version: Protocol,
    pub(super) offers: Offers,
    pub(super) server_info: Option<Box<RawValue>>,
    pub(super) instructions: Option<Box<RawValue>>,
}

/// Which lists a server says it has; whatever value a capability has, it is declared.
#[derive(Deserialize)]
pub(super) struct Offers {
    #[serde(default)]
    pub(super) tools: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) prompts: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) resources: Option<Box<RawValue>>,
}

/// Opens the target, walks its lists, closes it.
pub(super) async fn run(target: &Target, run: &mut Run<'_>, harvest: &mut Harvest) -> Result<(), Fault> {
    match target {
        Target::Stdio { command, args, vars, directory } => {
            let start = || Program::start(command, args, vars, directory.as_deref());
            let (mut program, lines) = start()?;
            let mut link = Link::Lines(lines);
            let opened = match link.open(run).await {
                // Some servers of the older era end at anything but `initialize`. They get it in a second life.
                Err(Fault::Ended("server/discover")) if run.options.protocol.is_none() => {
                    let (again, lines) = start()?;
                    program = again;
                    link = Link::Lines(lines);
                    link.initialize(run, Protocol::V2025_11_25).await
                }
                outcome => outcome,
            };
            let outcome = match opened {
                Ok(opened) => link.walk(run, opened, harvest).await,
                Err(fault) => Err(fault),
            };
            if let Link::Lines(lines) = &mut link {
                lines.close();
            }
            program.stop(run.clock).await;
            outcome
        }
        Target::Http { url, headers } => {
            let mut link = Link::Http(Http::new(url.clone(), headers.clone())?);
            let opened = link.open(run).await?;
            let outcome = link.walk(run, opened, harvest).await;
            if let Link::Http(http) = &mut link {
                http.close(run).await;
            }
            outcome
        }
    }
}

/// Opens and walks over streams that are already there.
#[cfg(test)]
pub(super) async fn over(mut link: Link, run: &mut Run<'_>, harvest: &mut Harvest) -> Result<(), Fault> {
    let opened = link.open(run).await?;
    link.walk(run, opened, harvest).await
}

impl<'a> Run<'a> {
    pub(super) fn new(clock: &'a dyn crate::env::Clock, options: &'a Options, watch: &'a mut super::Watch<'a>) -> Self {
        let ends = clock.now() + options.total;
        Self { clock, options, ends, answered: false, received: 0, changed: false, watch }
    }

    /// How long the next answer may take.
    pub(super) const fn patience(&self) -> Span {
        if self.answered { self.options.request } else { self.options.first }
    }

    /// Counts what came in.
    pub(super) const fn receive(&mut self, bytes: usize) -> Result<(), Fault> {
        self.received += bytes;
        if self.received > MAX_RECEIVED { Err(Fault::Flood(MAX_RECEIVED)) } else { Ok(()) }
    }

    /// The reason for having waited in vain.
    pub(super) fn too_late(&self, method: &'static str, limit: Span) -> Fault {
        if self.clock.now() >= self.ends {
            Fault::TotalTime(self.options.total)
        } else {
            Fault::Timeout { method, limit }
        }
    }
}

impl Link {
    pub(super) async fn call(&mut self, run: &mut Run<'_>, request: Request<'_>) -> Result<Answer, Fault> {
        match self {
            Self::Lines(lines) => lines.call(run, request).await,
            Self::Http(http) => http.call(run, request).await,
        }
    }

    async fn open(&mut self, run: &mut Run<'_>) -> Result<Opened, Fault> {
        let opened = match run.options.protocol {
            Some(version) if version.is_sessionless() => match self.call(run, Request::discover()).await? {
                Ok(result) => self.discovered(&result)?.ok_or(Fault::NotSpoken(version)),
                Err(error) => Err(error.fault("server/discover")),
            },
            Some(version) => self.initialize(run, version).await,
            None => self.find_out(run).await,
        }?;
        run.answered = true;
        (run.watch)(Seen::Opened(opened.version));
        Ok(opened)
    }

    /// Probes for the newer era and falls back to the older one.
    async fn find_out(&mut self, run: &mut Run<'_>) -> Result<Opened, Fault> {
        let probe = match self {
            Self::Lines(lines) => match probe(lines, run).await? {
                Probe::Answered(answer) => answer,
                Probe::Initialized(answer) => return self.initialized(run, answer, None).await,
            },
            Self::Http(http) => match http.call(run, Request::discover()).await {
                // A refusal without a message comes from something that doesn't know the request.
                Err(Fault::Status { status: 400..=499, .. }) => {
                    return self.initialize(run, Protocol::V2025_11_25).await;
                }
                outcome => outcome?,
            },
        };
        match probe {
            Ok(result) => match self.discovered(&result)? {
                Some(opened) => Ok(opened),
                None => self.initialize(run, Protocol::V2025_11_25).await,
            },
            Err(error) => match fallback(&error)? {
                Some(version) => self.initialize(run, version).await,
                None => Err(error.fault("server/discover")),
            },
        }
    }

    /// Reads the answer to `server/discover`; `None` if the server knows the question but speaks only older versions.
    fn discovered(&mut self, result: &RawValue) -> Result<Option<Opened>, Fault> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Discovered {
            supported_versions: Vec<String>,
            capabilities: Offers,
            #[serde(default)]
            server_info: Option<Box<RawValue>>,
            #[serde(default)]
            instructions: Option<Box<RawValue>>,
            #[serde(default)]
            result_type: Option<String>,
            #[serde(default, rename = "_meta")]
            meta: Option<Meta>,
        }
        #[derive(Deserialize)]
        struct Meta {
            #[serde(default, rename = "io.modelcontextprotocol/serverInfo")]
            server_info: Option<Box<RawValue>>,
        }
        let method = "server/discover";
        let discovered: Discovered = read(method, result)?;
        complete(method, discovered.result_type)?;
        let version = Protocol::V2026_07_28;
        if !discovered.supported_versions.iter().any(|v| v == version.as_str()) {
            return match discovered.supported_versions.iter().any(|v| v.parse::<Protocol>().is_ok()) {
                true => Ok(None),
                false => Err(Fault::Version(quote(&discovered.supported_versions.join(", ")))),
            };
        }
        match self {
            Self::Lines(lines) => lines.sessionless = true,
            Self::Http(http) => http.version = Some(version),
        }
        Ok(Some(Opened {
            version,
            offers: discovered.capabilities,
            server_info: discovered.meta.and_then(|meta| meta.server_info).or(discovered.server_info),
            instructions: text(method, discovered.instructions)?,
        }))
    }

    async fn initialize(&mut self, run: &mut Run<'_>, version: Protocol) -> Result<Opened, Fault> {
        let answer = self.call(run, Request::initialize(version)).await?;
        self.initialized(run, answer, run.options.protocol).await
    }

    /// Reads the answer to `initialize` and ends the handshake. `asked` is the one version that will do, if there is one.
    async fn initialized(&mut self, run: &Run<'_>, answer: Answer, asked: Option<Protocol>) -> Result<Opened, Fault> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Initialized {
            protocol_version: String,
            capabilities: Offers,
            #[serde(default)]
            server_info: Option<Box<RawValue>>,
            #[serde(default)]
            instructions: Option<Box<RawValue>>,
        }
        let method = "initialize";
        let result = answer.map_err(|error| error.fault(method))?;
        let initialized: Initialized = read(method, &result)?;
        let version = initialized.protocol_version.parse::<Protocol>().ok();
        let version = version.filter(|v| !v.is_sessionless() && asked.is_none_or(|asked| asked == *v));
        let version = version.ok_or_else(|| Fault::Version(quote(&initialized.protocol_version)))?;
        match self {
            Self::Lines(lines) => lines.notify(run, Request::initialized()).await?,
            Self::Http(http) => {
                http.version = Some(version);
                http.notify(run, Request::initialized()).await?;
            }
        }
        Ok(Opened {
            version,
            offers: initialized.capabilities,
            server_info: initialized.server_info,
            instructions: text(method, initialized.instructions)?,
        })
    }
}

enum Probe {
    /// `server/discover` was answered.
    Answered(Answer),
    /// It wasn't, but the `initialize` that was sent behind it was.
    Initialized(Answer),
}

/// Asks a program for `server/discover` and, where it is silent, for `initialize` behind it. A slow start and a server that
/// ignores what it doesn't know look alike; the first result tells them apart, however late it comes.
async fn probe(lines: &mut Lines, run: &mut Run<'_>) -> Result<Probe, Fault> {
    let discover = lines.send(run, Request::discover()).await?;
    let limit = run.options.probe;
    match lines.receive(run, &[discover], "server/discover", limit).await {
        Ok((_, answer)) => return Ok(Probe::Answered(answer)),
        Err(Fault::Timeout { .. }) => {}
        Err(fault) => return Err(fault),
    }
    let initialize = lines.send(run, Request::initialize(Protocol::V2025_11_25)).await?;
    let mut waiting = vec![discover, initialize];
    loop {
        let (id, answer) = lines.receive(run, &waiting, "initialize", run.options.first).await?;
        match answer {
            // Sent before the server was up, and then refused: the second request decides.
            Err(error) if id == discover && !error.is_of_the_newer_era() => waiting.retain(|w| *w != discover),
            // Refused by a server that has yet to answer the first.
            Err(_) if id == initialize && waiting.len() == 2 => waiting.retain(|w| *w != initialize),
            answer => {
                waiting.iter().filter(|w| **w != id).for_each(|w| lines.abandon(*w));
                return Ok(if id == discover { Probe::Answered(answer) } else { Probe::Initialized(answer) });
            }
        }
    }
}

/// The older version to go on with after `server/discover` was refused; `None` where the server is of the newer era.
fn fallback(error: &RpcError) -> Result<Option<Protocol>, Fault> {
    if !error.is_of_the_newer_era() {
        return Ok(Some(Protocol::V2025_11_25));
    }
    let supported = error.data.as_ref().map(|data| data.supported.as_slice()).unwrap_or_default();
    let known = supported.iter().filter_map(|v| v.parse::<Protocol>().ok()).filter(|v| !v.is_sessionless()).max();
    if known.is_none() && !supported.is_empty() {
        return Err(Fault::Version(quote(&supported.join(", "))));
    }
    Ok(known)
}

pub(super) fn read<'a, T: Deserialize<'a>>(method: &'static str, result: &'a RawValue) -> Result<T, Fault> {
    serde_json::from_str(result.get()).map_err(|e| malformed(method, &e.to_string()))
}

pub(super) fn malformed(method: &'static str, what: &str) -> Fault {
    Fault::Malformed { method, what: quote(what) }
}

pub(super) fn complete(method: &'static str, result_type: Option<String>) -> Result<(), Fault> {
    match result_type {
        Some(result_type) if result_type != "complete" => {
            Err(Fault::NotComplete { method, result_type: quote(&result_type) })
        }
        _ => Ok(()),
    }
}

/// Instructions are a string or aren't there.
fn text(method: &'static str, raw: Option<Box<RawValue>>) -> Result<Option<Box<RawValue>>, Fault> {
    match raw {
        Some(raw) if !raw.get().starts_with('"') => Err(malformed(method, "instructions are no string")),
        raw => Ok(raw),
    }
}

//! `countersign capture`: what a server lists now, as a release that can be attested.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use crate::{
    clock::Span,
    descriptor::{Capture, Kind, MAX_CAPTURE_BYTES, Method, Release, Taken},
    env::Env,
    mcp::{self, Protocol, Seen, Target},
    name::{ServerName, Variant, Version},
};

use super::{Exit, Failure, files, print};

/// Record everything that an MCP server lists, as a release
#[derive(clap::Args, Debug)]
#[command(
    group = clap::ArgGroup::new("source").required(true),
    after_help = "\
Every page of every list that the server declares is read and kept byte for byte. Anything short of \
a whole answer (an error, a timeout, an exit) makes the capture incomplete: FILE says so and why, it \
can't be attested, and the command ends with 3. A complete FILE stays then, unless --force.

COMMAND gets HOME, PATH, locale and proxy variables, and what --env names; nothing else of your \
environment, and no capabilities are declared to it. COMMAND and its arguments are recorded: pass \
secrets with --env. A server that lists something else to other clients, locales or plans is recorded \
under its own --variant.

Examples:
  countersign capture --server com.example/notes --version 1.4.0 -o release.json \\
      -- npx -y @example/notes@1.4.0
  countersign capture --server com.example/notes --version 1.4.0 -o release.json \\
      --url https://mcp.example.com/mcp
  countersign capture --server com.example/notes --version 1.4.0 -o release.json \\
      --from tools.json"
)]
pub(super) struct Args {
    /// The server's registry name, as com.example/notes
    #[arg(long, value_name = "NAME")]
    server: ServerName,
    /// The release's version: one version, no range
    #[arg(long, value_name = "V")]
    version: Version,
    /// A label, for a server whose list depends on locale, plan or protocol era
    #[arg(long, value_name = "V", default_value = "")]
    variant: Variant,
    /// Where the release goes
    #[arg(short, long = "output", value_name = "FILE")]
    output: PathBuf,
    /// Let an incomplete capture take the place of a complete one
    #[arg(long)]
    force: bool,
    /// Capture from an endpoint that speaks Streamable HTTP
    #[arg(long, value_name = "URL", group = "source")]
    url: Option<url::Url>,
    /// Take the list from a file: a capture, an array of tools, {"tools": […]}, or JSON-RPC responses, one a line
    #[arg(long, value_name = "FILE|-", group = "source")]
    from: Option<PathBuf>,
    /// Speak this protocol version only, instead of finding out
    #[arg(long, value_name = "V", conflicts_with = "from")]
    protocol_version: Option<Protocol>,
    /// Pass a variable to COMMAND: NAME=VALUE, or NAME to pass on its value here
    #[arg(long = "env", value_name = "NAME[=VALUE]", conflicts_with_all = ["url", "from"])]
    vars: Vec<String>,
    /// Add a header to each request to URL; not recorded
    #[arg(long = "header", value_name = "NAME: VALUE", conflicts_with = "from", requires = "url")]
    headers: Vec<String>,
    /// How long the whole capture may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,
    /// The server to start, over stdio
    #[arg(last = true, value_name = "COMMAND", group = "source")]
    command: Vec<String>,
}

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let capture = match &args.from {
        Some(file) => from_file(file, env)?,
        None => live(args, env).await?,
    };
    let release = Release::new(args.server.clone(), args.version.clone(), args.variant.clone(), capture);
    if !release.capture.complete && !args.force && files::is_complete_release(&args.output) {
        let why = release.capture.why_incomplete.as_deref().unwrap_or("the file says so itself");
        return Err(Failure::blind(format_args!("the capture is incomplete: {why}")).next(format_args!(
            "{} holds a complete one and is left as it is; capture again, or replace it all the same with --force",
            args.output.display()
        )));
    }
    files::replace(&args.output, &release.to_json())?;
    summary(args, &release, env)?;
    if release.capture.complete {
        return Ok(Exit::Done);
    }
    let why = release.capture.why_incomplete.as_deref().unwrap_or("the file says so itself");
    Err(Failure::blind(format_args!("the capture is incomplete: {why}"))
        .next(format_args!("{} holds what came in; capture again before attesting", args.output.display())))
}

fn from_file(file: &std::path::Path, env: &mut Env) -> Result<Capture, Failure> {
    let bytes = files::read(env, file, MAX_CAPTURE_BYTES)?;
    let mut capture = files::capture(file, &bytes)?;
    let at = Some(env.clock.now());
    let taken = Taken { method: Method::File, command: None, endpoint: None, client_capabilities: None, at };
    capture.taken.get_or_insert(taken);
    Ok(capture)
}

async fn live(args: &Args, env: &mut Env) -> Result<Capture, Failure> {
    let target = target(args, env)?;
    let options =
        mcp::Options { protocol: args.protocol_version, total: Span::seconds(args.timeout), ..Default::default() };
    let clock = Arc::clone(&env.clock);
    let spinner = print::spinner(env, "capturing");
    let mut watch = |seen: Seen<'_>| {
        let told = match seen {
            Seen::Stderr(line) => Some(format!("  server: {}", print::short(line, 400))),
            Seen::Noise(line) => Some(format!("  server, not a message: {}", print::short(line, 400))),
            Seen::Again => Some("  the server says that its lists changed; reading them again".to_owned()),
            Seen::Opened(_) | Seen::Page { .. } => None,
        };
        if let Some(told) = told {
            // What can't be shown is no reason to stop.
            let _ = spinner.suspend(|| print::note(env, told));
        }
    };
    let capture = tokio::select! {
        capture = mcp::capture(&target, &options, &*clock, &mut watch) => Some(capture),
        // The program is killed when its capture is dropped.
        _ = tokio::signal::ctrl_c() => None,
    };
    spinner.finish_and_clear();
    capture.ok_or_else(|| Failure::blind("the capture was interrupted"))
}

fn target(args: &Args, env: &Env) -> Result<Target, Failure> {
    if let Some(url) = &args.url {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Failure::usage(format_args!("{url} is no http or https URL")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Failure::usage("the URL is recorded and must hold no password").next("use --header"));
        }
        let headers = args.headers.iter().map(|text| mcp::header(text)).collect::<Result<_, _>>();
        // The header itself isn't shown: it may hold a secret.
        return Ok(Target::Http { url: url.clone(), headers: headers.map_err(Failure::usage)? });
    }
    let Some((command, rest)) = args.command.split_first() else {
        return Err(Failure::usage("no COMMAND after --"));
    };
    let mut more = BTreeMap::new();
    for var in &args.vars {
        let (name, value) = match var.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => match env.vars.get(var) {
                Some(value) => (var.as_str(), value.clone()),
                None => return Err(Failure::usage(format_args!("--env {var}: there is no such variable here"))),
            },
        };
        more.insert(name.to_owned(), value);
    }
    let vars = mcp::child_vars(&env.vars, more);
    Ok(Target::Stdio { command: command.clone(), args: rest.to_vec(), vars, directory: None })
}

fn summary(args: &Args, release: &Release, env: &mut Env) -> Result<(), Failure> {
    let capture = &release.capture;
    let counted = [
        (Kind::Tool, "tool", "tools"),
        (Kind::Prompt, "prompt", "prompts"),
        (Kind::Resource, "resource", "resources"),
        (Kind::ResourceTemplate, "resource template", "resource templates"),
        (Kind::Instructions, "instructions", "instructions"),
    ];
    let counts = counted.into_iter().filter_map(|(kind, one, many)| match (kind, capture.of_kind(kind).count()) {
        (Kind::Instructions, 1) => Some(one.to_owned()),
        (Kind::Tool, n) => Some(print::count(n, one, many)),
        (_, 0) => None,
        (_, n) => Some(print::count(n, one, many)),
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let protocol = capture.protocol_version.as_ref().map(|v| format!(", protocol {v}")).unwrap_or_default();
    let variant = if release.variant.is_default() { String::new() } else { format!(" ({})", release.variant) };
    print::line(
        env,
        format_args!(
            "{} {}{variant}: {counts}{protocol} -> {}",
            release.server,
            release.version,
            args.output.display()
        ),
    )?;
    for listed in &capture.listed {
        let name = format!("{}/{}", listed.kind, print::short(&listed.display_name(), 60));
        match &listed.parsed {
            Err(refused) => print::note(env, format_args!("  {name} is refused and can't be attested: {refused}"))?,
            Ok(descriptor) => {
                if let Some(unpinnable) = descriptor.unpinnable() {
                    print::note(env, format_args!("  {name} can't be approved: {unpinnable}"))?;
                }
            }
        }
    }
    Ok(())
}

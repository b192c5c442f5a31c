//! `countersign serve`: the registry with its pages and API.

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use axum::Router;
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

use crate::{
    api,
    clock::Span,
    config::{self, Origin, PublicUrl},
    env::Env,
    service::{App, access::SETUP_LINK, govern, jobs},
    ui,
    web::{self, Web},
};

use super::{
    Exit, Failure, journal,
    place::{self, Place},
    print,
};

/// Run a registry: pages, API, signing, in one process
#[derive(clap::Args, Debug)]
#[command(after_help = "\
The first start makes DIR (only you can read it) with registry.db, keys/ and anchor, and prints where to make the first \
administrator. TLS is the job of a proxy in front: give its URL with --public-url.

What happens while it serves is logged on standard error, a line an event: COUNTERSIGN_LOG takes a level or targets with \
levels (info,sqlx=warn; default info), COUNTERSIGN_LOG_FORMAT text or json. Neither secrets nor descriptors are logged.

Examples:
  countersign serve --data ./registry
  countersign serve --data /var/lib/countersign --public-url https://pins.example --trusted-proxy 10.0.0.0/8 \\
      --anchor /srv/anchor/pins.example")]
pub(super) struct Args {
    #[command(flatten)]
    place: Place,
}

/// How long requests in flight may take to end after a stop was asked for.
const GRACE: Span = Span::seconds(30);
/// How often it is looked whether the link was used.
const POLL: Span = Span::seconds(1);

/// A registry that serves.
pub struct Running {
    /// The address of pages and API.
    pub address: SocketAddr,
    /// The address of `/metrics` and `/readyz`, if they have their own.
    pub admin_address: Option<SocketAddr>,
    /// The URL that people and gateways use.
    pub url: PublicUrl,
    /// The link by which the first administrator is made, while there is none.
    pub setup: Option<String>,
    /// The registry itself.
    pub app: App,
    stop: watch::Sender<bool>,
    served: JoinSet<io::Result<()>>,
    jobs: JoinSet<()>,
}

pub(super) async fn run(args: &Args, env: &mut Env) -> Result<Exit, Failure> {
    let settings = config::Serve::load(&args.place.data, &args.place.flags(), &env.vars)?;
    journal::start(&settings.log, env)?;
    let running = start(&settings, env).await?;
    print::line(env, format_args!("listening on {}", running.url.as_str()))?;
    print::line(env, format_args!("trust fingerprint {}", running.app.fingerprint()))?;
    if let Some(setup) = &running.setup {
        print::line(env, format_args!("set up at {setup}"))?;
    }
    if running.app.anchor_is_inside_data() {
        print::note(env, "the anchor lies in DIR: a restore of all of DIR is not noticed; see --anchor")?;
    }
    if running.app.quorum().is_some_and(|quorum| !quorum.in_trust) {
        print::note(
            env,
            "the trust file asks gateways for other witnesses than the settings; see Witnesses in the README",
        )?;
    }
    if let Some(why) = running.app.read_only() {
        print::note(env, format_args!("read-only: {why}"))?;
    }
    stop_asked().await.map_err(|e| Failure::blind(format_args!("signals can't be waited for: {e}")))?;
    running.stop().await?;
    Ok(Exit::Done)
}

/// Opens the registry, binds and serves. Port 0 takes a free one.
///
/// # Errors
/// [`Failure`] with what to do, if it can't be opened or the address can't be had.
pub async fn start(settings: &config::Serve, env: &Env) -> Result<Running, Failure> {
    let host = settings.public_url.as_ref().map(|url| Origin::parse(url.host())).transpose()?;
    let app = place::open(&settings.registry, host, true, env).await?;
    if app.read_only().is_none() {
        govern::adopt_rules(&app).await?;
    }
    let listener = bind(settings.listen).await?;
    let address = listener.local_addr()?;
    let url = settings.public_url(address)?;
    let admin = match settings.admin_listen {
        Some(at) => Some(bind(at).await?),
        None => None,
    };
    let admin_address = admin.as_ref().map(TcpListener::local_addr).transpose()?;
    let setup = app.setup_link(&settings.registry.data, &url).await.map_err(Failure::blind)?;
    let (stop, stopped) = watch::channel(false);
    let web = Web::new(
        app.clone(),
        web::Settings {
            public_url: url.clone(),
            readers: settings.readers,
            trusted_proxy: settings.trusted_proxy.clone(),
            admin_apart: admin.is_some(),
        },
    );
    let mut served = JoinSet::new();
    served.spawn(serve(listener, api::router(&web, ui::pages(&web)), stopped.clone()));
    if let Some(admin) = admin {
        served.spawn(serve(admin, api::admin_router(&web), stopped));
    }
    let mut jobs = JoinSet::new();
    jobs.spawn(jobs::run(app.clone()));
    if setup.is_some() {
        jobs.spawn(forget_when_used(app.clone(), settings.registry.data.join(SETUP_LINK)));
    }
    Ok(Running { address, admin_address, url, setup, app, stop, served, jobs })
}

impl Running {
    /// Stops: takes no new request, finishes those in flight and the writes that wait, closes the database.
    ///
    /// # Errors
    /// If a listener failed while it served.
    pub async fn stop(mut self) -> Result<(), Failure> {
        // Nobody listens any more where every listener has failed; that is found below.
        let _ = self.stop.send(true);
        let ends = self.app.clock().now() + GRACE;
        let mut failed = None;
        loop {
            tokio::select! {
                done = self.served.join_next() => match done {
                    Some(Ok(Err(error))) => failed = Some(error),
                    Some(_) => {}
                    None => break,
                },
                () = self.app.clock().until(ends) => self.served.abort_all(),
            }
        }
        self.jobs.abort_all();
        self.app.close().await;
        failed.map_or(Ok(()), |error| Err(Failure::blind(format_args!("a listener failed: {error}"))))
    }
}

async fn bind(at: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(at).await.map_err(|e| {
        Failure::usage(format_args!("{at} can't be listened on: {e}"))
            .next("choose another --listen, or stop what listens there")
    })
}

async fn serve(listener: TcpListener, router: Router, mut stopped: watch::Receiver<bool>) -> io::Result<()> {
    let stopped = async move {
        // The sender lives as long as the registry runs; without it there is nothing to serve either.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(stopped)
        .await
}

/// Removes the link's file when the link is dead. It is dead in the database first; a file that stays opens nothing.
async fn forget_when_used(app: App, path: PathBuf) {
    while !app.access().has_admin() {
        app.clock().until(app.clock().now() + POLL).await;
    }
    forget(&path);
}

fn forget(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "the used set-up link was not removed");
    }
}

async fn stop_asked() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

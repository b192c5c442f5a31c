//! A wire between the service and PostgreSQL that is cut around a commit: before it is sent, or when it is done and its
//! reply is on the way.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU8, Ordering},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UnixStream},
};

/// Where the wire is cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cut {
    Nowhere,
    /// The commit never arrives.
    BeforeCommit,
    /// The commit is done; its reply never arrives.
    AfterCommit,
    /// As after a commit, and no new connection is let through until it is mended.
    AfterCommitForGood,
}

/// The wire.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    cut: AtomicU8,
    dead: AtomicBool,
}

/// A simple query, as drivers end a transaction.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

impl Proxy {
    /// A wire to the server whose sockets are in this folder.
    pub(crate) async fn to(folder: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let state = Arc::new(State::default());
        let (socket, shared) = (format!("{folder}/.s.PGSQL.5432"), Arc::clone(&state));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if shared.dead.load(Ordering::SeqCst) {
                    continue;
                }
                let server = UnixStream::connect(&socket).await.expect("the server is there");
                tokio::spawn(relay(client, server, Arc::clone(&shared)));
            }
        });
        Self { port, state }
    }

    /// Cuts the wire at the next commit, once.
    pub(crate) fn cut(&self, cut: Cut) {
        self.state.dead.store(false, Ordering::SeqCst);
        self.state.cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Whether the wire was cut as it was told.
    pub(crate) fn was_cut(&self) -> bool {
        self.state.cut.load(Ordering::SeqCst) == Cut::Nowhere as u8
    }
}

async fn relay(mut client: TcpStream, mut server: UnixStream, state: Arc<State>) {
    let (mut up, mut down) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(n @ 1..) = read else { return };
                if state.dead.load(Ordering::SeqCst) {
                    return;
                }
                let mut cut = Cut::Nowhere as u8;
                if up[..n].ends_with(COMMIT) {
                    cut = state.cut.swap(Cut::Nowhere as u8, Ordering::SeqCst);
                }
                if cut == Cut::BeforeCommit as u8 {
                    return;
                }
                server.write_all(&up[..n]).await.expect("sent");
                if cut != Cut::Nowhere as u8 {
                    state.dead.store(cut == Cut::AfterCommitForGood as u8, Ordering::SeqCst);
                    // The server says that it is done, and nobody hears it.
                    let _ = server.read(&mut down).await;
                    return;
                }
            }
            read = server.read(&mut down) => {
                let Ok(n @ 1..) = read else { return };
                if client.write_all(&down[..n]).await.is_err() {
                    return;
                }
            }
        }
    }
}

//! Bundles: made from a served registry, verified offline, and forged in every way that a registry with all its keys could.

mod commands;
mod forge;
mod forged;
mod tampered;
mod trusted;

use std::{fs, path::Path};

use countersign::{
    attest::{Artifact, Role, Statement, dsse},
    descriptor::Release,
    keys::SigningKey,
    pinset::{bundle::Bundle, trust::Trust},
};

use crate::{
    api::{EXPORT, SEARCH, Site, publisher, release, with},
    databases::{Engine, Fresh},
    terminal::Desk,
};

/// A registry that approved two tools, over HTTP, and an auditor's folder with its trust file.
struct Audit {
    site: Site,
    url: String,
    fresh: Fresh,
    folder: tempfile::TempDir,
}

impl Audit {
    async fn new() -> Self {
        let fresh = Fresh::new(Engine::Sqlite).await;
        let site = Site::new(&fresh).await;
        let release = release("com.example/notes", "1.4.0", &[EXPORT, SEARCH]);
        let mut statement =
            Statement::for_release(&Release::parse(release.as_bytes()).expect("a release"), Role::Publisher);
        statement.predicate.remotes = vec!["https://mcp.example.com/mcp".to_owned()];
        let digest = format!("sha256:{}", "5e".repeat(32));
        statement.predicate.artifacts = vec![Artifact { purl: "pkg:npm/%40example/notes@1.4.0".to_owned(), digest }];
        let attestation = dsse::sign("application/vnd.in-toto+json", &statement.to_payload(), &publisher());
        let reply = site.post(&site.publish, "/v1/releases", with(&release, &attestation)).await;
        assert_eq!(reply.status, 201, "{reply}");
        site.bound().await;
        site.approved(&reply.json()).await;
        let audit = Self { url: site.serve().await, site, fresh, folder: tempfile::tempdir().expect("a folder") };
        let ran = audit.run(&["trust", &audit.url, "-o", &audit.path("trust.txt"), "--yes"]).await;
        assert_eq!(ran.exit, 0, "{ran}");
        audit
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("text").to_owned()
    }

    async fn run(&self, args: &[&str]) -> crate::terminal::Ran {
        Desk::at(&self.site.clock).run(args).await
    }

    /// `countersign bundle NAME`, into a file.
    async fn bundle(&self, name: &str) -> String {
        let (file, trust) = (self.path(&format!("{name}.json")), self.path("trust.txt"));
        let ran = self
            .run(&["bundle", name, "--registry", &self.url, "--pinset", "default", "--trust", &trust, "-o", &file])
            .await;
        assert_eq!(ran.exit, 0, "{ran}");
        file
    }

    async fn genuine(&self, name: &str) -> Bundle {
        Bundle::parse(&fs::read(self.bundle(name).await).expect("written")).expect("a bundle")
    }

    fn trust(&self) -> Trust {
        Trust::first(&fs::read_to_string(self.path("trust.txt")).expect("written")).expect("a trust file")
    }

    /// One of the registry's own keys: what a thief of the whole registry has.
    fn key(&self, name: &str) -> SigningKey {
        let file = self.fresh.dir.path().join("data/keys").join(name);
        SigningKey::from_pem(&fs::read_to_string(file).expect("a key file")).expect("a key")
    }
}

/// Writes each text to a file of its own and gives the files, in order.
fn files(folder: &Path, contents: impl IntoIterator<Item = Vec<u8>>) -> Vec<std::path::PathBuf> {
    let write = |(n, bytes): (usize, Vec<u8>)| {
        let path = folder.join(format!("{n:04}.json"));
        fs::write(&path, bytes).expect("written");
        path
    };
    contents.into_iter().enumerate().map(write).collect()
}

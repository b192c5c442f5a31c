use super::*;

fn serve(file: &str, flags: &Flags, vars: &[(&str, &str)]) -> Result<Serve, ConfigError> {
    let dir = tempfile::tempdir().expect("a directory");
    if !file.is_empty() {
        std::fs::write(dir.path().join(FILE), file).expect("written");
    }
    let vars = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Serve::load(dir.path(), flags, &vars)
}

fn listening(listen: &str, public_url: Option<&str>) -> Flags {
    Flags { listen: Some(listen.to_owned()), public_url: public_url.map(str::to_owned), ..Flags::default() }
}

#[test]
fn without_any_setting_it_listens_on_loopback_and_everybody_there_reads() {
    let serve = serve("", &Flags::default(), &[]).expect("defaults");
    assert_eq!(serve.listen, "127.0.0.1:8080".parse().expect("an address"));
    assert_eq!(serve.readers, Readers::Anonymous);
    assert_eq!(serve.registry.heads, Heads { lifetime: Span::hours(1), resign: Span::minutes(15) });
    assert!(matches!(&serve.registry.database, Database::Sqlite(path) if path.ends_with("registry.db")));
    assert!(serve.registry.anchor.is_inside_data());
    let url = serve.public_url("127.0.0.1:49152".parse().expect("an address")).expect("loopback");
    assert_eq!((url.as_str(), url.cookie_name(), url.is_https()), ("http://127.0.0.1:49152", "session", false));
}

#[test]
fn a_flag_goes_before_a_variable_and_a_variable_before_the_file() {
    let file = "listen = '127.0.0.1:1'";
    let vars = [("COUNTERSIGN_LISTEN", "127.0.0.1:2")];
    let port = |flags: &Flags, vars: &[(&str, &str)]| serve(file, flags, vars).expect("usable").listen.port();
    assert_eq!(port(&listening("127.0.0.1:3", None), &vars), 3);
    assert_eq!(port(&Flags::default(), &vars), 2);
    assert_eq!(port(&Flags::default(), &[]), 1);
}

#[test]
fn unknown_keys_are_fatal_at_every_level() {
    for file in
        ["reader = 'token'", "[limits]\nqueue = 5", "[heads]\nlifetime = 5", "[other]\nx = 1", "readers = 'all'"]
    {
        let refused = serve(file, &Flags::default(), &[]).expect_err(file);
        assert_eq!(refused.setting, FILE, "{file}");
    }
}

#[test]
fn witnesses_are_a_policy_in_the_file_or_beside_it() {
    let key = crate::keys::SigningKey::from_seed(&[1; 32]).verifying();
    let key = crate::log::note::Verifier::cosigner("w.example", key).expect("a name");
    let file = format!("witnesses = \"\"\"\nwitness w {key} https://w.example/logs\nquorum w\n\"\"\"");
    let found = serve(&file, &Flags::default(), &[]).expect("a policy").registry.witnesses.expect("named");
    let asked: Vec<_> = found.each().map(|(witness, url)| (witness.name.as_str(), url.as_str())).collect();
    assert_eq!(asked, [("w", "https://w.example/logs/add-checkpoint")]);
    assert_eq!(serve("", &Flags::default(), &[]).expect("none").registry.witnesses, None);
    let refused = serve("witnesses = 'nowhere.policy'", &Flags::default(), &[]).expect_err("no such file");
    assert_eq!(refused.setting, "witnesses");
    assert_eq!(serve("witness = 'w'", &Flags::default(), &[]).expect_err("unknown").setting, FILE);
}

#[test]
fn the_public_url_is_https_or_loopback_and_nothing_but_an_origin() {
    let table = [
        ("https://pins.example", Some(("https://pins.example", "__Host-session"))),
        ("https://pins.example:8443/", Some(("https://pins.example:8443", "__Host-session"))),
        ("https://PINS.example:443", Some(("https://pins.example", "__Host-session"))),
        ("http://localhost:8080", Some(("http://localhost:8080", "session"))),
        ("http://[::1]:8080", Some(("http://[::1]:8080", "session"))),
        ("http://pins.example", None),
        ("http://10.0.0.1:8080", None),
        ("http://localhost.evil.example", None),
        ("https://pins.example/registry", None),
        ("https://pins.example?x", None),
        ("https://user@pins.example", None),
        ("ftp://pins.example", None),
        ("pins.example", None),
    ];
    for (text, expected) in table {
        let url = PublicUrl::parse(text);
        assert_eq!(url.as_ref().ok().map(|url| (url.as_str(), url.cookie_name())), expected, "{text}");
    }
}

#[test]
fn who_reads_must_be_said_where_others_can_connect() {
    let (open, https) = ("0.0.0.0:8080", Some("https://pins.example"));
    let setting = |file, flags: &Flags| serve(file, flags, &[]).map(|s| s.readers).map_err(|e| e.setting);
    assert_eq!(setting("", &listening(open, None)), Err("public-url"));
    assert_eq!(setting("", &listening(open, https)), Err("readers"));
    assert_eq!(setting("readers = 'token'", &listening(open, https)), Ok(Readers::Token));
    assert_eq!(setting("readers = 'anonymous'", &listening(open, https)), Ok(Readers::Anonymous));
    assert_eq!(setting("", &listening("127.0.0.1:8080", https)), Ok(Readers::Token));
    assert_eq!(setting("", &listening("localhost:8080", None)), Ok(Readers::Anonymous));
}

#[test]
fn debug_shows_no_database_password() {
    let flags = Flags {
        database_url: Some(DatabaseText::new("postgres://u:hunter2@db.example/pins?sslmode=require")),
        ..Flags::default()
    };
    let shown = format!("{flags:?} {:?}", serve("", &flags, &[]).expect("usable"));
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("db.example/pins"), "{shown}");
    for url in ["mysql://u:hunter2@db/x", "registry.db", "sqlite:hunter2"] {
        let flags = Flags { database_url: Some(DatabaseText::new(url)), ..Flags::default() };
        let refused = serve("", &flags, &[]).expect_err(url);
        assert_eq!(refused.setting, "database-url");
        assert!(!refused.to_string().contains("hunter2"));
    }
}

#[test]
fn numbers_are_taken_at_their_bounds_and_refused_one_past_them() {
    let table = [
        ("[heads]\nlifetime_minutes = 60\nresign_minutes = 30", true),
        ("[heads]\nlifetime_minutes = 61", false),
        ("[heads]\nresign_minutes = 31", false),
        ("[heads]\nresign_minutes = 0", false),
        ("[heads]\nlifetime_minutes = 2\nresign_minutes = 1", true),
        ("[heads]\nlifetime_minutes = 1\nresign_minutes = 1", false),
        ("[limits]\nread_connections = 256", true),
        ("[limits]\nread_connections = 257", false),
        ("[limits]\nwrite_queue = 65536", true),
        ("[limits]\nwrite_queue = 65537", false),
        ("[limits]\npassword_hashers = 0", false),
    ];
    for (file, usable) in table {
        assert_eq!(serve(file, &Flags::default(), &[]).is_ok(), usable, "{file}");
    }
}

#[test]
fn proxies_and_the_origin_are_checked() {
    let proxy = |text: &str| Flags { trusted_proxy: vec![text.to_owned()], ..Flags::default() };
    let networks = |text| serve("", &proxy(text), &[]).map(|s| s.trusted_proxy[0].to_string());
    assert_eq!(networks("10.0.0.0/8").as_deref(), Ok("10.0.0.0/8"));
    assert_eq!(networks("127.0.0.1").as_deref(), Ok("127.0.0.1/32"));
    assert!(networks("proxy.example").is_err());
    for (text, usable) in
        [("pins.example", true), ("pins.example/log", true), ("a b", false), ("a+b", false), ("", false)]
    {
        assert_eq!(Origin::parse(text).is_ok(), usable, "{text}");
    }
    assert!(Origin::parse(&"a".repeat(200)).is_ok());
    assert!(Origin::parse(&"a".repeat(201)).is_err());
}

#[test]
fn an_anchor_elsewhere_is_known_to_be_elsewhere() {
    let flags = Flags { anchor: Some("/var/lib/anchor/countersign".into()), ..Flags::default() };
    assert!(!serve("", &flags, &[]).expect("usable").registry.anchor.is_inside_data());
    let file = serve("anchor = 'deep/anchor'", &Flags::default(), &[]).expect("usable");
    let Anchor::File { path, inside_data: true } = file.registry.anchor else { panic!("a file in DIR") };
    assert!(path.ends_with("deep/anchor"));
    let url = |text: &str| serve(&format!("anchor = '{text}'"), &Flags::default(), &[]);
    let elsewhere = url("postgres://anchor@other/anchors").expect("usable").registry.anchor;
    assert!(matches!(&elsewhere, Anchor::Postgres(url) if url.reveal() == "postgres://anchor@other/anchors"));
    assert!(!elsewhere.is_inside_data());
    assert_eq!(url("mysql://anchor@other/anchors").expect_err("another kind of database").setting, "anchor");
}

#[test]
fn the_log_is_text_at_info_unless_said_otherwise() {
    let log = |file: &str, vars: &[(&str, &str)]| serve(file, &Flags::default(), vars).map(|serve| serve.log);
    let of = |filter: &str, form| Ok(Log { filter: filter.to_owned(), form });
    assert_eq!(log("", &[]), of("info", LogForm::Text));
    assert_eq!(log("log = 'warn,sqlx=off'\nlog_format = 'json'", &[]), of("warn,sqlx=off", LogForm::Json));
    let vars = [("COUNTERSIGN_LOG", "debug"), ("COUNTERSIGN_LOG_FORMAT", "text")];
    assert_eq!(log("log = 'warn'\nlog_format = 'json'", &vars), of("debug", LogForm::Text));
    for bad in [("COUNTERSIGN_LOG", "a=loud"), ("COUNTERSIGN_LOG_FORMAT", "xml")] {
        assert!(log("", &[bad]).is_err(), "{bad:?}");
    }
}

use std::fs;

use serde_json::{Value, json};

use super::{Court, down};
use crate::databases::{block_on, on_both};

#[test]
fn an_interrupted_audit_goes_on_from_the_last_full_bundle() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let file = court.file("audit.json");
        court.warp("/log/tile/entries/001", down);
        let cut = court.audit(&["--resume", &file]).await;
        assert_eq!((cut.exit, &cut.report["complete"]), (3, &json!(false)), "{cut}");
        let kept: Value = serde_json::from_slice(&fs::read(&file).expect("kept")).expect("JSON");
        assert_eq!(kept["size"], 256);
        court.straighten();
        court.asked();
        let resumed = court.audit(&["--resume", &file]).await;
        assert_eq!((resumed.exit, &resumed.report["resumed_at"]), (0, &json!(256)), "{resumed}");
        let asked = court.asked();
        assert!(asked.contains(&"/log/tile/entries/000".to_owned()), "entries are folded again");
        // Proofs about heads come after that.
        let heads = asked.iter().position(|path| path.ends_with("/head")).expect("heads are looked at");
        assert!(!asked[..heads].contains(&"/log/tile/0/000".to_owned()), "{asked:?}");
        assert!(
            asked.contains(&court.document(Some("notes"))),
            "what the newest versions name is looked for each time"
        );
        // A run that came to the end leaves the way for the next, from the last full bundle.
        let again = court.audit(&["--resume", &file]).await;
        assert_eq!((again.exit, &again.report["resumed_at"]), (0, &json!(512)), "{again}");
        court.site.app.write(crate::service::AddSet("later".to_owned())).await.expect("made");
        let grown = court.audit(&["--resume", &file]).await;
        assert_eq!((grown.exit, grown.count("heads")), (0, 3), "{grown}");
    }));
}

#[test]
fn a_resumed_audit_convicts_a_log_that_was_rewritten_or_cut() {
    block_on(on_both(async |fresh| {
        let court = Court::of(fresh).await;
        let file = court.file("audit.json");
        assert_eq!(court.audit(&["--resume", &file]).await.exit, 0);
        let whole = fs::read_to_string(&file).expect("kept");
        let kept: Value = serde_json::from_str(&whole).expect("JSON");
        // As if these entries had had another root when they were verified.
        let root = kept["root"].as_str().expect("hex");
        fs::write(&file, whole.replace(root, &"0".repeat(64))).expect("written");
        let rewritten = court.audit(&["--resume", &file]).await;
        assert_eq!((rewritten.exit, rewritten.kinds()), (1, vec!["fork"]), "{rewritten}");
        assert_eq!(
            fs::read_to_string(&file).expect("kept"),
            whole.replace(root, &"0".repeat(64)),
            "nothing new is verified"
        );
        fs::write(&file, &whole).expect("written");
        let mut conn = court.site.app.reader().conn().await.expect("a connection");
        let old = conn.checkpoint(3).await.expect("reads").expect("signed");
        court.warp("/log/checkpoint", move |_| (200, old.clone().into_bytes()));
        let cut = court.audit(&["--resume", &file]).await;
        assert_eq!((cut.exit, cut.kinds()), (1, vec!["truncated"]), "{cut}");
        assert_eq!(cut.evidence().len(), 2, "two checkpoints that the log signed");
        court.straighten();
        for (text, exit) in [("{}", 3), ("", 3), (&*whole.replace("pins.example", "evil.example"), 2)] {
            fs::write(&file, text).expect("written");
            let refused = court.audit(&["--resume", &file]).await;
            assert_eq!(refused.exit, exit, "{text}: {refused}");
        }
    }));
}

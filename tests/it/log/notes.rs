//! Notes and checkpoints against the crates `signed_note` and `tlog_tiles`.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use countersign::{
    keys::SigningKey,
    log::{Checkpoint, MAX_SIZE, note},
};
use proptest::prelude::*;
use signed_note::{Note, Signer as _, StandardSigner, StandardVerifier, Verifier as _, VerifierList};

fn ours(name: &str, seed: [u8; 32]) -> note::Signer {
    note::Signer::new(name, SigningKey::from_seed(&seed)).expect("a name")
}

/// The same key in the reference's private text form.
fn theirs(signer: &note::Signer, seed: [u8; 32]) -> StandardSigner {
    let material = BASE64.encode([&[1][..], &seed].concat());
    let text = format!("PRIVATE+KEY+{}+{:08x}+{material}", signer.name(), signer.verifier().id());
    StandardSigner::new(&text).expect("the reference takes the key under the same id")
}

fn reference_opens(bytes: &[u8], known: &note::Verifier) -> Option<Vec<u8>> {
    let known = StandardVerifier::new(&known.to_string()).expect("the reference reads the key's text");
    let note = Note::from_bytes(bytes).ok()?;
    note.verify(&VerifierList::new(vec![Box::new(known)])).ok()?;
    Some(note.text().to_vec())
}

proptest! {
    #[test]
    fn the_same_key_signs_the_same_note(seed: [u8; 32], name in "[a-z]{1,9}(\\.[a-z]{1,9}){0,2}(/[a-z0-9]{1,5})?", text in "([ -~äß†]{0,30}\n){1,5}") {
        let signer = ours(&name, seed);
        let reference = theirs(&signer, seed);
        prop_assert_eq!(reference.key_id(), signer.verifier().id());
        let verifier = StandardVerifier::new(&signer.verifier().to_string()).expect("reads");
        prop_assert_eq!((verifier.name(), verifier.key_id()), (signer.name(), signer.verifier().id()));
        let mine = note::sign(&text, &[&signer]).expect("signs");
        let mut other = Note::new(text.as_bytes(), &[]).expect("a text");
        other.add_sigs(&[&reference]).expect("signs");
        prop_assert_eq!(mine.as_bytes(), other.to_bytes());
        let opened = note::open(&mine, &[signer.verifier()]).expect("opens");
        prop_assert_eq!(opened.text(), &text);
        prop_assert_eq!(reference_opens(mine.as_bytes(), signer.verifier()), Some(text.into_bytes()));
    }

    /// Ours is the stricter reader (limits, canonical points and scalars), never the laxer one; on a note with a byte
    /// changed, put in or taken out both say the same.
    #[test]
    fn a_spoiled_note_is_judged_as_the_reference_judges_it(at in any::<prop::sample::Index>(), byte: u8, kind in 0..3) {
        let signer = ours("log.example/a", [7; 32]);
        let mut bytes = note::sign("log.example/a\n12\n\nmore\n", &[&signer, &ours("other.example", [8; 32])]).expect("signs").into_bytes();
        let at = at.index(bytes.len());
        match kind {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => { bytes.remove(at); }
        }
        let mine = std::str::from_utf8(&bytes).ok().and_then(|note| note::open(note, &[signer.verifier()]).ok());
        prop_assert_eq!(mine.map(|opened| opened.text().as_bytes().to_vec()), reference_opens(&bytes, signer.verifier()));
    }

    #[test]
    fn checkpoint_texts_are_the_references(origin in "[a-z]{1,9}(/[a-z0-9]{1,5})?", size in 0..=MAX_SIZE, root: [u8; 32]) {
        let mine = Checkpoint { origin: origin.clone(), size, root: countersign::canon::Sha256(root) };
        let reference = tlog_tiles::Checkpoint::new(&origin, size, tlog_tiles::Hash(root), "").expect("a checkpoint");
        prop_assert_eq!(mine.to_string().into_bytes(), reference.to_bytes());
        prop_assert_eq!(mine.to_string().parse(), Ok(mine));
    }

    #[test]
    fn a_spoiled_checkpoint_is_never_read_where_the_reference_refuses(at in any::<prop::sample::Index>(), byte in 0_u8..128, kind in 0..3) {
        let mut bytes = b"log.example\n1048577\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n".to_vec();
        let at = at.index(bytes.len());
        match kind {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => { bytes.remove(at); }
        }
        let mine = std::str::from_utf8(&bytes).expect("ASCII").parse::<Checkpoint>().ok();
        let reference = tlog_tiles::Checkpoint::from_bytes(&bytes).ok();
        if let Some(mine) = mine {
            let reference = reference.expect("the reference reads it too");
            prop_assert_eq!((mine.origin.as_str(), mine.size, mine.root.0), (reference.origin(), reference.size(), reference.hash().0));
        }
    }
}

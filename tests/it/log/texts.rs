//! Every parser of the log on arbitrary bytes: it answers, and what it takes has one spelling.

use countersign::{
    keys::SigningKey,
    log::{Bundle, Checkpoint, Edge, Proof, Tile, Tiles, note},
};
use proptest::prelude::*;

/// One body for the property test below and for a fuzzer.
fn parses_without_harm(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    same_text::<Tile>(&text);
    same_text::<Bundle>(&text);
    same_text::<Checkpoint>(&text);
    same_text::<Proof>(&text);
    same_text::<note::Verifier>(&text);
    let log = note::Signer::new("log.example", SigningKey::from_seed(&[1; 32])).expect("a name");
    assert!(note::open(&text, &[log.verifier()]).is_err(), "nobody guesses a signature");
    for width in [1, 2, 256] {
        let bundle = Bundle::new(0, width).expect("a place");
        if let Ok(leaves) = bundle.decode(bytes) {
            assert_eq!(bundle.encode(&leaves).expect("encodes"), bytes);
        }
        let mut tiles = Tiles::new();
        let fits = tiles.insert(Tile::new(0, 0, width).expect("a place"), bytes).is_ok();
        assert_eq!(fits, bytes.len() == usize::from(width) * 32);
        assert_eq!(Edge::restore(u64::from(width), &tiles).is_ok(), fits && width < 256);
    }
}

fn same_text<T: std::str::FromStr + std::fmt::Display>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        assert_eq!(value.to_string(), text);
    }
}

const SEEDS: [&str; 6] = [
    "tile/0/x001/x234/067.p/8",
    "tile/entries/x001/000.p/3",
    "log.example\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
    "c2sp.org/tlog-proof@v1\nextra AAAA\nindex 1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
     log.example\n3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\u{2014} log.example AAAAAAA=\n",
    "a.example/log+99092c5d+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c",
    "one\n\n\u{2014} log.example AAAAAAA=\n",
];

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..9000)) {
        parses_without_harm(&bytes);
    }

    #[test]
    fn spoiled_texts_are_read_or_refused(
        seed in prop::sample::select(&SEEDS[..]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 0..6),
    ) {
        let mut bytes = seed.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if at < bytes.len() => { bytes.remove(at); }
                _ => bytes.truncate(at),
            }
        }
        parses_without_harm(&bytes);
    }
}

#[test]
fn the_seeds_themselves_are_read() {
    assert!(SEEDS[0].parse::<Tile>().is_ok());
    assert!(SEEDS[1].parse::<Bundle>().is_ok());
    assert!(SEEDS[2].parse::<Checkpoint>().is_ok());
    assert!(SEEDS[3].parse::<Proof>().is_ok());
    assert!(SEEDS[4].parse::<note::Verifier>().is_ok());
    SEEDS.iter().for_each(|seed| parses_without_harm(seed.as_bytes()));
}

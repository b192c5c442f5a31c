//! Server-sent events: bytes in, the data of each event out (WHATWG HTML, section 9.2.6).

/// A stream of events that has come in so far.
#[derive(Default)]
pub(super) struct Events {
    received: Vec<u8>,
    data: Option<Vec<u8>>,
}

impl Events {
    /// Takes in more bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// The data of the next whole event. What stands after the last blank line is no event, also at the stream's end.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        let mut done = 0;
        let mut event = None;
        while let Some((line, end)) = self.line(done) {
            let line = self.received[line].to_vec();
            done = end;
            if line.is_empty() {
                event = self.data.take();
                if event.is_some() {
                    break;
                }
            } else if let Some(value) = field(&line, b"data") {
                match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => self.data = Some(value.to_vec()),
                }
            }
        }
        self.received.drain(..done);
        event
    }

    /// The next whole line from `start`, and where the one after it begins. A carriage return at the very end may be half
    /// of a line end, so it waits.
    fn line(&self, start: usize) -> Option<(std::ops::Range<usize>, usize)> {
        let rest = &self.received[start..];
        let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'))?;
        let next = match (rest[end], rest.get(end + 1)) {
            (b'\r', None) => return None,
            (b'\r', Some(b'\n')) => end + 2,
            _ => end + 1,
        };
        Some((start..start + end, start + next))
    }
}

fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    match rest {
        [] => Some(rest),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], chunk: usize) -> Vec<String> {
        let (mut events, mut out) = (Events::default(), Vec::new());
        for part in bytes.chunks(chunk) {
            events.push(part);
            while let Some(data) = events.next() {
                out.push(String::from_utf8(data).expect("text"));
            }
        }
        out
    }

    #[test]
    fn events_come_out_whole_however_the_bytes_arrive() {
        let stream = b": hello\n\nevent: message\nid: 7\ndata: {\"a\":1}\n\ndata:x\r\ndata: y\r\n\r\ndata\n\ndatax: no\n\ndata: cut";
        for chunk in 1..stream.len() {
            assert_eq!(all(stream, chunk), ["{\"a\":1}", "x\ny", ""], "in parts of {chunk}");
        }
    }
}

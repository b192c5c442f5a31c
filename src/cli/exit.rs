//! How a command ends: its exit code, and what it says when it failed.

use std::{fmt, io, process::ExitCode};

/// The exit codes, ordered by which one wins when a command met several.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Exit {
    /// 0: everything is allowed, nothing was found, nothing differs, or it is done.
    Done,
    /// 1: the product says no. Something isn't allowed, was found, differs, or was refused.
    No,
    /// 2: the command was called wrongly, or without a token that the registry knows.
    Usage,
    /// 3: there was no looking. Network, an incomplete list, an expired head, a state that can't be read.
    Blind,
}

/// A command that failed: why, and what to do next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure {
    /// The code it ends with.
    pub exit: Exit,
    /// What is wrong, as a sentence without its full stop. Foreign text in it is made inert where it is printed.
    pub what: String,
    /// What to do about it.
    pub next: Option<String>,
}

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Blind => 3,
        }
    }

    /// What an HTTP status that is no success means for the exit code.
    pub const fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Usage,
            408 | 429 | 500.. => Self::Blind,
            400..=499 => Self::No,
            // A redirect or something stranger: nobody looked at the request.
            _ => Self::Blind,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl Failure {
    /// The product says no.
    pub fn no(what: impl fmt::Display) -> Self {
        Self { exit: Exit::No, what: what.to_string(), next: None }
    }

    /// The command was called wrongly.
    pub fn usage(what: impl fmt::Display) -> Self {
        Self { exit: Exit::Usage, what: what.to_string(), next: None }
    }

    /// There was no looking.
    pub fn blind(what: impl fmt::Display) -> Self {
        Self { exit: Exit::Blind, what: what.to_string(), next: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn next(mut self, next: impl fmt::Display) -> Self {
        self.next = Some(next.to_string());
        self
    }
}

/// Writing to the terminal or a pipe failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::blind(format_args!("the output can't be written: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_become_the_exit_codes_of_the_contract() {
        for (status, code) in [
            (400, 1),
            (401, 2),
            (403, 1),
            (404, 1),
            (408, 3),
            (409, 1),
            (422, 1),
            (429, 3),
            (500, 3),
            (503, 3),
            (302, 3),
        ] {
            assert_eq!(Exit::of_status(status).code(), code, "{status}");
        }
        assert!(Exit::Blind > Exit::No, "3 wins over 1");
    }
}

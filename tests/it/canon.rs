//! The canonicaliser against vectors of independent implementations, against CPython, and against its own laws.

mod laws;
mod python;
mod vectors;

//! The binary: builds what the process gets from outside, and calls the command line.

use std::process::ExitCode;

use countersign::{
    cli::{self, Exit},
    env::Env,
};

fn main() -> ExitCode {
    let mut env = Env::system();
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return Exit::Blind.into();
    };
    let exit = runtime.block_on(cli::run(std::env::args_os(), &mut env));
    // Threads that wait for standard input or a lookup end with the process.
    runtime.shutdown_background();
    exit.into()
}

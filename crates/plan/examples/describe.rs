//! Prints a whole plan: `cargo run -p wordline-plan --example describe -- pageftl gc.victim=fifo`.

use std::process::ExitCode;

use wordline_plan::Plan;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("pageftl", String::as_str);
    match Plan::load_set(name, arguments.get(1..).unwrap_or_default()) {
        Ok(plan) => {
            print!("{}", plan.describe());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

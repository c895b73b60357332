//! Writes `docs/reference/traces.md` and `docs/reference/workloads.md` under the folder named by the first argument.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let folder = root.join("docs/reference");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("traces.md"), wordline_workload::reference::traces_markdown())?;
    std::fs::write(folder.join("workloads.md"), wordline_workload::reference::workloads_markdown())
}

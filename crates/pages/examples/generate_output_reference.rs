//! Writes `docs/reference/output.md`, `output.schema.json`, `forensics.md` and `wear-out.md` in `docs/reference` under the folder named by the first argument.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let folder = root.join("docs/reference");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("forensics.md"), wordline_pages::reference::forensics_markdown())?;
    std::fs::write(folder.join("wear-out.md"), wordline_pages::reference::wear_out_markdown())?;
    std::fs::write(folder.join("output.md"), wordline_pages::reference::reference_markdown())?;
    std::fs::write(folder.join("output.schema.json"), wordline_pages::reference::json_schema())
}

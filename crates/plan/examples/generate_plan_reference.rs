//! Writes the reference of chip and drive files below the folder that is given.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::args().nth(1).ok_or_else(|| io::Error::other("expected a folder"))?;
    let folder = Path::new(&root).join("docs/reference");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("plan.md"), wordline_plan::reference_markdown())?;
    fs::write(folder.join("plan.schema.json"), wordline_plan::json_schema())
}

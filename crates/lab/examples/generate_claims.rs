//! Writes `docs/claims.md` (from the inventory, the studies and the saved results) and the reference of the raw tables below the folder given.

use std::path::{Path, PathBuf};

use wordline_lab::seeds::BySeed;
use wordline_lab::{Study, progress};

fn main() -> Result<(), String> {
    let into = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder?")?);
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let results = progress::results(&saved)?;
    let drift = progress::drift(&Study::all(), &results);
    if !drift.is_empty() {
        let again = progress::SAVED.map(|(_, again)| format!("`{again}`")).join(" or ");
        return Err(format!("the saved results are not of these studies; run {again}:\n{}", drift.join("\n")));
    }
    let saved = saved.join("seeds.json");
    let text = std::fs::read_to_string(&saved).map_err(|error| format!("{}: {error}", saved.display()))?;
    let by_seed = BySeed::parse(&text)?;
    let drift = by_seed.drift(&Study::all(), &results);
    if !drift.is_empty() {
        let again = by_seed.again();
        return Err(format!("studies/seeds.json is not of these studies and results; run `{again}`:\n{}", drift.join("\n")));
    }
    for (name, text) in
        [("docs/claims.md", progress::markdown(&results, &by_seed)), ("docs/reference/characterisation.md", wordline_lab::raw::reference())]
    {
        let path = into.join(name);
        let folder = path.parent().ok_or("no folder")?;
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

//! The model id: a digest of everything that a result depends on besides its inputs, which is the code from units to runs and the files that come with it.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates that a run is made of, in the order of their names.
const CRATES: [&str; 12] = ["cells", "chip", "drive", "engine", "figures", "flash", "ftl", "pages", "plan", "runs", "units", "workload"];
/// Files beside them that decide what a name means.
const FILES: [&str; 4] = ["chips", "drives", "studies/workloads", "studies/stages.toml"];
/// Packages from elsewhere that a result could depend on.
const PACKAGES: [&str; 4] = ["libm", "postcard", "serde", "toml"];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names it")).join("../..");
    let mut hasher = blake3::Hasher::new();
    let sources = CRATES.map(|name| format!("crates/{name}/src"));
    sources.iter().for_each(|place| assert!(root.join(place).is_dir(), "{place} is no folder: a crate has moved"));
    for place in sources.iter().map(String::as_str).chain(FILES) {
        println!("cargo:rerun-if-changed={}", root.join(place).display());
        take(&root, &root.join(place), &mut hasher);
    }
    let lock = root.join("Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    let locked = fs::read_to_string(lock).unwrap_or_default();
    for package in locked.split("\n\n").filter(|package| PACKAGES.iter().any(|name| package.contains(&format!("name = \"{name}\"\n")))) {
        hasher.update(package.replace('\r', "").as_bytes());
    }
    let model = &hasher.finalize().to_hex()[..32];
    println!("cargo:rustc-env=WORDLINE_MODEL={model}");
    println!("cargo:rustc-env=WORDLINE_VERSION={} (model {model})", env::var("CARGO_PKG_VERSION").expect("cargo names it"));
}

/// Takes in the files of `place`, in the order of their names, each with its path from `root` and with line feeds as line ends.
fn take(root: &Path, place: &Path, hasher: &mut blake3::Hasher) {
    if place.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(place).expect("it can be read").map(|entry| entry.expect("an entry").path()).collect();
        inside.sort();
        inside.iter().for_each(|path| take(root, path, hasher));
        return;
    }
    let Ok(bytes) = fs::read(place) else { return };
    let path = place.strip_prefix(root).unwrap_or(place).to_string_lossy().replace('\\', "/");
    let text: Vec<u8> = bytes.into_iter().filter(|&byte| byte != b'\r').collect();
    hasher.update(format!("{path} {}\n", text.len()).as_bytes());
    hasher.update(&text);
}

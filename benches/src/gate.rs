//! The gate: instructions of a request on drives that reclaim, whose cells have physics, and that read aged cells.
//!
//! A row is a command line of `wordline`, run twice under callgrind with two numbers of requests. The difference of their instructions over the difference of
//! the numbers is the cost of one request, without what a run costs once. It repeats to a few instructions on one build, on whatever machine.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

use wordline_ftl::techniques::DECLARATIONS;

/// One row of the gate.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Words of `wordline age` that make the drive, without the file that it is saved to.
    pub age: &'static [&'static str],
    /// True if the drive lists every technique, and all of them are off.
    pub lists_all: bool,
    /// Operation of all requests, as workload files name it.
    pub op: &'static str,
    /// Numbers of requests of the two runs.
    pub lengths: [u64; 2],
    /// Instructions of a request at commit 2afc158, before the firmware had rooms; `None`: not measured there.
    pub before_rooms: Option<f64>,
    /// Instructions of a request at the last release.
    pub last_release: Option<f64>,
}

/// A drive without cells that reclaims.
const RECLAIMING: Row = Row {
    name: "reclaiming",
    age: &["mqsim-b", "--fill", "90%", "--overwrite", "random:3x"],
    lists_all: false,
    op: "write",
    lengths: [20_000, 60_000],
    before_rooms: Some(12_586.0),
    last_release: Some(14_690.0),
};

/// The rows.
pub const ROWS: &[Row] = &[
    RECLAIMING,
    Row {
        name: "physics, 2K P/E + 1 month",
        age: &["pageftl", "--size", "8GiB", "--fill", "90%", "--overwrite", "random:3x", "--age", "2k+1mo"],
        lists_all: false,
        op: "write",
        lengths: [10_000, 30_000],
        before_rooms: None,
        last_release: Some(28_465.0),
    },
    Row {
        name: "reads, 2K P/E + 1 year",
        age: &["pageftl", "--size", "8GiB", "--fill", "90%", "--age", "2k+1y"],
        lists_all: false,
        op: "read",
        lengths: [5_000, 15_000],
        before_rooms: None,
        last_release: Some(75_635.0),
    },
    Row { name: "all techniques listed and off", lists_all: true, before_rooms: None, ..RECLAIMING },
];

impl Row {
    /// Measures the row with `program`, whose files go to the folder `into`. Returns the instructions of a request.
    ///
    /// # Errors
    /// The program or valgrind cannot be run, or fails.
    pub fn measure(&self, program: &Path, into: &Path) -> Result<f64> {
        let (drive, load) = (into.join("drive.wl"), into.join("load.toml"));
        std::fs::write(&load, workload(self.op))?;
        let listed = DECLARATIONS.iter().filter(|_| self.lists_all).map(|declaration| declaration.card.name);
        let off = listed.flat_map(|technique| ["--set".to_owned(), format!("techniques.{technique}.on=false")]);
        run(Command::new(program).arg("age").args(self.age).args(off).arg("--save").arg(&drive).arg("-q"))?;
        let counts = self.lengths.map(|requests| {
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
            valgrind.args(["run", "-q", "--from"]).arg(&drive).arg("-w").arg(&load).args(["--requests", &requests.to_string()]);
            collected(&run(&mut valgrind)?)
        });
        let [few, many] = counts;
        let [fewer, more] = self.lengths;
        Ok((many? - few?) / (more - fewer) as f64)
    }
}

/// A workload of 16-KiB requests of one kind, uniform over nine tenths of the drive.
fn workload(op: &str) -> String {
    format!(
        "name = \"gate\"\n[[phases]]\nname = \"gate\"\nmix = {{ {op} = \"100 %\" }}\nsize = \"16 KiB\"\naddress = \"uniform\"\nspan = \"90 %\"\n\
         arrival = {{ queue_depth = 32 }}\nrequests = 1000000\n"
    )
}

/// Run `command`. Returns its messages.
fn run(command: &mut Command) -> Result<String> {
    let name = PathBuf::from(command.get_program());
    let output = command.output().map_err(|error| Error::new(error.kind(), format!("{}: {error}", name.display())))?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(messages) } else { Err(Error::other(format!("{}: {messages}", name.display()))) }
}

/// Number of instructions in the `messages` of callgrind.
fn collected(messages: &str) -> Result<f64> {
    let count = messages.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.ok_or_else(|| Error::other(format!("callgrind has reported no instructions: {messages}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_instructions_is_found_among_other_messages() {
        let messages = "==7== Events    : Ir\n==7== Collected : 1234567\n==7==\n";
        assert_eq!(collected(messages).unwrap(), 1_234_567.0);
        assert!(collected("==7== Events    : Ir\n").is_err());
    }

    #[test]
    fn a_program_that_fails_is_an_error_with_its_name() {
        let error = ROWS[0].measure(Path::new("/nowhere/wordline"), &std::env::temp_dir()).unwrap_err().to_string();
        assert!(error.contains("/nowhere/wordline"), "{error}");
    }
}

//! `wordline serve`: a drive as a network block device.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use listenfd::ListenFd;
use wordline_block::Disk;
use wordline_chip::{RamPayload, Sanitisation};
use wordline_drive::{Config as DriveConfig, Watched};
use wordline_ftl::techniques::Choice;
use wordline_ftl::techniques::declaration::Need;
use wordline_ftl::techniques::hooks::Hook;
use wordline_live::doors::{Address, Listener};
use wordline_live::{
    About, LiveDisk, MediaStore, MetricsDoor, Opened, Stop, Timing, control_on, open_control, open_metrics, open_or_make, replace_missing,
    watch,
};
use wordline_nbd::{Access, Export};
use wordline_plan::Plan;
use wordline_serve::{Config, Link, Patience, Peers, TlsKeys, measure_link, open_door, serve_on};
use wordline_units::Bytes;

use crate::args::{ServeOptions, Survive, TlsClients};
use crate::failure::Failure;
use crate::files;
use crate::looking;
use crate::media_folder;
use crate::readiness::{self, State};
use crate::returned::{found_again, units_per_page};
use crate::stopping;

/// Where time matters, a connection stays awake for so long after each request: about as long as a drive takes for one.
const AWAKE: Duration = Duration::from_micros(500);

/// Where the protocol is at home.
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 10809);

/// The exit code of a server whose power was cut on demand.
const POWER_CUT: i32 = 5;

pub(crate) fn serve(options: &ServeOptions) -> Result<(), Failure> {
    let (drive, plan, settings) = options.options.load_served(options.drive.as_deref(), options.media.as_deref())?;
    plan.notes().iter().for_each(|note| eprintln!("wordline: {}: {note}", plan.name()));
    let config = plan.build();
    refuse_keys(&plan, &config)?;
    let (size, unit) = (config.exported(), config.firmware.unit);
    warnings(&config).iter().for_each(|warning| eprintln!("{warning}"));
    let about = about(&plan, again(&drive, &settings, plan.seed()));
    let patience = Patience { awake: if options.timing == Timing::Off { Duration::ZERO } else { AWAKE }, ..Patience::default() };
    let scratch = config.clone();
    let tls = options.tls.as_deref().map(|folder| keys(folder, options.tls_clients)).transpose()?;
    let scheme = if tls.is_some() { "nbds" } else { "nbd" };
    let serving = Config { tls, patience, ..Config::default() };
    let list = looking::list(options)?;
    // Before there are media: a server that finds its socket taken makes nothing.
    let doors = Doors::open(options, &serving)?;
    let stop = Stop::default();
    stopping::listen_to_signals(&stop)?;
    let is_read_only = options.read_only || options.salvage.is_some();
    let (disk, kept, doubtful) = match &options.media {
        None => (in_memory(config, options.timing, about), "its bytes in memory, gone when this ends".to_owned(), String::new()),
        Some(folder) if is_read_only => looking::drive(&plan, folder, options, about)?,
        Some(folder) => on_media(&plan, config, folder, options, about)?,
    };
    // A list that goes to a file is there before anybody can connect.
    list.filter(|&name| name != "-").map_or(Ok(()), |name| files::write_or_print(name, &format!("{doubtful}\n")))?;
    let link = link(options, scratch, patience)?;
    if link > Duration::ZERO {
        disk.allow_for(link);
    }
    let kept_by = kept_by(options, is_read_only);
    disk.on_power_cut(move |what| {
        eprintln!("wordline: {what}; {kept_by}");
        std::process::exit(POWER_CUT);
    });
    let disk = Arc::new(disk);
    let access = if is_read_only { Access::ReadOnly } else { Access::ReadWrite };
    let named = Export { description: described(&plan), access, block_min: 512, ..Export::new(&options.export, size.0) };
    let export = named.described(LiveDisk::description(unit));
    let control = doors.control.map(|door| control_on(door, Arc::clone(&disk), stop.clone())).transpose().map_err(failed)?;
    let metrics = doors.metrics.map(|door| door.serve(Arc::clone(&disk))).transpose().map_err(failed)?;
    let disks: Vec<(_, Arc<dyn Disk>)> = vec![(export, disk.clone())];
    let running = serve_on(doors.disks, disks, serving).map_err(failed)?;
    let uri = uri(scheme, running.address(), &options.export);
    files::write_or_print("-", &uri)?;
    list.filter(|&name| name == "-").map_or(Ok(()), |name| files::write_or_print(name, &doubtful))?;
    if let (Address::Tcp(_), "nbd") = (running.address(), scheme) {
        eprintln!("every user of this machine can read and write the disk at this address; --socket PATH keeps it to you");
    }
    let controlled = control.as_ref().map_or(String::new(), |control| format!("; control socket {}", control.path().display()));
    eprintln!("{}: {}, {kept}; timing {}{controlled}; stop with Ctrl-C", plan.name(), Bytes(size.0), options.timing);
    if let Some(metrics) = &metrics {
        show_metrics(metrics.address());
    }
    readiness::tell(State::Ready(&uri));
    let who = stop.wait_until_asked();
    readiness::tell(State::Stopping);
    drop(metrics);
    eprintln!(
        "{who}: stopping: requests under way are answered and everything is written down; another signal, a second or more later, gives up at once"
    );
    stopping::take_down(running, control, &disk, &stop)?;
    farewell(options, is_read_only);
    Ok(())
}

/// The drive by its plan, fresh and to be written; `again`: the command that serves it again.
fn about(plan: &Plan, again: Vec<String>) -> About {
    About { name: plan.name().to_owned(), plan_hash: plan.media_number(), seed: plan.seed(), again, is_used: false, is_read_only: false }
}

/// Refuses a drive that would encrypt what it keeps.
fn refuse_keys(plan: &Plan, config: &DriveConfig) -> Result<(), Failure> {
    if let Some(choice) = config.firmware.techniques.iter().find(|choice| choice.card().hooks.has(Hook::KeyStore)) {
        return Err(Failure::Usage(format!(
            "{}: techniques.{} is on, and a served drive keeps its bytes as they are written, not encrypted: expected a drive without it, such as secssd",
            plan.name(),
            choice.card().name
        )));
    }
    Ok(())
}

/// The address of the disk `name` for clients.
fn uri(scheme: &str, address: &Address, name: &str) -> String {
    match address {
        Address::Unix(path) => format!("{scheme}+unix:///{name}?socket={}", path.display()),
        Address::Tcp(address) => format!("{scheme}://{address}/{name}"),
    }
}

/// Writes where metrics are, and who can read them.
fn show_metrics(address: SocketAddr) {
    eprintln!("metrics at http://{address}/metrics");
    if !address.ip().is_loopback() {
        eprintln!("whoever reaches that address can read the metrics; there is no password, and nothing else that can be done there");
    }
}

/// The fate of the bytes of a drive whose power was cut.
fn kept_by(options: &ServeOptions, is_read_only: bool) -> &'static str {
    match options.media {
        None => "its bytes were in memory, and are gone",
        Some(_) if is_read_only => "nothing was written to its media",
        Some(_) => "what was flushed is on its media",
    }
}

/// Writes what has become of the data of a server that has stopped.
fn farewell(options: &ServeOptions, is_read_only: bool) {
    let acknowledged = if options.media.is_some() { "is on its media" } else { "was in memory, and is gone" };
    if is_read_only {
        eprintln!("stopped; nothing was written to its media");
    } else {
        eprintln!("stopped; everything that was acknowledged {acknowledged}");
    }
}

/// A line about the drive, for clients: how large it is, and of what.
fn described(plan: &Plan) -> String {
    let config = plan.build();
    let geometry = &config.sheet.geometry;
    let (size, unit, raw) = (config.exported(), config.firmware.unit, geometry.raw());
    format!("{}: {size} in mapping units of {unit}, on {} dies with {raw} of flash", plan.name(), geometry.dies())
}

/// What the user should know of the drive before data is on it.
fn warnings(config: &DriveConfig) -> Vec<String> {
    let spoils = |choice: &&Choice| choice.declaration().has_need(Need::Sanitise(Sanitisation::Reprogram));
    let spoilers = config.firmware.techniques.iter().filter(spoils);
    spoilers
        .map(|choice| {
            let card = choice.card();
            format!("warning: this drive spoils data by design: techniques.{} reprograms stale pages, and {}", card.name, card.limits)
        })
        .collect()
}

/// How much earlier answers leave.
fn link(options: &ServeOptions, scratch: DriveConfig, patience: Patience) -> Result<Duration, Failure> {
    let at = match &options.socket {
        Some(path) => Address::Unix(path.clone()),
        None => Address::Tcp(DEFAULT_LISTEN),
    };
    let measured = match (options.link, options.timing) {
        (Link::Takes(Duration::ZERO), _) => return Ok(Duration::ZERO),
        (_, Timing::Off) => {
            return Err(Failure::Usage(format!(
                "--link {}: there are no instants to keep to: expected --timing real or xN with it",
                options.link
            )));
        }
        (Link::Takes(time), Timing::Real(_)) => return Ok(time),
        (Link::Measured, Timing::Real(_)) => measure_link(in_memory(scratch, Timing::Real(1.0), About::default()), &at, patience),
    };
    let link = measured.map_err(|error| Failure::Usage(format!("--link auto: the socket could not be measured: {error}")))?;
    eprintln!(
        "the socket takes {:.1} us, measured with 4-KiB reads one at a time; answers leave so much earlier",
        link.as_secs_f64() * 1e6
    );
    Ok(link)
}

/// Failure for an address that could not be listened on.
fn failed(error: impl std::error::Error) -> Failure {
    Failure::Usage(error.to_string())
}

/// Where clients come in.
struct Doors {
    disks: Listener,
    control: Option<Listener>,
    metrics: Option<MetricsDoor>,
}

impl Doors {
    fn open(options: &ServeOptions, config: &Config) -> Result<Doors, Failure> {
        let disks = door(options, config)?;
        let beside = options.socket.as_ref().map(|path| {
            let mut name = path.clone().into_os_string();
            name.push(".ctl");
            name.into()
        });
        let control = options.control.clone().or(beside).map(|path| open_control(&path)).transpose().map_err(failed)?;
        let metrics = options.metrics.map(open_metrics).transpose().map_err(failed)?;
        Ok(Doors { disks, control, metrics })
    }
}

/// Where the disk is served.
fn door(options: &ServeOptions, config: &Config) -> Result<Listener, Failure> {
    let mut handed = ListenFd::from_env();
    let is_told = options.socket.is_some() || options.listen.is_some();
    let at = |address: Address| open_door(&address, config).map_err(failed);
    match (&options.socket, handed.len()) {
        (Some(path), _) => at(Address::Unix(path.clone())),
        (None, count) if is_told || count == 0 => at(Address::Tcp(options.listen.unwrap_or(DEFAULT_LISTEN))),
        (None, 1) => take_over(&mut handed).map_err(|error| {
            Failure::Usage(format!("the socket that was handed over (LISTEN_FDS): {error}; expected one that listens, TCP or Unix"))
        }),
        (None, count) => Err(Failure::Usage(format!("{count} sockets were handed over (LISTEN_FDS): expected one"))),
    }
}

fn take_over(handed: &mut ListenFd) -> std::io::Result<Listener> {
    if let Ok(Some(listener)) = handed.take_unix_listener(0) {
        return Listener::handed_over_unix(listener);
    }
    let listener = handed.take_tcp_listener(0)?.ok_or(std::io::ErrorKind::NotFound)?;
    Listener::handed_over_tcp(listener)
}

fn keys(folder: &Path, clients: TlsClients) -> Result<TlsKeys, Failure> {
    let peers = match clients {
        TlsClients::Certified => Peers::Certified,
        TlsClients::Any => Peers::Anyone,
    };
    TlsKeys::read(folder, peers).map_err(|error| Failure::Usage(error.to_string()))
}

/// The arguments with which `wordline run` makes the drive again, as it was before its first request.
fn again(drive: &str, settings: &[String], seed: u64) -> Vec<String> {
    let set = settings.iter().flat_map(|setting| ["--set".to_owned(), setting.clone()]);
    let rest = ["--seed".to_owned(), seed.to_string(), "--fill".to_owned(), "0%".to_owned()];
    std::iter::once(drive.to_owned()).chain(set).chain(rest).collect()
}

/// Room on the host's disk that a drive may need to write down what it has taken: its buffers, and what is moved before a block of each plane is free again.
fn reserve(config: &DriveConfig) -> u64 {
    /// Of large drives nearly all of it is never needed at once, and what the host has no room for is held.
    const ENOUGH: u64 = 64 << 20;
    let geometry = &config.sheet.geometry;
    let buffers = u64::from(config.cores) * u64::from(config.firmware.buffer.units) * config.firmware.unit.0;
    let blocks = u64::from(geometry.dies()) * u64::from(geometry.planes) * u64::from(geometry.pages()) * geometry.page.0;
    (buffers + blocks).min(ENOUGH)
}

fn in_memory(config: DriveConfig, timing: Timing, about: About) -> LiveDisk {
    let build = move || {
        let (sheet, units) = (config.sheet, units_per_page(&config));
        let age = config.age();
        let watched = watch(&config);
        let mut drive = Watched::with_payload(config, watched, |_| RamPayload::new(&sheet, units));
        age.iter().for_each(|age| drive.set_age(age));
        (drive, ())
    };
    LiveDisk::start_kept(build, timing, about)
}

fn on_media(
    plan: &Plan,
    config: DriveConfig,
    folder: &Path,
    options: &ServeOptions,
    about: About,
) -> Result<(LiveDisk, String, String), Failure> {
    let durability = match options.survive {
        Survive::Process => wordline_live::Durability::Process,
        Survive::Host => wordline_live::Durability::Host,
    };
    let units = units_per_page(&config);
    // Media that an older build has numbered by its own rule keep that number.
    let number = media_folder::identity(folder).filter(|&number| plan.has_media_number(number)).unwrap_or(plan.media_number().into());
    let named = (plan.name(), number);
    if !options.missing_die.is_empty() {
        replace_missing(folder, &config, named, &options.missing_die, durability)
            .map_err(|error| media_folder::refused(folder, plan, &error))?;
    }
    let opened = open_or_make(folder, &config, named, durability).map_err(|error| media_folder::refused(folder, plan, &error))?;
    let Opened { media, dump, is_found } = opened;
    media_folder::warning(folder).iter().for_each(|warning| eprintln!("{warning}"));
    // Whoever takes the chips off the board knows the drive, too.
    media_folder::keep_plan(folder, plan, is_found)?;
    let build = move || {
        let age = config.age();
        let watched = watch(&config);
        let store = MediaStore::new(media, units, dump).reserving(reserve(&config), |line| eprintln!("wordline: {line}"));
        let capacitors = store.capacitors(config.firmware.buffer.units);
        // A drive that is back is as worn as it was; a new one is set to its age.
        let age = age.filter(|_| !is_found);
        let mut drive = if is_found {
            let began = std::time::Instant::now();
            let drive = Watched::wake(config, watched, |die| store.payload(die), capacitors);
            eprintln!("{}", found_again(&drive, began.elapsed()));
            drive
        } else {
            let mut drive = Watched::with_payload(config, watched, |die| store.payload(die));
            capacitors.into_iter().for_each(|capacitors| drive.connect(capacitors));
            drive
        };
        age.iter().for_each(|age| drive.set_age(age));
        (drive, store)
    };
    let kept = format!("{} {}", if is_found { "back from" } else { "made in" }, folder.display());
    Ok((LiveDisk::start_kept(build, options.timing, About { is_used: is_found, ..about }), kept, String::new()))
}

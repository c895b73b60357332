//! Do workloads of files do what files do, and what the papers' tables say of them?

use std::collections::BTreeMap;

use wordline_units::random::{Draw, Stream};
use wordline_units::{Bytes, HostOp, HostRequest, Tolerance};
use wordline_workload::{AnySpec, FileLoad, FileOptions, FileSpec, Tagged};

const CAPACITY: Bytes = Bytes::gib(4);
const BLOCK: u64 = 16 << 10;
const SECTORS: u64 = BLOCK / 512;

fn spec(name: &str) -> FileSpec {
    FileSpec::built_in(name).expect("known").unwrap_or_else(|error| panic!("{error}"))
}

fn load(name: &str, seed: u64, options: FileOptions) -> FileLoad {
    FileLoad::new(&spec(name), seed, CAPACITY, options).unwrap_or_else(|error| panic!("{error}"))
}

fn half() -> FileOptions {
    FileOptions { length: Some(0.5), ..FileOptions::default() }
}

/// A drive as an array of blocks that knows whose each is. It believes nothing that the file system says of itself.
struct Disk {
    owners: Vec<Option<u32>>,
    held: BTreeMap<u32, u64>,
    /// The number of the last write of each file, and of the trim of each block.
    written: BTreeMap<u32, u64>,
    trimmed: Vec<Option<u64>>,
    writes: u64,
    reads: u64,
    /// Blocks of each write of a file, however many requests it took.
    calls: BTreeMap<(u32, u32), u64>,
    bytes: [u64; 2],
}

impl Disk {
    fn new(load: &FileLoad) -> Disk {
        let blocks = (CAPACITY.0 / BLOCK) as usize;
        let mut disk = Disk {
            owners: vec![None; blocks],
            held: BTreeMap::new(),
            written: BTreeMap::new(),
            trimmed: vec![None; blocks],
            writes: 0,
            reads: 0,
            calls: BTreeMap::new(),
            bytes: [0; 2],
        };
        for file in load.system().files() {
            for block in file.extents.iter().flat_map(|extent| extent.start..extent.end()) {
                assert_eq!(disk.owners[block as usize].replace(file.id), None, "block {block} is in two files");
            }
            disk.held.insert(file.id, file.blocks);
        }
        let prefilled = load.prefilled().0 / BLOCK;
        assert!(
            disk.owners[..prefilled as usize].iter().all(Option::is_some) && disk.owners[prefilled as usize..].iter().all(Option::is_none)
        );
        disk
    }

    fn take(&mut self, tagged: &Tagged, distance: u64) {
        let request = &tagged.request;
        assert!(request.sector.is_multiple_of(SECTORS) && u64::from(request.sectors).is_multiple_of(SECTORS), "{tagged:?}");
        let (first, blocks) = (request.sector / SECTORS, u64::from(request.sectors) / SECTORS);
        assert!(first + blocks <= self.owners.len() as u64, "{tagged:?} runs past the drive");
        assert_eq!(blocks == 0, request.op == HostOp::Flush);
        let range = first as usize..(first + blocks) as usize;
        match (request.op, tagged.tag) {
            (HostOp::Flush, None) => {}
            // Blocks that are to be written without a tolerance lose that of the file before.
            (HostOp::Hint, None) => {
                let is_held = self.owners[range].iter().all(Option::is_some);
                assert!(is_held || request.attributes.tolerance == Tolerance::Default, "{tagged:?} is about what no file holds");
            }
            (HostOp::Read, None) => {
                self.reads += 1;
                assert!(self.owners[range].iter().all(Option::is_some), "{tagged:?} reads what no file holds");
            }
            (HostOp::Write, Some(tag)) => {
                for block in range {
                    let owner = self.owners[block].replace(tag.file);
                    assert_eq!(owner, tag.replaces.then_some(tag.file), "{tagged:?} of block {block}");
                    if let Some(trim) = self.trimmed[block] {
                        assert!(self.writes >= trim + distance, "block {block} was used again before its trim was done");
                    }
                }
                *self.held.entry(tag.file).or_default() += if tag.replaces { 0 } else { blocks };
                *self.calls.entry((tag.file, tag.version)).or_default() += blocks;
                self.bytes[usize::from(!request.attributes.secure)] += blocks * BLOCK;
                self.writes += 1;
                self.written.insert(tag.file, self.writes);
            }
            (HostOp::Trim, Some(tag)) => {
                assert!(tag.replaces);
                let last = self.written.get(&tag.file).copied().unwrap_or(0);
                assert!(last == 0 || self.writes >= last + distance, "file {} was trimmed while it was written", tag.file);
                for block in range {
                    assert_eq!(self.owners[block].take(), Some(tag.file), "{tagged:?} of block {block}");
                    self.trimmed[block] = Some(self.writes);
                }
                *self.held.get_mut(&tag.file).expect("known") -= blocks;
            }
            _ => panic!("{tagged:?}"),
        }
        assert!(request.attributes.secure || request.op == HostOp::Write);
    }

    /// What the file system believes at the end is what the requests made.
    fn agree(&self, load: &FileLoad) {
        let mut living = BTreeMap::new();
        for file in load.system().files() {
            living.insert(file.id, file.blocks);
            assert_eq!(self.held.get(&file.id).copied().unwrap_or(0), file.blocks, "file {}", file.id);
            for block in file.extents.iter().flat_map(|extent| extent.start..extent.end()) {
                assert_eq!(self.owners[block as usize], Some(file.id), "block {block}");
            }
        }
        for (block, owner) in self.owners.iter().enumerate() {
            assert!(!load.system().space().is_free(block as u64) || owner.is_none(), "block {block} is free, and written");
        }
        // A deleted file holds all of it, until its trims come, or nothing.
        let in_part = self.held.iter().filter(|(id, blocks)| **blocks > 0 && !living.contains_key(id));
        let waiting: u64 = in_part.map(|(_, blocks)| blocks).sum();
        let system = load.system();
        assert!(waiting <= system.capacity() - system.live() - system.space().free());
    }
}

fn run(name: &str, seed: u64, options: FileOptions) -> (Disk, FileLoad) {
    let mut load = load(name, seed, options);
    let mut disk = Disk::new(&load);
    let distance = 2 * u64::from(load.queue_depth());
    while let Some(tagged) = load.next_tagged() {
        disk.take(&tagged, distance);
    }
    disk.agree(&load);
    (disk, load)
}

/// True if the workload of this name writes.
fn writes(name: &str) -> bool {
    FileSpec::built_in(name).expect("known").expect("sound").writes()
}

#[test]
fn every_block_belongs_to_one_file_and_a_trim_takes_exactly_what_a_file_held() {
    for name in FileSpec::built_in_names() {
        let (disk, load) = run(name, 11, half());
        let written = disk.bytes[0] + disk.bytes[1];
        // A small share of the length is overshot by the write that reaches it.
        let FileSpec { warm_up, prefill, .. } = FileSpec::built_in(name).expect("known").expect("sound");
        let length = (0.5 + warm_up) * CAPACITY.0 as f64;
        if writes(name) {
            assert!((written as f64 - length) >= 0.0 && (written as f64 - length) < 16e6, "{name}: {written}");
        } else {
            assert!(written == 0 && disk.reads > 0, "{name}: {written}");
        }
        assert_eq!(disk.bytes[1], 0, "{name}: everything is secure by default");
        let level = if name == "webserver" { 0.80 } else { prefill };
        let live = load.system().live() as f64 * BLOCK as f64 / CAPACITY.0 as f64;
        // Filebench's proxy deletes files of any size and creates small ones.
        assert!(live <= level + 1e-9 && live > if name == "webproxy" { 0.5 } else { 0.7 }, "{name}: {live}");
    }
}

#[test]
fn files_of_the_beginning_lie_set_by_set_or_mixed() {
    let order = |layout: &str| -> Vec<usize> {
        let text =
            AnySpec::built_in_text("dbserver").expect("known").replacen("queue_depth", &format!("layout = \"{layout}\"\nqueue_depth"), 1);
        let load = FileLoad::new(&FileSpec::parse(&text, "x.toml").expect("sound"), 1, CAPACITY, FileOptions::default()).expect("fits");
        let mut places: Vec<(u64, usize)> = load.system().files().map(|file| (file.extents[0].start, file.set)).collect();
        places.sort_unstable();
        places.into_iter().map(|(_, set)| set).collect()
    };
    let (sets, mixed) = (order("sets"), order("mixed"));
    assert!(sets.is_sorted());
    // The share of the data is a tenth, anywhere on the drive.
    let tenth = mixed.len() / 10;
    let counts: Vec<usize> = mixed.chunks(tenth).map(|part| part.iter().filter(|set| **set == 1).count()).collect();
    assert!(counts[..10].iter().all(|&count| (2..=5).contains(&count)), "{counts:?}");
}

#[test]
fn files_of_an_interleaved_beginning_lie_in_writes_among_those_of_other_sets() {
    let text = AnySpec::built_in_text("dbserver").expect("known");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("layout")).collect();
    let text = lines.join("\n").replacen("queue_depth", "layout = \"interleaved\"\nqueue_depth", 1);
    let load = FileLoad::new(&FileSpec::parse(&text, "x.toml").expect("sound"), 1, CAPACITY, FileOptions::default()).expect("fits");
    let system = load.system();
    let (mut pieces, mut blocks): (Vec<(u64, u64, usize)>, [u64; 3]) = (Vec::new(), [0; 3]);
    for file in system.files() {
        assert_eq!(file.extents.iter().map(|extent| extent.len).sum::<u64>(), file.blocks);
        let is_whole = file.extents.windows(2).all(|pair| pair[0].end() < pair[1].start);
        assert!(is_whole, "pieces that touch are one");
        pieces.extend(file.extents.iter().map(|extent| (extent.start, extent.len, file.set)));
        blocks[file.set] += file.blocks;
    }
    pieces.sort_unstable();
    let end = pieces.iter().fold(0, |end, &(start, len, _)| {
        assert_eq!(start, end, "the beginning lies without a gap");
        start + len
    });
    assert_eq!((end, end * BLOCK), (blocks.iter().sum(), load.prefilled().0));
    let of_data: Vec<u64> = pieces.iter().filter(|piece| piece.2 == 1).map(|piece| piece.1 * BLOCK).collect();
    // The data falls behind by one file of the others, which is one write, and catches up by one write or by several small ones in a row.
    assert!(of_data.iter().all(|&bytes| bytes <= 512 << 10), "{:?}: a file lies in pieces", of_data.iter().max());
    // A tenth of each part of the drive is data, but for the size of a write.
    let part = end / 40;
    let mut data = vec![0u64; 40];
    for &(start, len, _) in pieces.iter().filter(|piece| piece.2 == 1) {
        (start..start + len).for_each(|block| data[((block / part) as usize).min(39)] += 1);
    }
    let most = (256 << 10) / BLOCK;
    assert!(data[..39].iter().all(|&count| count.abs_diff(part / 10) <= 2 * most), "{data:?} of {part}");
}

#[test]
fn the_same_seed_makes_the_same_requests_and_another_others() {
    for name in FileSpec::built_in_names() {
        let drawn = |seed| load(name, seed, FileOptions::default()).take(3_000).collect::<Vec<_>>();
        assert_eq!(drawn(3), drawn(3), "{name}");
        assert_ne!(drawn(3), drawn(4), "{name}");
    }
}

/// 000 §5.4 Table 4 and 002 §7 Table 2; for sysbench 000 §3.4.3 Table 2; for YCSB-A over a B-tree 003 §6.1; for those of rcFTL 001 Table 7.
#[test]
fn mixes_and_sizes_are_those_of_the_papers_tables() {
    const KIB: u64 = 1 << 10;
    let table = [
        ("mailserver", 1.0, [16, 32]),
        ("dbserver", 1.0 / 10.0, [16, 256]),
        ("fileserver", 3.0 / 4.0, [32, 128]),
        ("mobile", 1.0 / 50.0, [512, 8192]),
        ("sysbench-oltp", 70.0 / 30.0, [16, 16]),
        ("ntrx", 5.0 / 95.0, [16, 16]),
        ("mongo", 1.0, [32, 128]),
        ("rcftl-oltp", 7.0 / 3.0, [16, 16]),
        ("rcftl-ntrx", 0.5 / 9.5, [16, 16]),
        ("rcftl-fileserver", 4.0 / 6.0, [32, 128]),
        ("msr-proj0", 6.0 / 94.0, [16, 16]),
        ("msr-prxy1", 64.0 / 36.0, [16, 16]),
        ("msr-prxy0", 5.0 / 95.0, [16, 16]),
        ("msr-src10", 46.0 / 54.0, [16, 16]),
        ("msr-proj2", 86.0 / 14.0, [16, 16]),
        ("longftl-oltp", 70.0 / 30.0, [16, 16]),
    ];
    for (name, ratio, [least, most]) in table {
        let length = if name == "mobile" { 2.0 } else { 0.3 };
        let (disk, _) = run(name, 5, FileOptions { length: Some(length), ..FileOptions::default() });
        let (reads, expected) = (disk.reads as f64, disk.writes as f64 * ratio);
        // The balance is kept request by request; one read of a file may make several.
        assert!((reads - expected).abs() < 8.0, "{name}: {reads} reads for {} writes, not {expected}", disk.writes);
        let sizes: Vec<u64> = disk.calls.values().map(|blocks| blocks * BLOCK).collect();
        assert!(
            sizes.iter().all(|size| (least * KIB..=most * KIB).contains(size)),
            "{name}: {:?}",
            (sizes.iter().min(), sizes.iter().max())
        );
        assert!(sizes.contains(&(least * KIB)) && sizes.iter().max() > Some(&(most * KIB * 9 / 10)), "{name}: the whole range is used");
        // Files lie in few pieces: a write is hardly ever torn into requests below the range.
        let torn = disk.writes as f64 / sizes.len() as f64;
        assert!(torn < 1.25, "{name}: {torn} requests for a write");
    }
}

/// The shipped loops: so many reads come with so many writes, whatever the files are.
#[test]
fn filebench_loops_come_out_as_they_are_written() {
    let calls = |name: &str| {
        // One round of an LSM tree is a fifth of this drive.
        let length = if name == "rocks" { 1.0 } else { 0.2 };
        let (disk, _) = run(name, 2, FileOptions { length: Some(length), ..FileOptions::default() });
        let blocks: u64 = disk.calls.values().sum();
        (disk.reads as f64, disk.calls.len() as f64, blocks as f64)
    };
    let (reads, writes, blocks) = calls("varmail");
    assert!((blocks / writes - 1.0).abs() < 1e-9, "appends of up to 16 KiB take a page");
    // A mail that grew may lie in two pieces, and is read in two requests.
    assert!((1.0..1.6).contains(&(reads / writes)), "two reads and two writes: {}", reads / writes);
    let (reads, writes, _) = calls("webserver");
    assert!((9.9..10.6).contains(&(reads / writes)), "ten reads and a write: {}", reads / writes);
    let (reads, writes, _) = calls("webproxy");
    assert!((4.9..5.6).contains(&(reads / writes)), "five reads and a write: {}", reads / writes);
    let (reads, writes, _) = calls("oltp");
    assert!((9.6..10.4).contains(&(reads / writes)), "3200 reads and 321 writes: {}", reads / writes);
    let (reads, writes, blocks) = calls("rocks");
    // A log of 64 MiB, a table, and ten that are read and written, to 16 384 reads; all but those in pieces of 1 MiB.
    assert!((blocks / writes - 64.0).abs() < 1e-9);
    assert!((17.0..28.0).contains(&(reads / writes)), "{}", reads / writes);
    let (_, writes, blocks) = calls("filebench-fileserver");
    // A file of 128 KiB, rounded up, in pieces of 1 MiB at most, and an append: 8.5 blocks and one for two writes.
    assert!((4.5..5.1).contains(&(blocks / writes)), "{}", blocks / writes);
}

#[test]
fn the_secure_fraction_is_that_of_written_bytes() {
    // All that a web server writes is one log, half of what goes to a B-tree one journal, and a hot share of a small drive is a few files.
    let few = ["webserver", "mongo", "msr-proj0", "msr-prxy1", "msr-prxy0"];
    for name in FileSpec::built_in_names().into_iter().filter(|name| writes(name) && !few.contains(name)) {
        for fraction in if ["dbserver", "mailserver"].contains(&name) { [0.0, 0.3, 0.6, 1.0].as_slice() } else { &[0.6] } {
            let &fraction = fraction;
            // Large files are few.
            let length = if ["mobile", "rocks"].contains(&name) { 1.0 } else { 0.3 };
            let (disk, load) = run(name, 9, FileOptions { secure: Some(fraction), length: Some(length), ..FileOptions::default() });
            let [secure, insecure] = disk.bytes.map(|bytes| bytes as f64);
            let measured = secure / (secure + insecure);
            println!("{name}: {measured} for {fraction}");
            // Of an LSM tree a twelfth goes to one log, which is secure or not.
            let off = if name == "rocks" { 0.06 } else { 0.03 };
            assert!((measured - fraction).abs() < off, "{name}: {measured} for {fraction}");
            assert!(fraction != 0.0 || secure == 0.0);
            assert!(fraction != 1.0 || insecure == 0.0);
            let files: Vec<_> = load.system().files().collect();
            assert!(
                fraction == 0.0 || fraction == 1.0 || files.iter().any(|file| file.is_secure) != files.iter().all(|file| file.is_secure)
            );
        }
    }
}

#[test]
fn random_workloads_of_files_keep_their_books() {
    let mut failures = 0;
    for seed in 0..40 {
        let mut draw = Draw::new(seed, Stream::Mix, 77);
        let pick = |draw: &mut Draw, of: &[&str]| of[draw.below(of.len() as u64) as usize].to_owned();
        let sizes = ["\"16 KiB\"", "[\"16 KiB\", \"200 KiB\"]", "{ gamma = \"90 KiB\" }", "\"1 MiB\""];
        let mut text = format!(
            "name = \"random\"\nalign = \"16 KiB\"\nprefill = \"{} %\"\nlevel = \"90 %\"\nlength = \"30 %\"\nqueue_depth = {}\n",
            draw.below(85),
            1 + draw.below(40)
        );
        text += &format!("layout = \"{}\"\n", pick(&mut draw, &["sets", "mixed", "interleaved"]));
        for (name, share) in [("a", "70 %"), ("b", "30 %")] {
            let (size, write) = (pick(&mut draw, &sizes), pick(&mut draw, &sizes));
            text += &format!("[[sets]]\nname = \"{name}\"\nshare = \"{share}\"\nsize = {size}\nwrite = {write}\n");
        }
        text += "[[threads]]\nops = [{ do = \"create\", set = \"a\" }, { do = \"replace\", set = \"b\" }]\n";
        for _ in 0..1 + draw.below(4) {
            text += "[[threads]]\nops = [\n";
            for _ in 0..1 + draw.below(5) {
                let deed = pick(&mut draw, &["create", "append", "overwrite", "log", "replace", "delete", "read", "sync"]);
                text += &format!("{{ do = \"{deed}\", set = \"{}\" }},\n", pick(&mut draw, &["a", "b"]));
            }
            text += "]\n";
        }
        let spec = FileSpec::parse(&text, "random.toml").unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut load = match FileLoad::new(&spec, seed, CAPACITY, FileOptions::default()) {
            Ok(load) => load,
            Err(_) => {
                failures += 1;
                continue;
            }
        };
        let mut disk = Disk::new(&load);
        println!("seed {seed}");
        // Nearly full drives do not wait for trims to be done.
        while let Some(tagged) = load.next_tagged() {
            disk.take(&tagged, 0);
        }
        disk.agree(&load);
    }
    assert!(failures < 5, "{failures}");
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_the_nearest_right_word() {
    let good = AnySpec::built_in_text("mobile").expect("known");
    assert!(matches!(AnySpec::parse(good, "x.toml"), Ok(AnySpec::Files(_))));
    let cases = [
        ("align = \"16 KiB\"", "align = \"1000 B\"", "multiple of 512 B"),
        ("prefill = \"75 %\"", "prefill = \"75 %\"\nlevel = \"50 %\"", "below the prefill"),
        ("length = \"400 %\"", "length = \"400\"", "400 %"),
        ("share = \"99 %\"", "share = \"90 %\"", "sum to 91"),
        ("share = \"99 %\"", "files = 7", "either all"),
        ("set = \"recordings\"", "set = \"recordngs\"", "did you mean 'recordings'"),
        ("do = \"append\"", "do = \"apend\"", "did you mean 'append'"),
        ("room = \"pictures\"", "room = \"picture\"", "did you mean 'pictures'"),
        ("do = \"append\", set", "do = \"append\", same = true, set", "operation before"),
        ("[\"512 KiB\", \"8 MiB\"]", "[\"8 MiB\", \"512 KiB\"]", "smaller first"),
        ("writes = 50", "writes = 0", "writes something"),
        ("ops = [{ do = \"read\", set = \"pictures\" }]", "ops = [{ do = \"sync\" }]", "thread that reads"),
        ("do = \"read\", set", "do = \"read\", durable = true, set", "belongs to a write"),
    ];
    for (right, wrong, told) in cases {
        let text = good.replacen(right, wrong, 1);
        assert_ne!(text, good, "{right}");
        let error = AnySpec::parse(&text, "x.toml").expect_err(wrong);
        assert!(error.to_string().contains(told), "{wrong}: {error}");
        assert!(error.position().is_some(), "{wrong}: {error}");
    }
    let error = FileLoad::new(&spec("mobile"), 1, Bytes::mib(8), FileOptions::default()).expect_err("pictures are larger than the drive");
    assert!(error.to_string().contains("pictures"), "{error}");
    let error = AnySpec::built_in("mobil").expect_err("no such workload").to_string();
    assert!(error.contains("'mobile'") && error.contains("uniform-write"), "{error}");
}

#[test]
fn files_in_the_host_s_memory_are_not_read_from_the_drive_and_durable_writes_pass() {
    let (cached, plain) = (load("oltp-cached", 3, half()), load("oltp", 3, half()));
    let writes = |load: FileLoad| load.filter(|request| request.op == HostOp::Write).collect::<Vec<_>>();
    assert!(load("oltp-cached", 3, half()).all(|request| request.op == HostOp::Write && request.fua));
    let (cached, plain) = (writes(cached), writes(plain));
    assert!(cached.len() > 10_000 && cached == plain, "{} and {} writes", cached.len(), plain.len());
}

/// One file of eight blocks that one thread does `ops` to, behind a page cache of `size` of which `dirty` may wait to be written: what reaches the drive.
fn behind(ops: &str, size: &str, dirty: &str) -> Vec<(HostOp, u64, u64)> {
    let text = format!(
        "name = \"one\"\nalign = \"16 KiB\"\nprefill = \"0.0030517578125 %\"\nlength = \"1 %\"\nqueue_depth = 1\n\
         cache = {{ size = \"{size}\", dirty = \"{dirty}\" }}\n[[sets]]\nname = \"file\"\nfiles = 1\nsize = \"128 KiB\"\n[[threads]]\nops = [{ops}]\n"
    );
    let load = FileSpec::parse(&text, "one.toml").and_then(|spec| FileLoad::new(&spec, 1, CAPACITY, FileOptions::default()));
    let requests = load.unwrap_or_else(|error| panic!("{error}")).take(300);
    requests.map(|request| (request.op, request.sector / SECTORS, u64::from(request.sectors) / SECTORS)).collect()
}

const LOG: &str = "{ do = \"log\", set = \"file\", size = \"16 KiB\", times = 24 }";

#[test]
fn what_is_not_durable_reaches_the_drive_when_it_is_synchronised_or_too_much() {
    let in_turn =
        |requests: &[(HostOp, u64, u64)]| requests.iter().enumerate().all(|(at, found)| *found == (HostOp::Write, at as u64 % 8, 1));
    // Three rounds over the file, then a flush: each block is written once.
    let synchronised = behind(&format!("{LOG}, {{ do = \"sync\" }}"), "1 MiB", "100 %");
    assert!(in_turn(&synchronised[..8]) && synchronised[8] == (HostOp::Flush, 0, 0), "{:?}", &synchronised[..9]);
    // Nothing may wait, or four blocks may: all writes reach the drive, in order.
    for dirty in ["0 %", "6.25 %"] {
        let requests = behind(LOG, "1 MiB", dirty);
        assert!(in_turn(&requests), "{dirty}: {:?}", &requests[..20]);
    }
    // Memory for four blocks: the oldest leaves, and is written.
    assert!(in_turn(&behind(LOG, "64 KiB", "100 %")));
    // All may wait, and nobody asks for them: a host with nothing else to do writes them.
    assert_eq!(behind(LOG, "1 MiB", "100 %").len(), 300);
}

#[test]
fn the_least_recently_used_pages_are_read_again() {
    let both =
        "{ do = \"read\", set = \"file\", size = \"16 KiB\" }, { do = \"overwrite\", set = \"file\", size = \"16 KiB\", durable = true }";
    let reads = |size: &str| {
        let requests = behind(both, size, "0 %");
        let of = |op: HostOp| requests.iter().filter(|request| request.0 == op).count() as f64;
        of(HostOp::Read) / of(HostOp::Write)
    };
    // All of the file, half of it, an eighth of it is in memory.
    let [all, half, one] = ["128 KiB", "64 KiB", "16 KiB"].map(reads);
    assert!(all == 0.0 && (0.3..0.7).contains(&half) && (0.75..1.0).contains(&one), "{all}, {half} and {one} of the reads reach the drive");
}

#[test]
fn trims_of_at_most_a_block_trim_the_same_blocks() {
    let trims = |trim: Option<Bytes>| -> Vec<(u64, u64)> {
        let load = load("mobile", 5, FileOptions { trim, ..half() });
        load.filter(|request| request.op == HostOp::Trim)
            .map(|request| (request.sector / SECTORS, u64::from(request.sectors) / SECTORS))
            .collect()
    };
    let (whole, single) = (trims(None), trims(Some(Bytes(BLOCK))));
    assert!(whole.iter().any(|(_, blocks)| *blocks > 100) && single.iter().all(|(_, blocks)| *blocks == 1));
    let blocks: Vec<u64> = whole.iter().flat_map(|(first, blocks)| *first..first + blocks).collect();
    assert_eq!(single.iter().map(|(block, _)| *block).collect::<Vec<_>>(), blocks);
}

#[test]
fn a_page_cache_that_cannot_be_is_refused_by_name() {
    let with = |old: &str, new: &str| {
        let text = include_str!("../../../studies/workloads/oltp-cached.toml").replace(old, new);
        FileSpec::parse(&text, "own.toml").map(|_| ()).map_err(|error| error.to_string())
    };
    for (old, new, expected) in [
        ("size = \"100 %\" }", "size = \"0 GiB\" }", "above zero"),
        ("size = \"100 %\" }", "siz = \"1 GiB\" }", "size"),
        ("cache =", "mix = { reads = 1, writes = 1 }\ncache =", "a mix"),
        ("cache =", "trim = \"10 KiB\"\ncache =", "alignment"),
    ] {
        let error = with(old, new).expect_err(new);
        assert!(error.contains(expected) && error.contains("own.toml"), "{new}: {error}");
    }
    with("cache =", "trim = \"16 KiB\"\ncache =").expect("one block is a trim");
}

#[test]
fn what_a_thread_asks_for_has_its_priority() {
    let text = "name = \"x\"\nalign = \"16 KiB\"\nprefill = \"50 %\"\nlength = \"50 %\"\nqueue_depth = 8\n[[sets]]\nname = \"a\"\nfiles = 10\nsize = \"64 KiB\"\n\
                [[threads]]\npriority = \"high\"\nops = [{ do = \"read\", set = \"a\" }]\n[[threads]]\npriority = \"low\"\n\
                ops = [{ do = \"overwrite\", set = \"a\", size = \"16 KiB\" }, { do = \"sync\" }]\n";
    let spec = FileSpec::parse(text, "x.toml").expect("sound");
    let load = FileLoad::new(&spec, 1, Bytes::mib(64), FileOptions::default()).expect("fits");
    let mut seen = std::collections::BTreeSet::new();
    for request in load.take(500) {
        seen.insert((request.op.name(), request.attributes.priority.name()));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [("flush", "low"), ("read", "high"), ("write", "low")]);
    let wrong = FileSpec::parse(&text.replace("\"high\"", "\"hihg\""), "x.toml").expect_err("no such class").to_string();
    assert!(wrong.contains("x.toml:11") && wrong.contains("did you mean 'high'?"), "{wrong}");
}

/// Requests of two sets; `tolerance` is a line of the first.
fn two_sets(layout: &str, tolerance: &str) -> Vec<HostRequest> {
    let text = format!(
        "name = \"x\"\nalign = \"16 KiB\"\nprefill = \"50 %\"\nlength = \"300 %\"\nqueue_depth = 8\nlayout = \"{layout}\"\n[[sets]]\nname = \"a\"\n\
         share = \"50 %\"\nsize = \"64 KiB\"\n{tolerance}\n[[sets]]\nname = \"b\"\nshare = \"50 %\"\nsize = \"64 KiB\"\n[[threads]]\n\
         ops = [{{ do = \"replace\", set = \"a\" }}, {{ do = \"overwrite\", set = \"b\" }}, {{ do = \"replace\", set = \"b\" }}]\n"
    );
    let spec = FileSpec::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    FileLoad::new(&spec, 1, Bytes::mib(64), FileOptions::default()).expect("fits").collect()
}

#[test]
fn a_set_with_a_tolerance_is_hinted_and_each_block_has_the_class_of_its_newest_write() {
    for layout in ["sets", "mixed"] {
        let (plain, hinted) = (two_sets(layout, ""), two_sets(layout, "tolerance = \"longer\""));
        let first = hinted.iter().take_while(|request| request.op == HostOp::Hint).count();
        assert_eq!(first == 1, layout == "sets", "{first} hints for {layout}");
        let sectors: u64 = hinted[..first].iter().map(|hint| u64::from(hint.sectors)).sum();
        assert_eq!(sectors * 512, Bytes::mib(16).0, "half of the prefilled half");
        let without = |request: &HostRequest| HostRequest { attributes: request.attributes.with_tolerance(Tolerance::Default), ..*request };
        let others: Vec<HostRequest> = hinted.iter().filter(|request| request.op != HostOp::Hint).map(without).collect();
        assert!(others == plain, "{layout}: a tolerance changes nothing but hints");
        // Class of each sector by the rules of the drive: a hint sets it, a write with a class sets it, a write without one leaves it.
        let mut drive = vec![Tolerance::Default; (Bytes::mib(64).0 / 512) as usize];
        let mut taken = 0;
        for request in &hinted {
            let range = request.sector as usize..request.sector as usize + request.sectors as usize;
            let tolerance = request.attributes.tolerance;
            match request.op {
                HostOp::Hint => {
                    taken += u32::from(tolerance == Tolerance::Default);
                    drive[range].fill(tolerance);
                }
                HostOp::Write if tolerance != Tolerance::Default => drive[range].fill(tolerance),
                HostOp::Write => assert!(drive[range].iter().all(|&class| class == Tolerance::Default), "{request:?} takes a class over"),
                HostOp::Read | HostOp::Trim | HostOp::Flush => {}
            }
        }
        assert!(taken > 0, "{layout}: no block has changed hands");
    }
}

#[test]
fn a_tolerance_of_a_set_that_is_none_is_refused_with_the_nearest_word() {
    let text = "name = \"x\"\nalign = \"16 KiB\"\nprefill = \"50 %\"\nlength = \"50 %\"\nqueue_depth = 8\n[[sets]]\nname = \"a\"\nfiles = 10\n\
                size = \"64 KiB\"\ntolerance = \"typcal\"\n[[threads]]\nops = [{ do = \"overwrite\", set = \"a\" }]\n";
    let told = FileSpec::parse(text, "x.toml").expect_err("no such class").to_string();
    assert!(told.contains("x.toml:10") && told.contains("did you mean 'typical'?"), "{told}");
}

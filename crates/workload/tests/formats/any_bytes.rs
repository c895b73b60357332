//! Is every input answered with records or an error, never with a panic, and every error with its file?
//!
//! Sound lines and records of every format are mutated, because plain random bytes hardly ever get past recognition.

use proptest::prelude::*;
use wordline_units::Bytes;
use wordline_workload::trace::{OnFault, OutputFormat, ReadOptions, TraceReader, TraceStats, convert};
use wordline_workload::{Fit, Footprint, Format, Generator, Placement, Replay, ReplayOptions, WorkloadSpec};

const SAMPLES: [&str; 17] = [
    "128166385295514663,hm,0,Write,9056014336,2048,2833\n128166385295514878,hm,0,Read,11855351808,512,2617\n",
    "Timestamp,Response,IOType,LUN,Offset,Size\n1455605412.2,0.000123,W,3,1024,4096\n1455605412.5,,,3,1024,4096\n",
    "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360782\n",
    "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n",
    "0.000,134,1,4096,42242048,0.100,4096\n0.000,106,0,4096,4841472,0.052,4096\n",
    "0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214\n",
    "version,time,op,size,lbn\n1,5633898368802,2a,512,42932745\n1,5633898368902,42,512,42932745\n",
    "Device_Major_Number,x\n259,2,0,5,0.000005462,4020,D,RS,282624,8,[java]\n259,2,0,6,0.1,4020,D,WFS,282624,8,[java]\n",
    "offset,size,type 507\n4220896,4096,1\n49592384,8704,0\n",
    "39949 D read 299008 4096 0.000000000 0 False\n0 C read 299008 4096 0.000122793 7.3902e-05 False\n",
    "259,2    0        1     0.000000000  4020  Q   R 282624 + 8 [java]\n259,2 0 2 0.1 1 Q FN [x]\n259,2 0 3 0.2 1 C  WS 1 + 8 [0]\nCPU0 (259,2):\n",
    "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a wait 500 0\n/dev/a read 4096 4096\n/dev/a sync 0 0\n/dev/a close\n",
    "fio version 3 iolog\n0 /dev/a add\n7 /dev/a write 4096 4096\n9 /dev/b trim 0 65536\n10 /dev/b datasync 0 0\n",
    "938513000 4 264719034 16 0\n938828000 3 197570570 16 1\n",
    "0.015625 1 754816 24 1\n0.019531 1 774760 24 0\n",
    "0.000 0 11562803200 4096 1\n0.100 0 11562991616 4096 0\n",
    "time_us,op,offset,length,volume,latency_us,fua\n0.5,write,0,4096,a,12.25,1\n1.5,flush,0,0,b,,0\n2,trim,512,512,a,,\n",
];

fn exercise(bytes: &[u8], format: Option<Format>, on_fault: OnFault) {
    let options = ReadOptions { format, on_fault, ..ReadOptions::default() };
    let open = || TraceReader::new(bytes, "input", options);
    let Ok(mut reader) = open() else { return };
    match TraceStats::measure(&mut reader) {
        Ok(stats) => drop(stats.to_string()),
        Err(error) => {
            assert!(error.to_string().starts_with("input:"), "{error}");
            return;
        }
    }
    for format in OutputFormat::ALL {
        let mut out = Vec::new();
        convert(&mut open().expect("as before"), &mut out, format).expect("as before");
    }
    for fit in Fit::ALL {
        let footprint = Footprint::measure(&mut open().expect("as before"), Footprint::UNIT).expect("as before");
        let capacity = Bytes::mib(2);
        let Ok(placement) = Placement::new(footprint, capacity, fit) else { continue };
        let options = ReplayOptions { repeat: 2, speed: 1e-3, ..ReplayOptions::default() };
        let mut latest = 0;
        for request in Replay::new(open, placement, options).expect("as before") {
            let request = request.expect("as before");
            assert!((request.sector + u64::from(request.sectors)) * 512 <= capacity.0, "{request:?}");
            assert!(request.at.0 >= latest);
            latest = request.at.0;
        }
    }
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<prop::sample::Index>(),
        prop_oneof![
            any::<u8>().prop_map(|byte| vec![byte]),
            Just(b",".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"18446744073709551615".to_vec()),
            Just(b"-1".to_vec()),
            Just(b"1e300".to_vec()),
            Just(Vec::new()),
        ],
    );
    (0..=SAMPLES.len(), proptest::collection::vec(edit, 0..4)).prop_map(|(sample, edits)| {
        let mut bytes = SAMPLES.get(sample).map_or_else(crate::recordings::stream, |text| text.as_bytes().to_vec());
        for (place, replacement) in edits {
            let at = place.index(bytes.len().max(1)).min(bytes.len());
            let end = (at + 1).min(bytes.len());
            bytes.splice(at..end, replacement);
        }
        bytes
    })
}

#[test]
fn sound_samples_are_recognised_without_a_fault() {
    let expected = [
        "msr",
        "systor",
        "alibaba",
        "tencent",
        "flashnet",
        "spc",
        "cloudphysics",
        "ycsb",
        "nexus5",
        "wiscsee",
        "blkparse",
        "fio2",
        "fio3",
        "mqsim",
        "disksim",
        "heimdall",
        "csv",
    ];
    for (sample, name) in SAMPLES.iter().zip(expected) {
        let mut reader = TraceReader::new(sample.as_bytes(), "sample", ReadOptions::default()).expect(name);
        assert_eq!(reader.recognised().format.name(), name);
        let stats = TraceStats::measure(&mut reader).unwrap_or_else(|error| panic!("{error}"));
        assert!(stats.requests > 0, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_traces_never_panic(bytes in mutated(), named in proptest::option::of(0usize..31)) {
        let format = named.and_then(|index| Format::all().nth(index));
        exercise(&bytes, None, OnFault::Stop);
        exercise(&bytes, None, OnFault::Skip);
        exercise(&bytes, format, OnFault::Skip);
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), magic in 0usize..3) {
        let magics: [&[u8]; 3] = [b"", &[0x1F, 0x8B, 8, 0], &[0x28, 0xB5, 0x2F, 0xFD]];
        let bytes = [magics[magic], &bytes].concat();
        exercise(&bytes, None, OnFault::Skip);
        exercise(&bytes, Format::all().nth(usize::from(bytes.len() as u8) % 31), OnFault::Skip);
    }

    #[test]
    fn mutated_workloads_never_panic(built_in in 0usize..9, place in any::<prop::sample::Index>(), length in 0usize..20, text in "\\PC{0,12}") {
        let names = WorkloadSpec::built_in_names();
        let mut toml = WorkloadSpec::built_in_text(names[built_in]).expect("known").to_owned();
        let at = place.index(toml.len());
        let end = (at + length).min(toml.len());
        if toml.is_char_boundary(at) && toml.is_char_boundary(end) {
            toml.replace_range(at..end, &text);
        }
        match WorkloadSpec::parse(&toml, "w.toml") {
            Ok(spec) => {
                if let Ok(generator) = Generator::new(&spec, 1, Bytes::mib(64)) {
                    for request in generator.take(50) {
                        prop_assert!((request.sector + u64::from(request.sectors)) * 512 <= Bytes::mib(64).0);
                    }
                }
            }
            Err(error) => prop_assert!(error.to_string().starts_with("w.toml"), "{}", error),
        }
    }
}

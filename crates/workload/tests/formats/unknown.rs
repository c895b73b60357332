//! Files in no known format: what is said of them, and of formats that were named wrongly.

use wordline_workload::Format;
use wordline_workload::trace::{ReadOptions, TraceReader};

fn refused(bytes: &[u8], format: Option<&str>) -> String {
    let format = format.map(|name| Format::parse(name).expect("known"));
    let refused =
        TraceReader::new(bytes, "t", ReadOptions { format, ..ReadOptions::default() }).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    refused.expect_err("it is no trace").to_string()
}

#[test]
fn three_formats_are_named_and_the_columns_of_csv() {
    let told = refused(b"hello world\n", None);
    assert!(told.starts_with("t:1: 'hello world' is in no known trace format. The nearest are"), "{told}");
    let named = Format::names().into_iter().filter(|name| told.contains(&format!("\n  {name} "))).count();
    assert_eq!(named, 3, "{told}");
    for column in ["op (read, write, trim, flush or hint)", "offset and length in bytes", "time_us", "latency_us"] {
        assert!(told.contains(column), "{told}");
    }
}

#[test]
fn lines_with_more_columns_than_the_format_has_are_refused() {
    let eight = "128166372000000000,hm,0,Write,0,4096,1200,7\n";
    assert!(refused(eight.repeat(9).as_bytes(), None).contains("\n  msr "));
    let seven = "128166372000000000,hm,0,Write,0,4096,1200\n";
    let told = refused(format!("{}{eight}", seven.repeat(9)).as_bytes(), None);
    assert!(told.starts_with("t:10: expected seven columns") && told.contains("there are 8"), "{told}");
    for (format, line) in [
        ("systor", "1455605412.2,0.000123,W,3,1024,4096,0"),
        ("alibaba", "419,W,8792731648,16384,1577808144360767,0"),
        ("tencent", "1538323200,12910952,128,0,1063,0"),
        ("flashnet", "0.000,134,1,4096,42242048,0.100,4096,0"),
        ("cloudphysics", "1,5633898368802,2a,512,42932745,0"),
        ("nexus5", "4220896,4096,1,0"),
    ] {
        assert!(refused(line.as_bytes(), Some(format)).contains("columns"), "{format}");
    }
}

#[test]
fn packed_and_binary_files_are_named_for_what_they_are() {
    for (bytes, words) in [
        (&b"\xFD7zXZ\0\0\x04"[..], &["xz", "unpack"][..]),
        (b"BZh91AY&SY\0\0", &["bzip2"]),
        (b"PAR1\x15\x04\x15\0", &["Parquet", "export"]),
        (b"\xFF\xFEo\0p\0,\0", &["UTF-16", "iconv"]),
        (b"\0\x01\x02\x03", &["binary"]),
    ] {
        for format in [None, Some("msr")] {
            let told = refused(bytes, format);
            assert!(words.iter().all(|word| told.contains(word)) && told.contains("no trace"), "{told}");
        }
    }
    assert!(refused(b"1,2,3\n", Some("blktrace")).contains("not blktrace: the file holds text"));
}

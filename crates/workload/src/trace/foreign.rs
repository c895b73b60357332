//! Files that are no traces, told by how they begin, so that a message can name them for what they are.

use super::error::TraceError;

/// How a kind of file begins.
struct Kind {
    begins: &'static [u8],
    is: &'static str,
    help: Option<&'static str>,
}

const fn kind(begins: &'static [u8], is: &'static str, help: &'static str) -> Kind {
    Kind { begins, is, help: Some(help) }
}

const UNPACK: &str = "unpack it first; gzip and zstd are unpacked as they are read";
const ARCHIVE: &str = "unpack it, and name the trace in it";
const EXPORT: &str = "export its rows as text with commas, under the header of the format csv";

const KINDS: [Kind; 22] = [
    kind(b"\xFD7zXZ\0", "a file packed by xz", UNPACK),
    kind(b"BZh", "a file packed by bzip2", UNPACK),
    kind(b"\x04\x22\x4D\x18", "a file packed by lz4", UNPACK),
    kind(b"\xFF\x06\0\0sNaPpY", "a file packed by snappy", UNPACK),
    kind(b"\x1F\x9D", "a file packed by compress", UNPACK),
    kind(b"LZIP", "a file packed by lzip", UNPACK),
    kind(b"PK\x03\x04", "a zip archive (or a spreadsheet)", ARCHIVE),
    kind(b"7z\xBC\xAF\x27\x1C", "a 7z archive", ARCHIVE),
    kind(b"Rar!\x1A\x07", "a rar archive", ARCHIVE),
    kind(b"PAR1", "a Parquet table", EXPORT),
    kind(b"ARROW1", "an Arrow table", EXPORT),
    kind(b"FEA1", "a Feather table", EXPORT),
    kind(b"ORC", "an ORC table", EXPORT),
    kind(b"Obj\x01", "an Avro table", EXPORT),
    kind(b"\x89HDF\r\n\x1A\n", "an HDF5 file", EXPORT),
    kind(b"SQLite format 3\0", "an SQLite database", EXPORT),
    kind(b"\x93NUMPY", "an array of NumPy", EXPORT),
    kind(b"PERFILE2", "a recording of perf", "print it with perf script, or record with blktrace"),
    kind(b"\x17\x08\x44tracing", "a recording of trace-cmd", "record with blktrace instead"),
    kind(b"\x7FELF", "a program", "name the trace instead"),
    kind(b"%PDF", "a PDF document", "name the trace instead"),
    Kind { begins: b"WORDLINE DRIVE ", is: "a saved drive", help: Some("start from it with --from") },
];

/// Where tar has its magic word.
const TAR: usize = 257;

/// Refuse a file that begins with `head` and is known to be no trace.
pub(crate) fn refuse(head: &[u8], file: &str) -> Result<(), TraceError> {
    let foreign = |kind, help| Err(TraceError::Foreign { file: file.to_owned(), kind, help });
    if let Some(known) = KINDS.iter().find(|kind| head.starts_with(kind.begins) && (kind.begins.len() > 3 || !is_text(head))) {
        return foreign(known.is, known.help);
    }
    if head.get(TAR..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return foreign("a tar archive", Some(ARCHIVE));
    }
    let utf8 = "write it as UTF-8: iconv -f UTF-16 -t UTF-8";
    if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") || is_every_second_byte_zero(head) {
        return foreign("text in UTF-16", Some(utf8));
    }
    if !is_text(head) {
        return foreign("a binary file of an unknown kind", None);
    }
    Ok(())
}

/// Whether `head` may be text in some character set: no control characters but those that text has.
fn is_text(head: &[u8]) -> bool {
    !head.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0x1A | 0x1B))
}

/// Letters of two bytes, of which one is zero, without a mark that says so.
fn is_every_second_byte_zero(head: &[u8]) -> bool {
    let pairs = &head[..head.len().min(512)];
    let zeros = |from: usize| pairs.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let half = pairs.len() / 2;
    half >= 4 && (zeros(0) + 1 >= half && zeros(1) == 0 || zeros(1) + 1 >= half && zeros(0) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(head: &[u8]) -> String {
        refuse(head, "f").err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn files_are_named_for_what_they_are() {
        for known in &KINDS {
            // As much behind it as real files have, some of it binary.
            let told = told(&[known.begins, &[0; 64]].concat());
            assert!(told.starts_with(&format!("f: {}, which is no trace", known.is)), "{told}");
        }
        let mut tar = vec![b'a'; TAR];
        tar.extend(b"ustar\x0000");
        assert!(told(&tar).contains("a tar archive"));
        let wide = |order: fn(u16) -> [u8; 2]| "1,hm,0,Read,0,512,1\n".encode_utf16().flat_map(order).collect::<Vec<u8>>();
        for text in [wide(u16::to_le_bytes), wide(u16::to_be_bytes), [b"\xFF\xFE".to_vec(), wide(u16::to_le_bytes)].concat()] {
            assert!(told(&text).contains("UTF-16") && told(&text).contains("iconv"), "{}", told(&text));
        }
        assert_eq!(told(&[0, 159, 146, 150, 7]), "f: a binary file of an unknown kind, which is no trace");
    }

    #[test]
    fn text_is_left_alone() {
        for text in [&b"BZh is how this line begins\n"[..], b"ORCAS,1,2\n", "Größe,1\r\n".as_bytes(), b"caf\xE9;1;2\n", b""] {
            assert_eq!(told(text), "", "{}", String::from_utf8_lossy(text));
        }
    }
}

//! Raw tables: the columns that were promised, in both formats, and the same rows.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use wordline_lab::conditions::retention_list;
use wordline_lab::grid::{Grid, read_block};
use wordline_lab::lot::Lot;
use wordline_lab::raw::{COLUMNS, Raw};

use crate::setup;

const PROMISED: [&str; 18] = [
    "chip",
    "block",
    "layer",
    "wordline",
    "page",
    "pe",
    "retention_s",
    "temperature_c",
    "reads",
    "bits",
    "errors",
    "worst_codeword_errors",
    "retries",
    "t_prog_us",
    "t_bers_us",
    "dwell_s",
    "best_errors",
    "best_worst_codeword_errors",
];

#[test]
fn csv_and_parquet_hold_the_promised_columns_and_the_same_rows() {
    assert_eq!(COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>(), PROMISED);
    let lot = Lot::open(&setup(1, &[])).expect("a chip");
    let grid = Grid { pe: vec![2_000], retention: retention_list("1y@30C").expect("times"), reads: vec![0] };
    let rows = read_block(&lot, &grid, &lot.block(0, 1), true);
    let folder = std::env::temp_dir().join(format!("wordline-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let write = |name: &str| {
        let path = folder.join(name);
        let file = std::fs::File::create(&path).expect("a file");
        let mut raw = Raw::begin(name, COLUMNS, file).expect("writable").expect("a known ending");
        raw.pages(&rows).expect("writable");
        raw.finish().expect("writable");
        path
    };
    let (csv, parquet) = (write("x.csv"), write("x.parquet"));
    assert!(Raw::begin("x.xlsx", COLUMNS, Vec::new()).expect("nothing is written").is_none());
    let text = std::fs::read_to_string(csv).expect("text");
    let reader = SerializedFileReader::new(std::fs::File::open(parquet).expect("a file")).expect("Parquet");
    std::fs::remove_dir_all(&folder).expect("just made");
    assert_eq!(text.lines().next(), Some(PROMISED.join(",").as_str()));
    assert_eq!((text.lines().count() - 1, reader.metadata().file_metadata().num_rows()), (rows.len(), rows.len() as i64));
    for (line, row) in text.lines().skip(1).zip(reader.get_row_iter(None).expect("rows")) {
        let (cells, row): (Vec<&str>, _) = (line.split(',').collect(), row.expect("a row"));
        assert_eq!(cells.len(), PROMISED.len());
        for (column, name) in PROMISED
            .iter()
            .enumerate()
            .filter(|(_, name)| !matches!(**name, "retention_s" | "temperature_c" | "t_prog_us" | "t_bers_us" | "dwell_s"))
        {
            assert_eq!(cells[column], row.get_long(column).expect("a whole number").to_string(), "{name}");
        }
    }
}

//! Raw tables: one row for each page and condition, as CSV or Parquet by the file's ending.

use std::io::Write;

use wordline_pages::table::{Cell, Column, Format, Kind, Table, TableError};

use crate::bench::{Findings, OfBlock};
use crate::grid::Row;
use crate::protocol::Changes;

const fn column(name: &'static str, kind: Kind, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, kind, unit, meaning }
}

/// The columns of a characterisation.
pub const COLUMNS: &[Column] = &[
    column("chip", Kind::Integer, "", "Chip of the lot"),
    column("block", Kind::Integer, "", "Block of the chip"),
    column("layer", Kind::Integer, "", "H-layer; 0 is the topmost"),
    column("wordline", Kind::Integer, "", "Wordline of the block: layer times wordlines in a layer, plus its place in the layer"),
    column("page", Kind::Integer, "", "Page of the wordline; 0 is the LSB page"),
    column("pe", Kind::Integer, "cycles", "Program/erase cycles before, with a minute of dwell at 30 °C"),
    column("retention_s", Kind::Real, "s", "Time between program and read"),
    column("temperature_c", Kind::Real, "°C", "Temperature of that time"),
    column("reads", Kind::Integer, "", "Reads of the block between program and read"),
    column("bits", Kind::Integer, "bits", "Bits of the page, spare area included"),
    column("errors", Kind::Integer, "bits", "Wrong bits of a first read with the default references"),
    column("worst_codeword_errors", Kind::Integer, "bits", "Wrong bits of the worst codeword of that read"),
    column(
        "retries",
        Kind::Integer,
        "",
        "Entries of the vendor's retry table that were tried until the page could be corrected; the last, where it could not",
    ),
    column("t_prog_us", Kind::Real, "us", "t_PROG of the wordline"),
    column("t_bers_us", Kind::Real, "us", "t_BERS of the block's last erase"),
    column("dwell_s", Kind::Real, "s", "Rest of the block before its program, as before each of its erases"),
    column("best_errors", Kind::Integer, "bits", "Wrong bits of a read with the references at which the wordline has the fewest"),
    column("best_worst_codeword_errors", Kind::Integer, "bits", "Wrong bits of the worst codeword of that read"),
];

/// The columns of a bench's own data.
pub const FIGURE_COLUMNS: &[Column] = &[
    column("figure", Kind::Text, "", "Title of the figure; `blocks` for what was measured of single blocks"),
    column("series", Kind::Text, "", "Curve, row or series of the figure; the quantity of a block, with its unit"),
    column(
        "x",
        Kind::Text,
        "",
        "Place on the axis across, or name of the column; `0.3` for block 3 of chip 0, `typical` for the typical wordline",
    ),
    column("value", Kind::Real, "", "Value; its unit stands in the figure's title or axis"),
];

/// A raw table that is being written.
pub enum Raw<W: Write + Send> {
    /// A comma-separated table.
    Csv(W),
    /// A Parquet table.
    Parquet(Box<Table<W>>),
}

/// An error while a raw table is written.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// The file could not be written.
    #[error("cannot write: {0}")]
    Io(#[from] std::io::Error),
    /// The Parquet writer failed.
    #[error("{0}")]
    Table(#[from] TableError),
}

impl<W: Write + Send> Raw<W> {
    /// Begins a table in the format that the name's ending says; `None` where it says neither.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn begin(name: &str, columns: &[Column], mut to: W) -> Result<Option<Raw<W>>, RawError> {
        if name.ends_with(".parquet") {
            return Ok(Some(Raw::Parquet(Box::new(Table::new(Format::Parquet, "characterisation", columns, to)?))));
        }
        if name.ends_with(".csv") {
            let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
            writeln!(to, "{}", names.join(","))?;
            return Ok(Some(Raw::Csv(to)));
        }
        Ok(None)
    }

    /// Adds the pages of a block, which were read with the best references as well.
    ///
    /// # Panics
    ///
    /// They were not.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn pages(&mut self, rows: &[Row]) -> Result<(), RawError> {
        let best = |row: &Row| row.best.expect("rows of a raw table are read with the best references as well");
        match self {
            Raw::Csv(to) => {
                for row in rows {
                    writeln!(
                        to,
                        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                        row.chip,
                        row.block,
                        row.layer,
                        row.wordline,
                        row.page,
                        row.pe,
                        row.retention_s,
                        row.temperature_c,
                        row.reads,
                        row.bits,
                        row.errors,
                        row.worst_codeword_errors,
                        row.retries,
                        row.t_prog_us,
                        row.t_bers_us,
                        row.dwell_s,
                        best(row).page,
                        best(row).worst
                    )?;
                }
            }
            Raw::Parquet(table) => {
                for row in rows {
                    let whole = |value: u32| Cell::Integer(u64::from(value));
                    table.push(&[
                        whole(row.chip),
                        whole(row.block),
                        whole(row.layer),
                        whole(row.wordline),
                        whole(row.page),
                        whole(row.pe),
                        Cell::Real(Some(row.retention_s)),
                        Cell::Real(Some(row.temperature_c)),
                        Cell::Integer(row.reads),
                        Cell::Integer(row.bits),
                        Cell::Integer(row.errors),
                        whole(row.worst_codeword_errors),
                        whole(row.retries),
                        Cell::Real(Some(row.t_prog_us)),
                        Cell::Real(Some(row.t_bers_us)),
                        Cell::Real(Some(row.dwell_s)),
                        whole(best(row).page),
                        whole(best(row).worst),
                    ]);
                }
                table.flush()?;
            }
        }
        Ok(())
    }

    /// Adds what a bench found: the data behind its figures, then a row for each block and quantity.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn findings(&mut self, findings: &Findings) -> Result<(), RawError> {
        for figure in &findings.figures {
            figure.data().into_iter().try_for_each(|(series, x, value)| self.value(figure.title(), &series, &x, value))?;
        }
        let mut of_block = |of: &OfBlock| {
            let place = of.place.map_or("typical".to_owned(), |(chip, block)| format!("{chip}.{block}"));
            self.value("blocks", &of.quantity, &place, of.value)
        };
        findings.blocks.iter().try_for_each(&mut of_block)
    }

    fn value(&mut self, figure: &str, series: &str, x: &str, value: f64) -> Result<(), RawError> {
        match self {
            Raw::Csv(to) => writeln!(to, "{},{},{},{value}", quoted(figure), quoted(series), quoted(x))?,
            Raw::Parquet(table) => {
                let [figure, series, x] = [figure, series, x].map(|text| text.as_bytes().to_vec().into());
                table.push(&[Cell::Text(&figure), Cell::Text(&series), Cell::Text(&x), Cell::Real(Some(value))]);
            }
        }
        Ok(())
    }

    /// Writes the buffered rows and ends the table.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn finish(self) -> Result<(), RawError> {
        match self {
            Raw::Csv(mut to) => to.flush()?,
            Raw::Parquet(table) => table.finish()?.flush()?,
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Text of the reference of the raw tables.
pub fn reference() -> String {
    let mut text = String::from(
        "# Raw tables of characterisations\n\nWhat `wordline characterize --out FILE` writes: one row for each page and condition, as CSV or Parquet by the file's ending. In Parquet, units stand\n\
         also in the file's metadata, under `unit.` and the column's name. Generated by `cargo xtask docs`.\n\n",
    );
    let table = |columns: &[Column]| {
        let mut text = String::from("| column | type | unit | meaning |\n|---|---|---|---|\n");
        for column in columns {
            text += &format!("| `{}` | {} | {} | {} |\n", column.name, column.kind.name(), column.unit, column.meaning);
        }
        text
    };
    text += &table(COLUMNS);
    text += "\nThe benches with names of their own (`wordline characterize retries` and others) write the data behind their figures, and, where they\n\
         measure blocks, a row for each block and quantity:\n\n";
    text += &table(FIGURE_COLUMNS);
    text += "\n## Benches\n\nWhat a bench measures, and at which conditions. Conditions are data: each bench has a file in `studies/benches/`, with the source of every\n\
             value, and a study may change some for itself:\n\n\
             ```toml\n[conditions.vth]\nsource = \"where they come from\"\ncycled = \"3k\"\nkept = \"6mo\"\n```\n";
    text += JUDGEMENTS;
    for bench in crate::bench::BENCHES {
        text += &format!("\n### `{}`\n\n{}.\n\n| measured | unit | meaning |\n|---|---|---|\n", bench.name, bench.summary);
        for metric in bench.metrics {
            text += &format!("| `{}` | {} | {} |\n", metric.name, metric.unit, metric.meaning);
        }
        let conditions = bench.conditions.told(&Changes::new()).unwrap_or_default();
        if !conditions.is_empty() {
            text += "\n| condition | value | meaning |\n|---|---|---|\n";
        }
        for (name, value, meaning) in conditions {
            text += &format!("| `{name}` | {value} | {meaning} |\n");
        }
    }
    text
}

/// The part of the reference on judgements of studies.
const JUDGEMENTS: &str = "
Each `[[judge]]` of a study puts one measured value to one claim:

```toml
[[judge]]
claim = \"cube.dev.edge-retention\"
measured = \"layers.edge-retention\"
band = \"above 1\"
why = \"edge wordlines grow faster with retention than inner ones\"
null = [\"physics.profile.loss_edge=0\"]
row = true
```

| key | value | meaning |
|---|---|---|
| `claim` | a name | Claim that is judged, of `docs/claims.md`. |
| `measured` | `bench.metric` | Value that is measured. |
| `band` | an interval | Interval in which the value must lie. |
| `why` | a text | Reason for the band. |
| `reason` | a text | Reason why the claim is off, where it is known. Optional. |
| `null` | a list of settings | Settings that switch the effect of the claim off. The bench runs once more with them, behind all of its own, and the \
value must then lie outside of the band; within it the claim *stays when its effect is off* and is not reproduced. A bench that names a baseline \
gives it the settings of chips and of `[cells]` alone. A setting of a part that a drive does not have is left out for that drive, and one that no \
chip and no drive takes is an error. Optional: without it a claim counts as *without a null*. |
| `row` | true or false | Row of record: the reading that the sentence of the claim means, named before it is measured. It alone decides, and all \
other readings of the claim stand beside it. Without one, all readings decide together. At most one for each claim. |
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::{LotSize, Retention};
    use crate::grid::{Grid, read_block};
    use crate::lot::{Lot, mean};
    use crate::study::Study;

    fn lot(size: LotSize) -> Lot {
        let study = Study::load("realwear.life").expect("it comes with the lab");
        Lot::open(&crate::bench::Setup { lot: size, ..study.setup(1) }).expect("its chip can be read")
    }

    #[test]
    fn no_read_has_fewer_errors_than_one_with_the_best_references() {
        let lot = lot(LotSize { chips: 1, blocks: 1 });
        let grid = Grid { pe: vec![2_000], retention: Retention { seconds: vec![31_536_000.0], celsius: 30.0 }, reads: vec![0] };
        let rows = read_block(&lot, &grid, &lot.block(0, 0), true);
        let of = |get: &dyn Fn(&Row) -> f64| mean(&rows.iter().map(get).collect::<Vec<f64>>());
        let at_best = |row: &Row| row.best.expect("it was asked for");
        let (first, best) = (of(&|row| row.errors as f64), of(&|row| f64::from(at_best(row).page)));
        assert!(best > 0.0 && 2.0 * best < first, "{best} at the best references, {first} at the first read, of a year at 2K cycles");
        assert!(of(&|row| f64::from(at_best(row).worst)) < of(&|row| f64::from(row.worst_codeword_errors)));
        assert!(rows.iter().all(|row| row.dwell_s == 60.0), "as the column of P/E cycles says");
        let mut to = Vec::new();
        let mut raw = Raw::begin("a.csv", COLUMNS, &mut to).expect("it can be written").expect("a table");
        raw.pages(&rows[..1]).expect("it can be written");
        raw.finish().expect("it can be written");
        let lines: Vec<Vec<String>> =
            String::from_utf8(to).expect("text").lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        assert_eq!((lines.len(), lines[0].len()), (2, lines[1].len()));
        let of = |name: &str| lines[1][lines[0].iter().position(|known| known == name).expect(name)].clone();
        assert_eq!(
            [of("best_errors"), of("errors"), of("dwell_s")],
            [at_best(&rows[0]).page.to_string(), rows[0].errors.to_string(), "60".to_owned()]
        );
    }

    #[test]
    fn blocks_stand_in_the_table_by_chip_and_number_and_give_the_metrics_again() {
        let study = Study::load("gerase.wear").expect("it comes with the lab");
        let setup = crate::bench::Setup { lot: LotSize { chips: 2, blocks: 2 }, ..study.setup(1) };
        let (bench, _) = crate::bench::metric("erase.weak-least").expect("it is measured");
        let findings = (bench.run)(&setup).expect("it can be measured");
        let mut to = Vec::new();
        let mut raw = Raw::begin("a.csv", FIGURE_COLUMNS, &mut to).expect("it can be written").expect("a table");
        raw.findings(&findings).expect("it can be written");
        raw.finish().expect("it can be written");
        let text = String::from_utf8(to).expect("text");
        let rows: Vec<(&str, f64)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("blocks,\"stress coefficient of weak wordlines, least\","))
            .filter_map(|rest| rest.split_once(','))
            .map(|(place, value)| (place, value.parse().expect("a number")))
            .collect();
        assert_eq!(rows.iter().map(|(place, _)| *place).collect::<Vec<_>>(), ["0.0", "0.1", "1.0", "1.1"]);
        let least = rows.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
        assert_eq!(Some(least), findings.get("weak-least"));
    }
}

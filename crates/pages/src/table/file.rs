//! Tables as files, written a row at a time, as Parquet or as CSV.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::column::{Cell, Column, Kind};
use super::csv;

/// A table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file could not be written or the writer was misused.
    #[error("cannot write a Parquet table: {0}")]
    Parquet(#[from] ParquetError),
    /// The file could not be written.
    #[error("cannot write a CSV table: {0}")]
    Csv(#[from] std::io::Error),
}

/// What a table is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Parquet, packed with zstd.
    Parquet,
    /// Text with commas under a header of the columns' names.
    Csv,
}

impl Format {
    /// How the names of its files end.
    pub const fn ending(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }
}

/// The values of one column in the row group being filled.
enum Held {
    Integer(Vec<i64>),
    // Values, and for each row whether it has one.
    Real(Vec<f64>, Vec<i16>),
    Text(Vec<ByteArray>),
    Flag(Vec<bool>),
}

/// A table being written, a row at a time.
pub struct Table<W: Write + Send> {
    writer: Writer<W>,
    rows: usize,
}

/// Where rows go.
enum Writer<W: Write + Send> {
    Parquet(Box<SerializedFileWriter<W>>, Vec<Held>),
    Csv(csv::Lines<W>),
}

impl<W: Write + Send> Table<W> {
    /// Begins the table called `name` in `format`.
    ///
    /// # Errors
    ///
    /// The writer cannot be written to.
    pub fn new(format: Format, name: &str, columns: &[Column], to: W) -> Result<Table<W>, TableError> {
        if format == Format::Csv {
            return Ok(Table { writer: Writer::Csv(csv::Lines::new(columns, to)), rows: 0 });
        }
        let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<_, _>>()?;
        let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
        let units = columns.iter().filter(|column| !column.unit.is_empty());
        let units = units.map(|column| KeyValue::new(format!("unit.{}", column.name), column.unit.to_owned())).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_key_value_metadata(Some(units))
            .build();
        let writer = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        let held = columns.iter().map(|column| match column.kind {
            Kind::Integer => Held::Integer(Vec::new()),
            Kind::Real => Held::Real(Vec::new(), Vec::new()),
            Kind::Text => Held::Text(Vec::new()),
            Kind::Flag => Held::Flag(Vec::new()),
        });
        Ok(Table { writer: Writer::Parquet(Box::new(writer), held.collect()), rows: 0 })
    }

    /// Writes down how the table came about, where its format has a place for that: Parquet has, in the metadata of the file.
    pub fn mark(&mut self, about: &[(String, String)]) {
        match &mut self.writer {
            Writer::Parquet(writer, _) => {
                about.iter().for_each(|(key, value)| writer.append_key_value_metadata(KeyValue::new(key.clone(), value.clone())));
            }
            Writer::Csv(_) => {}
        }
    }

    /// Adds a row. Rows stay in memory until [`Table::flush`].
    ///
    /// # Panics
    ///
    /// The row does not fit the columns.
    pub fn push(&mut self, cells: &[Cell<'_>]) {
        self.rows += 1;
        let held = match &mut self.writer {
            Writer::Parquet(_, held) => held,
            Writer::Csv(lines) => return lines.push(cells),
        };
        assert_eq!(cells.len(), held.len(), "a row has one value per column");
        for (held, cell) in held.iter_mut().zip(cells) {
            match (held, cell) {
                (Held::Integer(values), Cell::Integer(value)) => values.push(value.cast_signed()),
                (Held::Real(values, present), Cell::Real(value)) => {
                    values.extend(*value);
                    present.push(i16::from(value.is_some()));
                }
                (Held::Text(values), Cell::Text(value)) => values.push((*value).clone()),
                (Held::Flag(values), Cell::Flag(value)) => values.push(*value),
                (Held::Integer(_) | Held::Real(..) | Held::Text(_) | Held::Flag(_), cell) => panic!("{cell:?} does not fit its column"),
            }
        }
    }

    /// Write the rows held, to Parquet as a row group.
    ///
    /// # Errors
    ///
    /// The writer cannot be written to.
    pub fn flush(&mut self) -> Result<(), TableError> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let (writer, held) = match &mut self.writer {
            Writer::Parquet(writer, held) => (writer, held),
            Writer::Csv(lines) => return Ok(lines.flush()?),
        };
        let mut group = writer.next_row_group()?;
        for held in held {
            let mut column = group.next_column()?.expect("the schema has a column for each that is held");
            match (column.untyped(), &mut *held) {
                (ColumnWriter::Int64ColumnWriter(to), Held::Integer(values)) => to.write_batch(values, None, None)?,
                (ColumnWriter::DoubleColumnWriter(to), Held::Real(values, present)) => to.write_batch(values, Some(present), None)?,
                (ColumnWriter::ByteArrayColumnWriter(to), Held::Text(values)) => to.write_batch(values, None, None)?,
                (ColumnWriter::BoolColumnWriter(to), Held::Flag(values)) => to.write_batch(values, None, None)?,
                (_, Held::Integer(_) | Held::Real(..) | Held::Text(_) | Held::Flag(_)) => {
                    unreachable!("the schema was made from these columns")
                }
            };
            column.close()?;
            match held {
                Held::Integer(values) => values.clear(),
                Held::Real(values, present) => {
                    values.clear();
                    present.clear();
                }
                Held::Text(values) => values.clear(),
                Held::Flag(values) => values.clear(),
            }
        }
        group.close()?;
        Ok(())
    }

    /// Rows that are in memory.
    pub(super) fn held(&self) -> usize {
        self.rows
    }

    /// Writes what is left and the end of the file.
    ///
    /// # Errors
    ///
    /// The writer cannot be written to.
    pub fn finish(mut self) -> Result<W, TableError> {
        self.flush()?;
        match self.writer {
            Writer::Parquet(writer, _) => Ok(writer.into_inner()?),
            Writer::Csv(lines) => Ok(lines.finish()?),
        }
    }
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, repetition) = match column.kind {
        Kind::Integer => (Physical::INT64, Repetition::REQUIRED),
        Kind::Real => (Physical::DOUBLE, Repetition::OPTIONAL),
        Kind::Text => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
        Kind::Flag => (Physical::BOOLEAN, Repetition::REQUIRED),
    };
    let logical = (column.kind == Kind::Text).then_some(LogicalType::String);
    Type::primitive_type_builder(column.name, physical).with_repetition(repetition).with_logical_type(logical).build()
}

//! The index of wear by which techniques look tables up: what some technique tells, or the P/E count.

use super::declaration::words;

words! {
    /// Index of a table.
    pub enum Index {
        /// Wear that techniques tell.
        Age = "age",
        /// P/E count.
        Pe = "pe",
    }
}

//! Making a drive old.

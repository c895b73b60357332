//! How quantities go into JSON: as plain integers, with the unit in the key.

use serde::Serializer;
use wordline_units::{Bytes, HostOp, Nanos, Priority, Tolerance};

pub(crate) fn nanos<S: Serializer>(span: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(span.0)
}

pub(crate) fn maybe_nanos<S: Serializer>(span: &Option<Nanos>, serializer: S) -> Result<S::Ok, S::Error> {
    match span {
        Some(span) => serializer.serialize_some(&span.0),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn bytes<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(bytes.0)
}

pub(crate) fn op<S: Serializer>(op: &HostOp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(op.name())
}

pub(crate) fn tolerance<S: Serializer>(tolerance: &Tolerance, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(tolerance.name())
}

pub(crate) fn maybe_priority<S: Serializer>(priority: &Option<Priority>, serializer: S) -> Result<S::Ok, S::Error> {
    match priority {
        Some(priority) => serializer.serialize_some(priority.name()),
        None => serializer.serialize_none(),
    }
}

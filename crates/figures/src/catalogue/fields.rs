//! Members of result types: names, units and doc comments, from the schema that the reference manual is made from.

use schemars::schema_for;
use serde_json::Value;

use crate::result::DriveResult;

/// A single value of a result.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Path into an entry of `drives`.
    pub(super) path: String,
    /// Unit; empty for words and ratios.
    pub(super) unit: String,
    /// Doc comment.
    pub(super) doc: String,
}

/// Every single value of a run, in the order of the JSON; lists are left out.
pub(super) fn of_runs() -> Vec<Field> {
    let schema = schema_for!(DriveResult).to_value();
    let mut fields = Vec::new();
    members(&schema, &schema, "", &mut fields);
    fields
}

fn members(root: &Value, object: &Value, path: &str, fields: &mut Vec<Field>) {
    for (name, member) in object["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let inner = resolve(root, member);
        if inner["properties"].is_object() {
            members(root, inner, &path, fields);
        } else if inner["items"].is_null() {
            let word = |key: &str| member[key].as_str().unwrap_or_default().to_owned();
            fields.push(Field { path, unit: word("x-unit"), doc: word("description") });
        }
    }
}

/// Follows references, and looks through "this or null".
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return &root["$defs"][name];
    }
    let inner = schema["anyOf"].as_array().and_then(|either| either.iter().find(|inner| inner["type"] != "null"));
    inner.map_or(schema, |inner| resolve(root, inner))
}

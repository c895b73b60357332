//! The reference of all keys, for people and for editors, made from the table of keys.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::keys::table;

/// The text of `docs/reference/plan.md`.
pub fn reference_markdown() -> String {
    let mut text = String::from(HEAD);
    for section in table() {
        let home = if section.of_chip { "chip or drive file" } else { "drive file" };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "\n## [{}]\n\n{} *({home})*\n", section.path, section.doc);
        let _ = writeln!(text, "| key | value | default | meaning |\n|---|---|---|---|");
        for key in &section.keys {
            let default = key.default.as_ref().map_or_else(|| "must be set".to_owned(), |value| format!("`{value}`"));
            let _ = writeln!(text, "| `{}` | {} | {default} | {} |", key.name, key.expected, key.doc);
        }
    }
    let _ = writeln!(text, "\n## Presets\n\n| drive | what it is |\n|---|---|");
    for preset in crate::presets() {
        let _ = writeln!(text, "| `{}` | {} |", preset.name, preset.summary);
    }
    text
}

/// `docs/reference/plan.schema.json`: the JSON schema of a chip or drive file, for editors.
pub fn json_schema() -> String {
    let mut properties = Map::new();
    properties.insert("summary".into(), json!({ "type": "string", "description": "One line on what the file describes." }));
    properties.insert(
        "inherit".into(),
        json!({ "type": "string", "description": "The preset or file whose keys hold where this one says nothing." }),
    );
    properties.insert("chip".into(), json!({ "type": "string", "description": "The chip: a preset or a file." }));
    properties.insert(
        "physics_of".into(),
        json!({ "type": "string", "description": "The chip whose physics the cells have, where the drive's own chip has none: a preset or a file. It belongs to the chip named beside it. Its [margins] come with it where h-layers, pages and bits of a cell are the same." }),
    );
    let mut techniques = Map::new();
    let mut physics = Map::new();
    for section in table() {
        let mut keys = Map::new();
        keys.insert(
            "source".into(),
            json!({ "type": "string", "description": "Who says so, for all keys of the section without a source of their own." }),
        );
        for key in &section.keys {
            let sourced = json!({
                "type": "object",
                "properties": { "value": key.schema, "source": { "type": "string" } },
                "required": ["value"],
                "additionalProperties": false,
            });
            let mut schema = json!({ "description": key.doc, "anyOf": [key.schema, sourced] });
            if let (Some(default), Some(object)) = (&key.default, schema.as_object_mut()) {
                object.insert("default".into(), serde_json::from_str(default).unwrap_or(Value::Null));
            }
            keys.insert(key.name.into(), schema);
        }
        let schema = json!({ "type": "object", "description": section.doc, "properties": keys, "additionalProperties": false });
        match section.path.split_once('.') {
            Some(("techniques", technique)) => techniques.insert(technique.into(), schema),
            Some((_, effect)) => physics.insert(effect.into(), schema),
            None => properties.insert(section.path.into(), schema),
        };
    }
    let techniques = json!({ "type": "object", "description": "Techniques.", "properties": techniques, "additionalProperties": false });
    properties.insert("techniques".into(), techniques);
    let physics =
        json!({ "type": "object", "description": "The physics of the cells.", "properties": physics, "additionalProperties": false });
    properties.insert("physics".into(), physics);
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Wordline chip or drive file",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    format!("{schema:#}\n")
}

const HEAD: &str = include_str!("reference_head.md");

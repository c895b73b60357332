//! Options: what client and server agree on before the first request.

use crate::close::Close;
use crate::encode::{Dialect, context_id};
use crate::export::{Chosen, choose, refusal};
use crate::fields::{Fields, Put, text};
use crate::meta::Query;
use crate::settings::{Opened, Settings, Tls};
use crate::wire::{EXPORT_NAME_ZEROES, MAGIC, OPTION_MAGIC, OPTION_REPLY_MAGIC, handshake, info, option, option_reply};

/// What has been agreed so far.
#[derive(Debug)]
pub(crate) struct Negotiation {
    pub(crate) dialect: Dialect,
    /// Leave out the 124 zeroes.
    pub(crate) no_zeroes: bool,
    /// Options seen.
    pub(crate) count: u32,
    pub(crate) in_tls: bool,
    /// The name and the contexts of the last `SET_META_CONTEXT`.
    meta: Option<(String, Vec<usize>)>,
}

/// What comes after an option.
pub(crate) enum Next {
    Option,
    Tls,
    Transmission(Opened),
    Close(Close),
}

/// The server's first bytes.
pub(crate) fn greeting(out: &mut Vec<u8>) {
    out.put_u64(MAGIC);
    out.put_u64(OPTION_MAGIC);
    out.put_u16(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES);
}

/// Appends a reply to an option.
fn answer(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.put_u64(OPTION_REPLY_MAGIC);
    out.put_u32(option);
    out.put_u32(kind);
    out.put_u32(data.len() as u32);
    out.extend_from_slice(data);
}

/// Appends a refusal of an option.
pub(crate) fn refuse(out: &mut Vec<u8>, option: u32, error: u32, message: &str) {
    answer(out, option, error, message.as_bytes());
}

fn built(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut data = Vec::new();
    fill(&mut data);
    data
}

impl Negotiation {
    pub(crate) fn new() -> Negotiation {
        Negotiation { dialect: Dialect::Simple, no_zeroes: false, count: 0, in_tls: false, meta: None }
    }

    /// What was agreed in the clear does not hold in TLS.
    pub(crate) fn start_tls(&mut self) {
        *self = Negotiation { no_zeroes: self.no_zeroes, count: self.count, in_tls: true, ..Negotiation::new() };
    }

    /// Answers one option.
    pub(crate) fn option(&mut self, settings: &Settings, option: u32, data: &[u8], out: &mut Vec<u8>) -> Next {
        if settings.tls == Tls::Required && !self.in_tls && !matches!(option, option::STARTTLS | option::ABORT) {
            if option == option::EXPORT_NAME {
                return Next::Close(Close::TlsRequired);
            }
            refuse(out, option, option_reply::ERR_TLS_REQD, "this server speaks TLS only");
            return Next::Option;
        }
        match option {
            option::EXPORT_NAME => return self.export_name(settings, data, out),
            option::ABORT => {
                answer(out, option, option_reply::ACK, &[]);
                return Next::Close(Close::Aborted);
            }
            option::INFO | option::GO => return self.info(settings, option, data, out),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.meta_context(settings, option, data, out),
            option::LIST | option::STARTTLS | option::STRUCTURED_REPLY | option::EXTENDED_HEADERS if !data.is_empty() => {
                refuse(out, option, option_reply::ERR_INVALID, "this option has no data");
            }
            option::LIST => {
                for export in &settings.exports {
                    for name in export.names() {
                        answer(out, option, option_reply::SERVER, &built(|data| export.put_listed(&name, data)));
                    }
                }
                answer(out, option, option_reply::ACK, &[]);
            }
            option::STARTTLS if self.in_tls => refuse(out, option, option_reply::ERR_INVALID, "this is TLS already"),
            option::STARTTLS if settings.tls == Tls::Absent => refuse(out, option, option_reply::ERR_POLICY, "this server has no TLS"),
            option::STARTTLS => {
                answer(out, option, option_reply::ACK, &[]);
                return Next::Tls;
            }
            option::STRUCTURED_REPLY if self.dialect == Dialect::Extended => {
                refuse(out, option, option_reply::ERR_EXT_HEADER_REQD, "extended headers are agreed on already");
            }
            option::STRUCTURED_REPLY => {
                self.dialect = Dialect::Structured;
                answer(out, option, option_reply::ACK, &[]);
            }
            option::EXTENDED_HEADERS if settings.extended_headers => {
                self.dialect = Dialect::Extended;
                answer(out, option, option_reply::ACK, &[]);
            }
            _ => refuse(out, option, option_reply::ERR_UNSUP, "this option is unknown here"),
        }
        Next::Option
    }

    fn opened(&self, name: &str, chosen: Chosen) -> Opened {
        let contexts = self.meta.iter().find(|(of, _)| of == name).map(|(_, contexts)| contexts.clone()).unwrap_or_default();
        Opened { export: chosen.export, classes: chosen.classes, contexts }
    }

    fn export_name(&self, settings: &Settings, data: &[u8], out: &mut Vec<u8>) -> Next {
        let found = text(data).and_then(|name| Some((name, choose(&settings.exports, name)?)));
        let Some((name, chosen)) = found else {
            let name: String = String::from_utf8_lossy(data).chars().take(64).collect();
            return Next::Close(Close::UnknownExport(name));
        };
        let export = &settings.exports[chosen.export];
        out.put_u64(export.size);
        out.put_u16(export.flags(self.dialect >= Dialect::Structured));
        if !self.no_zeroes {
            out.resize(out.len() + EXPORT_NAME_ZEROES, 0);
        }
        Next::Transmission(self.opened(name, chosen))
    }

    fn info(&self, settings: &Settings, option: u32, data: &[u8], out: &mut Vec<u8>) -> Next {
        let Some((name, wanted)) = parse_info(data) else {
            refuse(out, option, option_reply::ERR_INVALID, "the data is a name, a count and so many numbers");
            return Next::Option;
        };
        let Some(chosen) = choose(&settings.exports, name) else {
            refuse(out, option, option_reply::ERR_UNKNOWN, &refusal(&settings.exports, name));
            return Next::Option;
        };
        let export = &settings.exports[chosen.export];
        let mut fact = |kind: u16, fill: &dyn Fn(&mut Vec<u8>)| {
            let data = built(|data| {
                data.put_u16(kind);
                fill(data);
            });
            answer(out, option, option_reply::INFO, &data);
        };
        fact(info::EXPORT, &|data| {
            data.put_u64(export.size);
            data.put_u16(export.flags(self.dialect >= Dialect::Structured));
        });
        if wanted.contains(&info::NAME) {
            fact(info::NAME, &|data| data.extend_from_slice(export.name_with(&chosen.classes).as_bytes()));
        }
        if wanted.contains(&info::DESCRIPTION) && !export.description.is_empty() {
            fact(info::DESCRIPTION, &|data| data.extend_from_slice(export.description.as_bytes()));
        }
        fact(info::BLOCK_SIZE, &|data| {
            data.put_u32(export.block_min);
            data.put_u32(export.block_preferred);
            data.put_u32(settings.limits.request_bytes);
        });
        answer(out, option, option_reply::ACK, &[]);
        if option == option::GO { Next::Transmission(self.opened(name, chosen)) } else { Next::Option }
    }

    fn meta_context(&mut self, settings: &Settings, option: u32, data: &[u8], out: &mut Vec<u8>) {
        let choosing = option == option::SET_META_CONTEXT;
        if choosing {
            self.meta = None;
        }
        if self.dialect < Dialect::Structured {
            return refuse(out, option, option_reply::ERR_INVALID, "structured replies come first");
        }
        let Some(query) = Query::parse(data) else {
            return refuse(out, option, option_reply::ERR_INVALID, "the data is a name, a count and so many queries");
        };
        let Some(chosen) = choose(&settings.exports, query.name) else {
            return refuse(out, option, option_reply::ERR_UNKNOWN, &refusal(&settings.exports, query.name));
        };
        let export = &settings.exports[chosen.export];
        let contexts = if choosing { query.chosen(export) } else { query.listed(export) };
        for &context in &contexts {
            let data = built(|data| {
                data.put_u32(if choosing { context_id(context) } else { 0 });
                data.extend_from_slice(export.contexts[context].name.as_bytes());
            });
            answer(out, option, option_reply::META_CONTEXT, &data);
        }
        answer(out, option, option_reply::ACK, &[]);
        if choosing {
            self.meta = Some((query.name.to_owned(), contexts));
        }
    }
}

/// The name and the wanted facts of `INFO` and `GO`.
fn parse_info(data: &[u8]) -> Option<(&str, Vec<u16>)> {
    let mut fields = Fields(data);
    let name = fields.string()?;
    let count = fields.u16()?;
    let wanted = (0..count).map(|_| fields.u16()).collect::<Option<Vec<u16>>>()?;
    fields.is_empty().then_some((name, wanted))
}

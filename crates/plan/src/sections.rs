//! The machinery behind the table of keys: one macro makes, from one list of keys, the parsed form, the filled form and the reference.

/// Declares all sections.
macro_rules! sections {
    ($(
        $(#[doc = $section_doc:literal])*
        $path:literal ($file:ident) $field:ident: $Name:ident {
            $( $(#[doc = $doc:literal])* $key:ident: $Kind:ty $(= $default:expr)?; )*
        }
    )*) => {
        /// Parsed: each key has the value that is written in one text, if any.
        pub(crate) mod parsed {
            use super::*;

            $(
                #[derive(Clone, Debug, Default)]
                pub(crate) struct $Name {
                    $( pub(crate) $key: Option<Set<$Kind>>, )*
                }

                impl $Name {
                    /// Takes from `parent` what is not set here.
                    pub(crate) fn inherit(&mut self, parent: &$Name) {
                        $( if self.$key.is_none() {
                            self.$key.clone_from(&parent.$key);
                        } )*
                    }

                    /// Fills in defaults; says what is missing.
                    pub(crate) fn fill(self, missing: &mut Vec<(&'static str, &'static str, String)>) -> Option<filled::$Name> {
                        $( let $key = {
                            let set = self.$key.or(sections!(@default $Kind $(, $default)?).map(Set::default_of));
                            if set.is_none() {
                                missing.push(($path, stringify!($key), <$Kind as Kind>::expected()));
                            }
                            set
                        }; )*
                        Some(filled::$Name { $( $key: $key?, )* })
                    }
                }
            )*

            /// All sections of one text.
            #[derive(Clone, Debug, Default)]
            pub(crate) struct Sections {
                $( pub(crate) $field: $Name, )*
                pub(crate) techniques: crate::techniques::Keys,
                pub(crate) physics: crate::physics::Written,
            }

            impl Sections {
                /// Reads one value. `None`: there is no such key.
                pub(crate) fn read(&mut self, section: &str, key: &str, value: &toml::de::DeValue<'_>, origin: Origin) -> Option<Result<(), Refusal>> {
                    match (section, key) {
                        $( $(
                            ($path, stringify!($key)) => Some(<$Kind as Kind>::read(value).map(|value| self.$field.$key = Some(Set { value, origin }))),
                        )* )*
                        (section, _) if section.starts_with(crate::techniques::TECHNIQUES) => self.techniques.read(section, key, value, origin),
                        _ => self.physics.read(section, key, value, origin),
                    }
                }

                /// Takes from `parent` what is not set here.
                pub(crate) fn inherit(&mut self, parent: &Sections) {
                    $( self.$field.inherit(&parent.$field); )*
                    self.techniques.inherit(&parent.techniques);
                    self.physics.inherit(&parent.physics);
                }

                /// Fills in defaults; says what is missing.
                pub(crate) fn fill(self, missing: &mut Vec<(&'static str, &'static str, String)>) -> Option<filled::Sections> {
                    $( let $field = self.$field.fill(missing); )*
                    Some(filled::Sections { $( $field: $field?, )* techniques: self.techniques.fill(), physics: self.physics })
                }
            }
        }

        /// Filled: each key has a value, be it the default.
        pub(crate) mod filled {
            use super::*;

            $(
                $(#[doc = $section_doc])*
                #[derive(Clone, Debug, PartialEq)]
                pub(crate) struct $Name {
                    $( $(#[doc = $doc])* pub(crate) $key: Set<$Kind>, )*
                }
            )*

            /// All sections of a plan.
            #[derive(Clone, Debug, PartialEq)]
            pub(crate) struct Sections {
                $( pub(crate) $field: $Name, )*
                pub(crate) techniques: crate::techniques::Keys,
                pub(crate) physics: crate::physics::Written,
            }

            impl Sections {
                /// All keys with their values, in the order of the table.
                pub(crate) fn lines(&self) -> Vec<Line<'_>> {
                    let mut lines = vec![ $( $( Line {
                        section: $path,
                        key: stringify!($key),
                        value: self.$field.$key.value.write(),
                        origin: &self.$field.$key.origin,
                    }, )* )* ];
                    let at = lines.iter().position(|line| line.section == BEHIND_TECHNIQUES).unwrap_or(lines.len());
                    lines.splice(at..at, self.techniques.lines());
                    lines.extend(self.physics.lines());
                    lines
                }
            }
        }

        /// The table of keys, made as data.
        fn listed() -> Vec<SectionInfo> {
            let mut listed = vec![ $( SectionInfo {
                path: $path,
                doc: prose(&[$($section_doc),*]),
                of_chip: sections!(@$file),
                keys: vec![ $( KeyInfo {
                    name: stringify!($key),
                    doc: prose(&[$($doc),*]),
                    expected: <$Kind as Kind>::expected(),
                    default: sections!(@default $Kind $(, $default)?).map(|value: $Kind| value.write()),
                    schema: <$Kind as Kind>::schema(),
                }, )* ],
            }, )* ];
            let at = listed.iter().position(|section| section.path == BEHIND_TECHNIQUES).unwrap_or(listed.len());
            listed.splice(at..at, crate::techniques::sections());
            listed.extend(crate::physics::sections());
            listed
        }
    };
    (@default $Kind:ty) => { None::<$Kind> };
    (@default $Kind:ty, $default:expr) => { Some::<$Kind>($default) };
    (@chip) => { true };
    (@drive) => { false };
}
pub(crate) use sections;

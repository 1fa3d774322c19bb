//! One definition of the reasons, from which everything about them follows.

/// Makes of a table of reasons: the reasons, their kinds, their names, what they say in words, and
/// how they are written and read.
///
/// A row is documentation, name and fields as in an enum, and then the words that follow the name,
/// as for [`write!`].
macro_rules! reasons {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)*
        } => ($($words:tt)*),
    )*) => {
        /// Why an item was left out.
        ///
        /// Each variant carries what a program needs to act on it; [`Display`](fmt::Display) says
        /// it in words. The reserved variants are never produced by the built-in stages, but your
        /// own slicer may use them. [`ExclusionReasonKind`] is the same without what it carries.
        #[non_exhaustive]
        #[derive(Debug, Clone, PartialEq)]
        pub enum ExclusionReason {
            $(
                $(#[doc = $doc])*
                $name { $($(#[doc = $field_doc])* $field: $type,)* },
            )*
            /// A reason that this version does not know, read from elsewhere and kept as it was.
            Unknown {
                /// Its name.
                name: String,
                /// Its fields, in their order.
                fields: Vec<(String, FieldValue)>,
            },
            /// Never produced; programs written for version 1 may match on it.
            #[doc(hidden)]
            _Unknown,
        }

        /// An [`ExclusionReason`] without its details: which variant it is, and nothing else.
        ///
        /// # Example
        ///
        /// ```
        /// use cupel::{ExclusionReason, ExclusionReasonKind};
        ///
        /// let reason = ExclusionReason::NegativeTokens { tokens: -3 };
        /// assert_eq!(reason.kind(), ExclusionReasonKind::NegativeTokens);
        /// assert_eq!(ExclusionReasonKind::NegativeTokens.name(), "NegativeTokens");
        /// ```
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ExclusionReasonKind {
            $($(#[doc = $doc])* $name,)*
            /// A reason that this version does not know, whatever its name.
            Unknown,
        }

        impl ExclusionReasonKind {
            /// All of them, [`Unknown`](Self::Unknown) last.
            pub const ALL: &'static [Self] = &[$(Self::$name,)* Self::Unknown];

            /// The name of the variant.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                    Self::Unknown => "Unknown",
                }
            }
        }

        impl ExclusionReason {
            /// The reason without its details.
            #[must_use]
            pub fn kind(&self) -> ExclusionReasonKind {
                match self {
                    $(Self::$name { .. } => ExclusionReasonKind::$name,)*
                    Self::Unknown { .. } | Self::_Unknown => ExclusionReasonKind::Unknown,
                }
            }

            /// Writes the fields of the reason in words.
            fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name { $($field,)* } => write!(f, $($words)*),)*
                    Self::Unknown { .. } | Self::_Unknown => Ok(()),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl ExclusionReason {
            /// Writes what it carries, field by field.
            pub(crate) fn write_fields<M: serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> Result<(), M::Error> {
                match self {
                    $(Self::$name { $($field,)* } => {
                        $($field.write_entry(stringify!($field), map)?;)*
                    })*
                    Self::Unknown { fields, .. } => {
                        for (name, value) in fields {
                            map.serialize_entry(name, value)?;
                        }
                    }
                    Self::_Unknown => {}
                }
                Ok(())
            }

            /// Reads the reason of this name from its fields.
            pub(crate) fn read_fields(
                name: String,
                mut fields: crate::wire::Fields<'_>,
            ) -> Result<Self, crate::wire::Problem> {
                match name.as_str() {
                    $(stringify!($name) => Ok(Self::$name {
                        $($field: fields.required(stringify!($field))?,)*
                    }),)*
                    _ => {
                        let rest = fields.rest().into_iter();
                        let fields = rest.map(|(key, value)| (key.into_owned(), value.into()));
                        Ok(Self::Unknown { name, fields: fields.collect() })
                    }
                }
            }
        }
    };
}

pub(super) use reasons;

//! Enums whose variants are named in configuration files.

use crate::names::{list, nearest};

/// A word that a setting does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is none of {}{}", list(valid), nearest(found, valid.iter().copied()).map_or(String::new(), |near| format!("; did you mean {near:?}?")))]
pub struct UnknownWord {
    /// The word that was found.
    pub found: String,
    /// The valid words.
    pub valid: &'static [&'static str],
}

/// Declares an enum whose variants have a name in configuration files and a sentence; the first variant is the default.
///
/// It has `ALL`, `NAMES` and `name()`, is displayed and parsed by these names, and can be a field of
/// [`settings!`](crate::settings!).
#[macro_export]
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash,
            $crate::private::serde::Serialize, $crate::private::serde::Deserialize,
        )]
        $visibility enum $type {
            $( $(#[doc = $doc])+ #[serde(rename = $word)] $variant ),+
        }

        impl $type {
            /// All variants; the first is the default.
            pub const ALL: [$type; [$($word),+].len()] = [$($type::$variant),+];
            /// The names, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The name in configuration files.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $word),+ }
            }
        }

        impl ::std::default::Default for $type {
            fn default() -> $type {
                $type::ALL[0]
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> ::std::result::Result<$type, $crate::UnknownWord> {
                let unknown = || $crate::UnknownWord { found: text.to_owned(), valid: $type::NAMES };
                $type::ALL.iter().copied().find(|word| word.name() == text).ok_or_else(unknown)
            }
        }

        impl $crate::SettingValue for $type {
            const KIND: $crate::Kind = $crate::Kind::Words(&[
                $( $crate::Word { name: $word, sentence: concat!($($doc, "\n"),+) } ),+
            ]);
        }
    };
}

//! The declaration of a struct of settings.

use std::ops::RangeBounds;

use toml::Value;

use crate::kind::Kind;
use crate::range::{InRange, Number, SettingError};
use crate::relevance::When;
use crate::retired::Retired;

crate::words! {
    /// How to search; how much to spend is another choice.
    pub enum Method {
        /// What serves best where time is short.
        Magpie = "magpie",
        /// As the paper has it.
        Paper = "paper",
    }
}

/// What else a default depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The task.
    Task,
    /// The measure.
    Measure,
    /// Where the reward comes from.
    Reward,
    /// How much is to be spent.
    Budget,
}

/// A struct that [`settings!`](crate::settings!) has declared.
pub trait Settings: Sized {
    /// Its fields, in the order of their declaration.
    const FIELDS: &'static [Field];
    /// What fields there were once.
    const RETIRED: &'static [Retired];

    /// The defaults of a method.
    fn of(method: Method) -> Self;

    /// Refuses a value outside of its range, with its key.
    fn check_ranges(&self) -> Result<(), SettingError>;
}

/// A field of a struct of settings.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its key in the table.
    pub name: &'static str,
    /// What it does, line by line as it was written.
    pub sentence: &'static str,
    /// When it has any effect; always, if not given. What stands below it needs this too.
    pub when: Option<When>,
    /// A setting or a table of them.
    pub sort: FieldSort,
}

/// What a field is.
#[derive(Debug, Clone, Copy)]
pub enum FieldSort {
    /// A table.
    Table {
        /// What is in it.
        fields: &'static [Field],
        /// What was in it once.
        retired: &'static [Retired],
    },
    /// A setting.
    Setting(Leaf),
}

/// What a declaration says of one setting.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// What it can be set to.
    pub kind: Kind,
    /// What its default depends on, besides the method.
    pub by: &'static [By],
    /// The numbers that are allowed, in words.
    pub range: Option<fn() -> String>,
    /// What it is counted in.
    pub unit: Option<&'static str>,
    /// The version that had it first.
    pub since: &'static str,
    /// As if set to this, everything behaved before there was the setting.
    pub before: Option<fn() -> Value>,
    /// What it is for, if only to agree with another implementation.
    pub parity: Option<&'static str>,
    /// What the field was called in earlier versions, in the same table.
    pub was: Option<&'static str>,
}

/// The version that had the first settings.
#[doc(hidden)]
pub const FIRST_VERSION: &str = "0.1.0";

/// The range of a field in words, whatever the type of the field makes of numbers.
#[doc(hidden)]
pub fn allowed<V: InRange<N>, N: Number>(range: impl RangeBounds<N>) -> String {
    V::allowed(&range)
}

/// Declares a struct of settings. Every field is public and has a sentence for people, and then, each only if it is said:
///
/// ```text
/// /// Sentence.
/// key: TYPE = DEFAULT,              the paper's default
///     magpie DEFAULT,               ours, if it is another
///     by [Task, Budget],            what else the default depends on
///     in RANGE,                     1..=10, 0.0.., above(0.0), …: numbers, or each of a list of numbers
///     unit "nats",
///     kind KIND,                    if it does not follow from the type
///     since "0.2.0" before VALUE,   the first version with it, and how everything behaved before, in TOML
///     parity "reason",              only there to agree with another implementation
///     was "old_key",                what earlier versions called it; files may go on doing so
///     when CONDITION;               else it has no effect
/// /// Sentence.
/// key: TABLE, when CONDITION;       a table of settings, declared in the same way
/// ```
///
/// After the struct, `retired { key = VALUE; key => "search.other", when CONDITION; }` names what files may still say: a value by which
/// everything behaves now, or what another setting says now; where the condition does not hold, it never mattered.
#[macro_export]
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $type:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $value:ty
                    $(= $paper:expr
                        $(, magpie $magpie:expr)?
                        $(, by [$($by:ident),+])?
                        $(, in $range:expr)?
                        $(, unit $unit:literal)?
                        $(, kind $kind:expr)?
                        $(, since $since:literal $(before $before:expr)?)?
                        $(, parity $parity:literal)?
                        $(, was $was:literal)?
                    )?
                    $(, when $when:expr)?
                ;
            )*
        }
        $(retired { $( $gone:ident $(= $always:expr)? $(=> $now:literal)? $(, when $unless:expr)? ; )* })?
    ) => {
        $(#[$attribute])*
        #[derive(
            Debug, Clone, PartialEq, $crate::private::serde::Serialize, $crate::private::serde::Deserialize,
        )]
        #[serde(default, deny_unknown_fields)]
        $visibility struct $type {
            $( $(#[doc = $doc])+ pub $field: $value, )*
        }

        impl $crate::Settings for $type {
            const FIELDS: &'static [$crate::Field] = &[
                $( $crate::Field {
                    name: stringify!($field),
                    sentence: concat!($($doc, "\n"),+),
                    when: $crate::setting_part!(option $($when)?),
                    sort: $crate::setting_part!(sort $value $(; $paper;
                        by [$($(&$crate::By::$by),+)?],
                        range [$($range)?],
                        unit [$($unit)?],
                        kind [$($kind)?],
                        since [$($since)?],
                        before [$($($before)?)?],
                        parity [$($parity)?],
                        was [$($was)?]
                    )?),
                }, )*
            ];
            const RETIRED: &'static [$crate::Retired] = &[
                $($( $crate::Retired {
                    key: stringify!($gone),
                    was: $crate::setting_part!(was $($always)? $(=> $now)?),
                    when: $crate::setting_part!(option $($unless)?),
                }, )*)?
            ];

            fn of(method: $crate::Method) -> $type {
                $type { $(
                    $field: $crate::setting_part!(default method, $value $(; $paper $(, $magpie)?)?),
                )* }
            }

            fn check_ranges(&self) -> ::std::result::Result<(), $crate::SettingError> {
                $( $crate::setting_part!(check self, $field $(; $paper; $($range)?)?); )*
                Ok(())
            }
        }

        impl ::std::default::Default for $type {
            /// The paper's.
            fn default() -> $type {
                <$type as $crate::Settings>::of($crate::Method::Paper)
            }
        }
    };
}

/// Parts of [`settings!`].
#[doc(hidden)]
#[macro_export]
macro_rules! setting_part {
    (option) => { None };
    (option $value:expr) => { Some($value) };

    (sort $value:ty) => {
        $crate::FieldSort::Table {
            fields: <$value as $crate::Settings>::FIELDS,
            retired: <$value as $crate::Settings>::RETIRED,
        }
    };
    (sort $value:ty; $paper:expr;
        by [$(&$by:expr),*], range [$($range:expr)?], unit [$($unit:literal)?], kind [$($kind:expr)?],
        since [$($since:literal)?], before [$($before:expr)?], parity [$($parity:literal)?],
        was [$($was:literal)?]
    ) => {
        $crate::FieldSort::Setting($crate::Leaf {
            kind: $crate::setting_part!(kind $value $(; $kind)?),
            by: &[$($by),*],
            range: $crate::setting_part!(option $(|| $crate::private::allowed::<$value, _>($range))?),
            unit: $crate::setting_part!(option $($unit)?),
            since: $crate::setting_part!(since $($since)?),
            before: $crate::setting_part!(option $(|| $crate::private::Value::from($before))?),
            parity: $crate::setting_part!(option $($parity)?),
            was: $crate::setting_part!(option $($was)?),
        })
    };

    (kind $value:ty) => { <$value as $crate::SettingValue>::KIND };
    (kind $value:ty; $kind:expr) => { $kind };

    (since) => { $crate::private::FIRST_VERSION };
    (since $since:literal) => { $since };

    (was $value:expr) => { $crate::Was::Always(|| $crate::private::Value::from($value)) };
    (was => $now:literal) => { $crate::Was::Now($now) };

    (default $method:ident, $value:ty) => { <$value as $crate::Settings>::of($method) };
    (default $method:ident, $value:ty; $paper:expr) => { $paper };
    (default $method:ident, $value:ty; $paper:expr, $magpie:expr) => {
        match $method {
            $crate::Method::Paper => $paper,
            $crate::Method::Magpie => $magpie,
        }
    };

    (check $self:ident, $field:ident) => {
        $crate::Settings::check_ranges(&$self.$field).map_err(|error| error.under(stringify!($field)))?
    };
    (check $self:ident, $field:ident; $paper:expr;) => {};
    (check $self:ident, $field:ident; $paper:expr; $range:expr) => {
        $crate::within(stringify!($field), &$self.$field, $range)?
    };
}

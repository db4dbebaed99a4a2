//! The macro that declares a struct of settings.

use std::ops::RangeBounds;

use toml::Value;

use crate::kind::Kind;
use crate::range::{InRange, Number, SettingError};
use crate::relevance::When;
use crate::retired::Retired;

crate::words! {
    /// Search method; the budget is a separate choice.
    pub enum Method {
        /// Settings that work best when time is short.
        Magpie = "magpie",
        /// The settings of the paper.
        Paper = "paper",
    }
}

/// What a default depends on, in addition to the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The task.
    Task,
    /// The measure.
    Measure,
    /// The source of the reward.
    Reward,
    /// The budget.
    Budget,
}

/// A struct declared with [`settings!`](crate::settings!).
pub trait Settings: Sized {
    /// Its fields, in order of declaration.
    const FIELDS: &'static [Field];
    /// Its retired settings.
    const RETIRED: &'static [Retired];

    /// The defaults of a method.
    fn of(method: Method) -> Self;

    /// Refuses a value that is out of range, and names its key.
    fn check_ranges(&self) -> Result<(), SettingError>;
}

/// A field of a struct of settings.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its key in the table.
    pub name: &'static str,
    /// Its sentences, line by line as in the declaration.
    pub sentence: &'static str,
    /// The condition under which it has an effect; `None` means always. It also applies to the settings below.
    pub when: Option<When>,
    /// A setting or a table of them.
    pub sort: FieldSort,
}

/// The sort of a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldSort {
    /// A table.
    Table {
        /// Its fields.
        fields: &'static [Field],
        /// Its retired settings.
        retired: &'static [Retired],
    },
    /// A setting.
    Setting(Leaf),
}

/// The declaration of one setting.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// The kind of value.
    pub kind: Kind,
    /// What its default depends on, in addition to the method.
    pub by: &'static [By],
    /// The valid numbers, in words.
    pub range: Option<fn() -> String>,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// The first version that has it.
    pub since: &'static str,
    /// The value that corresponds to the behaviour before the setting existed.
    pub before: Option<fn() -> Value>,
    /// The difference from another implementation that it exists for, if it exists only for comparisons.
    pub parity: Option<&'static str>,
    /// The field's name in earlier versions, in the same table.
    pub was: Option<&'static str>,
}

/// The version that had the first settings.
#[doc(hidden)]
pub const FIRST_VERSION: &str = "0.1.0";

/// The range of a field in words, for any field type that consists of numbers.
#[doc(hidden)]
pub fn allowed<V: InRange<N>, N: Number>(range: impl RangeBounds<N>) -> String {
    V::allowed(&range)
}

/// Declares a struct of settings. All fields are public and have a sentence of documentation, followed by optional
/// clauses:
///
/// ```text
/// /// Sentence.
/// key: TYPE = DEFAULT,              the paper's default
///     magpie DEFAULT,               magpie's default, if it differs
///     by [Task, Budget],            what the default depends on as well
///     in RANGE,                     1..=10, 0.0.., above(0.0), …: for a number, or for each number of a list
///     unit "nats",
///     kind KIND,                    if it does not follow from the type
///     since "0.2.0" before VALUE,   first version that has it; value that matches the earlier behaviour, in TOML
///     parity "reason",              exists only to match another implementation
///     was "old_key",                name in earlier versions, still accepted in files
///     when CONDITION;               without which it has no effect
/// /// Sentence.
/// key: TABLE, when CONDITION;       a table of settings, declared in the same way
/// ```
///
/// After the struct, `retired { key = VALUE; key => "search.other", when CONDITION; }` lists keys that files of earlier
/// versions may still contain: with the value that corresponds to today's behaviour, or with the value of the setting
/// that replaced it. With `key => "search.other" [on "word", off "word"]` it is a flag that became a word, which its value
/// still chooses. If the condition does not hold, the key never had an effect.
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
        $(retired { $(
            $gone:ident
                $(= $always:expr)?
                $(=> $now:literal $([on $on:literal, off $off:literal])?)?
                $(, when $unless:expr)?
            ;
        )* })?
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
                    was: $crate::setting_part!(was $($always)? $(=> $now $($on $off)?)?),
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
            /// The defaults of the paper.
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
    (was => $now:literal $on:literal $off:literal) => { $crate::Was::Word { now: $now, on: $on, off: $off } };

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

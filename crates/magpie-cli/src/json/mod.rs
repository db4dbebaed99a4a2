//! What the program says to other programs: with `--json`, one object a line.
//!
//! Every event is declared once, in `events.rs` with the objects of `objects.rs`. From a declaration come its name, its fields and its place on the page
//! `docs/reference/json.md`.

mod events;
mod objects;
#[cfg(test)]
mod page;

pub use events::*;
pub use objects::*;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Goes up when a field disappears or changes its meaning. New events and new fields leave it as it is.
pub const VERSION: u32 = 1;

/// Something that is told in a line of its own.
pub trait Event: Serialize {
    /// How programs recognise it.
    const NAME: &'static str;
}

/// An event as a line, without its end.
pub fn line<E: Event>(event: &E) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Line<'a, E> {
        version: u32,
        event: &'static str,
        #[serde(flatten)]
        fields: &'a E,
    }
    serde_json::to_string(&Line { version: VERSION, event: E::NAME, fields: event })
}

/// Numbers by the names of their columns, written as in `metrics.csv`; `null` where there is no such number.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns(pub Vec<(&'static str, f64)>);

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Below this, every whole number is a double of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for &(name, number) in &self.0 {
            match number.fract() == 0.0 && number.abs() < EXACT {
                true => map.serialize_entry(name, &(number as i64))?,
                false => map.serialize_entry(name, &number)?,
            }
        }
        map.end()
    }
}

/// A field on the page.
#[cfg(test)]
struct Field {
    name: &'static str,
    kind: &'static str,
    about: &'static [&'static str],
}

/// An event, or an object within one, on the page.
#[cfg(test)]
struct Record {
    kind: &'static str,
    event: &'static [&'static str],
    about: &'static [&'static str],
    fields: &'static [Field],
}

/// Declares events, `Type = "name"`, and the objects within them.
macro_rules! records {
    ($(
        $(#[doc = $about:literal])+
        $Type:ident $(= $event:literal)? { $( $(#[doc = $doc:literal])+ $field:ident: $Kind:ty, )* }
    )*) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, PartialEq, ::serde::Serialize)]
            pub struct $Type { $( $(#[doc = $doc])+ pub $field: $Kind, )* }

            $( impl $crate::json::Event for $Type { const NAME: &'static str = $event; } )?
        )*

        #[cfg(test)]
        pub(super) const RECORDS: &[$crate::json::Record] = &[$(
            $crate::json::Record {
                kind: stringify!($Type),
                event: &[$($event)?],
                about: &[$($about),+],
                fields: &[$( $crate::json::Field {
                    name: stringify!($field),
                    kind: stringify!($Kind),
                    about: &[$($doc),+],
                } ),*],
            }
        ),*];
    };
}

use records;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_with_version_and_event_and_numbers_are_those_of_the_table() {
        let metrics = Columns(vec![("iteration", 3.0), ("best", f64::NAN), ("mean", 0.5)]);
        let event = Iteration { run: None, metrics, saved: false, seconds_left: Some(f64::INFINITY) };
        assert_eq!(
            line(&event).unwrap(),
            r#"{"version":1,"event":"iteration","run":null,"metrics":{"iteration":3,"best":null,"mean":0.5},"saved":false,"seconds_left":null}"#
        );
    }
}

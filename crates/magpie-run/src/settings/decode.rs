//! Deserialises a tree of settings into a typed configuration. The names and lengths that a struct, array or enum
//! expects are known at that moment, so that they are checked without a separate list.

use std::fmt::{self, Display};

use serde::de::{
    self, DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::fault::{Fault, Origin};
use super::layer::{Layer, Value};

/// An error; the innermost decoder adds its location.
#[derive(Debug)]
pub(crate) enum Complaint {
    Wrong { found: String, expected: String },
    Missing(&'static str),
    Other(String),
    Placed(Fault),
}

impl Complaint {
    fn placed(self, path: &Path<'_>, at: Origin) -> Complaint {
        let message = match self {
            Complaint::Placed(fault) => return Complaint::Placed(fault),
            Complaint::Wrong { found, expected } => format!("`{path}` is {found}, but must be {expected}"),
            Complaint::Missing(field) => {
                let key = Path::Key(path, field).to_string();
                format!("`{key}` is missing; add it")
            }
            Complaint::Other(problem) => format!("`{path}`: {problem}"),
        };
        Complaint::Placed(Fault { at, message })
    }
}

impl From<Complaint> for Fault {
    fn from(complaint: Complaint) -> Fault {
        match complaint.placed(&Path::Root, Origin::Preset) {
            Complaint::Placed(fault) => fault,
            other => Fault { at: Origin::Preset, message: other.to_string() },
        }
    }
}

impl Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Complaint::Wrong { found, expected } => write!(f, "is {found}, but must be {expected}"),
            Complaint::Missing(field) => write!(f, "`{field}` is missing"),
            Complaint::Other(message) | Complaint::Placed(Fault { message, .. }) => f.write_str(message),
        }
    }
}

impl std::error::Error for Complaint {}

impl Error for Complaint {
    fn custom<T: Display>(message: T) -> Complaint {
        Complaint::Other(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Complaint {
        Complaint::Wrong { found: found_in_words(found), expected: expected_in_words(&expected.to_string()) }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Complaint {
        Complaint::invalid_type(found, expected)
    }

    fn missing_field(field: &'static str) -> Complaint {
        Complaint::Missing(field)
    }
}

fn found_in_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(flag) => flag.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Float(number) => number.to_string(),
        Unexpected::Str(text) => {
            let short: String = text.chars().take(60).collect();
            format!("the string {short:?}{}", if short.len() < text.len() { "…" } else { "" })
        }
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// Describes the types that serde expects for people who write TOML.
fn expected_in_words(expected: &str) -> String {
    let from_to = |low: &dyn Display, high: &dyn Display| format!("a whole number from {low} to {high}");
    match expected {
        "f32" | "f64" => "a number".to_owned(),
        "u8" => from_to(&0, &u8::MAX),
        "u16" => from_to(&0, &u16::MAX),
        "u32" => from_to(&0, &u32::MAX),
        // TOML has no larger whole numbers.
        "u64" | "usize" => from_to(&0, &i64::MAX),
        "i8" => from_to(&i8::MIN, &i8::MAX),
        "i16" => from_to(&i16::MIN, &i16::MAX),
        "i32" => from_to(&i32::MIN, &i32::MAX),
        "i64" | "isize" => from_to(&i64::MIN, &i64::MAX),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        "path string" => "a path in quotes".to_owned(),
        name if name.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

/// The path to a value, for messages.
enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Entry(&'a Path<'a>, usize),
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => f.write_str(key),
            Path::Key(parent, key) => write!(f, "{parent}.{key}"),
            Path::Entry(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Deserialises one value of the tree.
pub(crate) struct Decoder<'a> {
    root: &'a Layer,
    layer: &'a Layer,
    path: Path<'a>,
}

/// The largest range of whole numbers that are exact in double precision.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'a> Decoder<'a> {
    pub(crate) fn new(root: &'a Layer) -> Decoder<'a> {
        Decoder { root, layer: root, path: Path::Root }
    }

    fn any<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Complaint> {
        let place = |complaint: Complaint| complaint.placed(&self.path, self.layer.at);
        match &self.layer.value {
            Value::Table(table) => {
                let entries = table.iter();
                visitor.visit_map(Entries { decoder: self, entries, value: None })
            }
            Value::List(list) => visitor.visit_seq(Items { decoder: self, items: list.iter().enumerate() }),
            Value::Text(text) => visitor.visit_str(text),
            Value::Whole(number) => visitor.visit_i64(*number),
            Value::Real(number) => visitor.visit_f64(*number),
            Value::Flag(flag) => visitor.visit_bool(*flag),
        }
        .map_err(place)
    }

    /// A whole number; `30e6` is one.
    fn whole<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Complaint> {
        match self.layer.value {
            Value::Real(number) if number.fract() == 0.0 && number.abs() <= EXACT => visitor
                .visit_i64(number as i64)
                .map_err(|complaint: Complaint| complaint.placed(&self.path, self.layer.at)),
            _ => self.any(visitor),
        }
    }

    fn fault(&self, at: Origin, message: String) -> Complaint {
        Complaint::Placed(Fault { at, message })
    }

    fn refuse_unknown(&self, fields: &[&str]) -> Result<(), Complaint> {
        let Value::Table(table) = &self.layer.value else { return Ok(()) };
        let Some((key, entry)) = table.iter().find(|(key, _)| !fields.contains(&key.as_str())) else {
            return Ok(());
        };
        let full = |key: &str| Path::Key(&self.path, key).to_string();
        let elsewhere = || paths(self.root).into_iter().find(|path| path.rsplit('.').next() == Some(key));
        let near_elsewhere = || {
            let paths = paths(self.root);
            let end = |path: &str| path.rsplit('.').next().map(str::to_owned).unwrap_or_default();
            let ends: Vec<String> = paths.iter().map(|path| end(path)).collect();
            let near = magpie_settings::nearest(key, ends.iter().map(String::as_str))?;
            paths.iter().find(|path| end(path) == near).cloned()
        };
        let near = magpie_settings::nearest(key, fields.iter().copied()).map(full);
        let near = near.or_else(elsewhere).or_else(near_elsewhere);
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("valid here: {}", fields.join(", ")),
        };
        Err(self.fault(entry.key, format!("unknown key `{}`: {remedy}", full(key))))
    }

    fn refuse_length(&self, expected: usize) -> Result<(), Complaint> {
        match &self.layer.value {
            Value::List(list) if list.len() != expected => {
                let entries = if list.len() == 1 { "entry" } else { "entries" };
                let message =
                    format!("`{}` has {} {entries}, but must have {expected}", self.path, list.len());
                Err(self.fault(self.layer.at, message))
            }
            _ => Ok(()),
        }
    }
}

/// All keys of the defaults, including tables.
fn paths(root: &Layer) -> Vec<String> {
    fn collect(layer: &Layer, path: &str, found: &mut Vec<String>) {
        let Value::Table(table) = &layer.value else { return };
        for (key, entry) in table.iter().filter(|(_, entry)| entry.key == Origin::Preset) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            collect(entry, &path, found);
            found.push(path);
        }
    }
    let mut found = Vec::new();
    collect(root, "", &mut found);
    found
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
            self.whole(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Decoder<'_> {
    type Error = Complaint;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        self.any(visitor)
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        match self.layer.value {
            Value::Real(number) if number.is_finite() && (number as f32).is_infinite() => {
                let message = format!("`{}` is {number:e}, which is too large", self.path);
                Err(self.fault(self.layer.at, message))
            }
            _ => self.any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Complaint> {
        self.refuse_length(length)?;
        self.any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        if let (Value::Text(_) | Value::Whole(_) | Value::Real(_) | Value::Flag(_), Some(&first)) =
            (&self.layer.value, fields.first())
        {
            let one = Path::Key(&self.path, first);
            let message = format!("`{}` is a table; set one of its keys, such as `{one}`", self.path);
            return Err(self.fault(self.layer.at, message));
        }
        self.refuse_unknown(fields)?;
        self.any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        let list = || magpie_settings::list(variants);
        match &self.layer.value {
            Value::Text(name) if variants.contains(&name.as_str()) => {
                let variant: de::value::StrDeserializer<'_, Complaint> = name.as_str().into_deserializer();
                visitor.visit_enum(variant).map_err(|e| e.placed(&self.path, self.layer.at))
            }
            Value::Text(name) => {
                let nearest = magpie_settings::nearest(name, variants.iter().copied());
                let remedy = nearest.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                let message = format!("`{}` is {name:?}, but must be one of {}{remedy}", self.path, list());
                Err(self.fault(self.layer.at, message))
            }
            Value::Table(table) => {
                // A layer that names another variant replaces the default one.
                let set = table.iter().filter(|(_, entry)| entry.key != Origin::Preset);
                let mut chosen: Vec<_> = set.collect();
                if chosen.is_empty() {
                    chosen = table.iter().collect();
                }
                if let [(name, layer)] = chosen[..]
                    && variants.contains(&name.as_str())
                {
                    return visitor.visit_enum(Variant { decoder: &self, name, layer });
                }
                let message = format!("`{}` must name one of {}", self.path, list());
                Err(self.fault(self.layer.at, message))
            }
            _ => {
                let message = format!("`{}` must be one of {}, in quotes", self.path, list());
                Err(self.fault(self.layer.at, message))
            }
        }
    }

    forward_to_deserialize_any! {
        bool i128 u128 f64 char str string bytes byte_buf unit unit_struct seq map identifier ignored_any
    }
}

/// The entries of a table.
struct Entries<'a, I> {
    decoder: &'a Decoder<'a>,
    entries: I,
    value: Option<(&'a str, &'a Layer)>,
}

impl<'de, 'a, I: Iterator<Item = (&'a String, &'a Layer)>> de::MapAccess<'de> for Entries<'a, I> {
    type Error = Complaint;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Complaint> {
        let Some((key, layer)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key, layer));
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Complaint> {
        let (key, layer) = self.value.take().ok_or_else(|| Complaint::custom("a value without a key"))?;
        seed.deserialize(Decoder { root: self.decoder.root, layer, path: Path::Key(&self.decoder.path, key) })
    }
}

/// The entries of a list.
struct Items<'a, I> {
    decoder: &'a Decoder<'a>,
    items: I,
}

impl<'de, 'a, I: Iterator<Item = (usize, &'a Layer)>> de::SeqAccess<'de> for Items<'a, I> {
    type Error = Complaint;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Complaint> {
        let Some((index, layer)) = self.items.next() else { return Ok(None) };
        let path = Path::Entry(&self.decoder.path, index);
        seed.deserialize(Decoder { root: self.decoder.root, layer, path }).map(Some)
    }
}

/// A variant with contents: a table with one entry.
struct Variant<'a> {
    decoder: &'a Decoder<'a>,
    name: &'a str,
    layer: &'a Layer,
}

impl<'a> Variant<'a> {
    fn content(&self) -> Decoder<'_> {
        let path = Path::Key(&self.decoder.path, self.name);
        Decoder { root: self.decoder.root, layer: self.layer, path }
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'_> {
    type Error = Complaint;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Complaint> {
        let name: de::value::StrDeserializer<'_, Complaint> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_> {
    type Error = Complaint;

    fn unit_variant(self) -> Result<(), Complaint> {
        let message = format!("`{}` has no contents; write it as {:?}", self.content().path, self.name);
        Err(Complaint::Placed(Fault { at: self.layer.at, message }))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Complaint> {
        seed.deserialize(self.content())
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Complaint> {
        self.content().deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        self.content().deserialize_struct("", fields, visitor)
    }
}

//! Reading Python's pickles as data.
//!
//! A pickle is a program for a small stack machine. This one knows the instructions that build containers, numbers,
//! text and numpy arrays, and nothing else: a name that is not one of numpy's constructors is an error, and nothing
//! is ever run. Bytes are borrowed from the file, and every other value costs at least one byte of it, so memory is
//! limited by the size of the file. A value can be recalled for two bytes as often as a file likes: nothing that is done
//! to a value may take longer than it takes to read it, and so arguments are looked at in place and names are short.

use std::collections::HashMap;

use magpie_npz::{Array, Dtype, Header};

use crate::error::{Problem, problem, shown};

/// More values than this are no demonstrations: arrays count as one.
const MOST_VALUES: usize = 1_000_000;
/// Names of arrays and of types are shorter.
const LONGEST_NAME: usize = 100;

/// Index of a value.
type Id = usize;

#[derive(Debug)]
enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float,
    Text(&'a str),
    Bytes(&'a [u8]),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    /// A type, and whether its bytes are in little-endian order.
    Dtype(Dtype, bool),
    /// An array that is still to be filled in.
    Blank,
    Array(Stored<'a>),
}

/// An array as it lies in the file.
#[derive(Debug, Clone)]
pub(super) struct Stored<'a> {
    header: Header,
    bytes: &'a [u8],
}

impl Stored<'_> {
    /// How many numbers it has.
    pub fn count(&self) -> u64 {
        self.header.shape.iter().product::<usize>() as u64
    }

    /// Its numbers.
    pub fn read(&self) -> Result<Array<f64>, Problem> {
        self.header.array(self.bytes).map_err(Problem)
    }
}

/// Constructors of numpy's that pickles of arrays name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Global {
    FromBuffer,
    Reconstruct,
    Dtype,
    Ndarray,
}

impl Global {
    fn named(module: &str, name: &str) -> Option<Global> {
        Some(match (module, name) {
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Global::FromBuffer,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Global::Reconstruct,
            ("numpy", "dtype") => Global::Dtype,
            ("numpy", "ndarray") => Global::Ndarray,
            _ => return None,
        })
    }
}

/// The arrays of a pickled dictionary, by name. Entries that are no arrays are passed over.
pub(super) fn arrays(bytes: &[u8]) -> Result<HashMap<String, Stored<'_>>, Problem> {
    let mut machine =
        Machine { bytes, at: 0, values: vec![], stack: vec![], marks: vec![], memo: HashMap::new() };
    let top = machine.run()?;
    let Value::Dict(entries) = &machine.values[top] else {
        return problem!("the pickle holds {}; expected a dictionary of arrays", machine.values[top].kind());
    };
    let mut arrays = HashMap::new();
    for &(key, value) in entries {
        if let (Value::Text(key), Value::Array(array)) = (&machine.values[key], &machine.values[value])
            && key.len() <= LONGEST_NAME
        {
            arrays.insert((*key).to_owned(), array.clone());
        }
    }
    Ok(arrays)
}

impl Value<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Bool(_) => "a truth value",
            Value::Int(_) | Value::Float => "a number",
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytes",
            Value::Tuple(_) | Value::List(_) => "a list",
            Value::Dict(_) => "a dictionary",
            Value::Global(_) | Value::Dtype(..) | Value::Blank => "a part of an array",
            Value::Array(_) => "an array",
        }
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    values: Vec<Value<'a>>,
    stack: Vec<Id>,
    /// Where on the stack marks were set.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

impl<'a> Machine<'a> {
    /// Runs up to STOP and gives the value on top.
    fn run(&mut self) -> Result<Id, Problem> {
        loop {
            let at = self.at;
            let [code] = self.take_array()?;
            match code {
                // PROTO and FRAME say nothing that matters here.
                0x80 => drop(self.take(1)?),
                0x95 => drop(self.take(8)?),
                b'(' => {
                    self.check_count(self.marks.len())?;
                    self.marks.push(self.stack.len());
                }
                b'0' => drop(self.pop()?),
                b'.' => return self.pop(),
                b'N' => self.push(Value::None)?,
                0x88 => self.push(Value::Bool(true))?,
                0x89 => self.push(Value::Bool(false))?,
                b'K' => {
                    let [byte] = self.take_array()?;
                    self.push(Value::Int(byte.into()))?;
                }
                b'M' => {
                    let value = u16::from_le_bytes(self.take_array()?);
                    self.push(Value::Int(value.into()))?;
                }
                b'J' => {
                    let value = i32::from_le_bytes(self.take_array()?);
                    self.push(Value::Int(value.into()))?;
                }
                0x8a => self.long()?,
                b'G' => {
                    self.take(8)?;
                    self.push(Value::Float)?;
                }
                0x8c | b'X' | 0x8d => {
                    let text = self.counted(match code {
                        0x8c => 1,
                        b'X' => 4,
                        _ => 8,
                    })?;
                    let Ok(text) = std::str::from_utf8(text) else {
                        return problem!("the text at byte {at} of the pickle is not UTF-8");
                    };
                    self.push(Value::Text(text))?;
                }
                b'C' | b'B' | 0x8e | 0x96 => {
                    let bytes = self.counted(match code {
                        b'C' => 1,
                        b'B' => 4,
                        _ => 8,
                    })?;
                    self.push(Value::Bytes(bytes))?;
                }
                b')' => self.push(Value::Tuple(vec![]))?,
                b']' => self.push(Value::List(vec![]))?,
                b'}' => self.push(Value::Dict(vec![]))?,
                b't' => {
                    let items = self.pop_to_mark()?;
                    self.push(Value::Tuple(items))?;
                }
                0x85..=0x87 => {
                    let count = usize::from(code - 0x84);
                    let Some(from) = self.stack.len().checked_sub(count) else { return self.empty() };
                    let items = self.stack.split_off(from);
                    self.push(Value::Tuple(items))?;
                }
                b'a' | b'e' => {
                    let items = if code == b'a' { vec![self.pop()?] } else { self.pop_to_mark()? };
                    let list = self.top()?;
                    match &mut self.values[list] {
                        Value::List(list) => list.extend(items),
                        other => return problem!("byte {at} of the pickle appends to {}", other.kind()),
                    }
                }
                b's' | b'u' => {
                    let items = match code {
                        b's' => {
                            let value = self.pop()?;
                            vec![self.pop()?, value]
                        }
                        _ => self.pop_to_mark()?,
                    };
                    let dict = self.top()?;
                    match &mut self.values[dict] {
                        Value::Dict(dict) => {
                            dict.extend(items.as_chunks::<2>().0.iter().map(|&[k, v]| (k, v)))
                        }
                        other => {
                            return problem!("byte {at} of the pickle puts an entry into {}", other.kind());
                        }
                    }
                }
                0x94 => {
                    let top = self.top()?;
                    self.check_count(self.memo.len())?;
                    self.memo.insert(self.memo.len() as u32, top);
                }
                b'q' | b'r' => {
                    let (key, top) = (self.memo_key(code == b'q')?, self.top()?);
                    self.check_count(self.memo.len())?;
                    self.memo.insert(key, top);
                }
                b'h' | b'j' => {
                    let key = self.memo_key(code == b'h')?;
                    let Some(&id) = self.memo.get(&key) else {
                        return problem!("byte {at} of the pickle recalls value {key}, which was never kept");
                    };
                    self.check_count(self.stack.len())?;
                    self.stack.push(id);
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.global(module, name)?;
                }
                0x93 => {
                    let (name, module) = (self.pop()?, self.pop()?);
                    let (&Value::Text(name), &Value::Text(module)) =
                        (&self.values[name], &self.values[module])
                    else {
                        return problem!("byte {at} of the pickle names something without text");
                    };
                    self.global(module, name)?;
                }
                b'R' => self.reduce(at)?,
                b'b' => self.build(at)?,
                other => {
                    return problem!(
                        "byte {at} of the pickle is the instruction {other:#04x}, which plain arrays do not need; \
                         expected a dictionary of numpy arrays"
                    );
                }
            }
        }
    }

    fn push(&mut self, value: Value<'a>) -> Result<(), Problem> {
        self.check_count(self.values.len())?;
        self.stack.push(self.values.len());
        self.values.push(value);
        Ok(())
    }

    /// Refuses one value, mark or reference more than there may be.
    fn check_count(&self, count: usize) -> Result<(), Problem> {
        match count < MOST_VALUES {
            true => Ok(()),
            false => {
                problem!("the pickle has more than {MOST_VALUES} values, the limit; expected a few arrays")
            }
        }
    }

    fn empty<T>(&self) -> Result<T, Problem> {
        problem!("byte {} of the pickle takes from an empty stack; the file is damaged", self.at)
    }

    /// Values before the last mark belong to others.
    fn pop(&mut self) -> Result<Id, Problem> {
        if self.marks.last().is_some_and(|&mark| self.stack.len() <= mark) {
            return self.empty();
        }
        self.stack.pop().map_or_else(|| self.empty(), Ok)
    }

    fn top(&self) -> Result<Id, Problem> {
        self.stack.last().map_or_else(|| self.empty(), |&id| Ok(id))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, Problem> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => self.empty(),
        }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Problem> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) {
            Some(bytes) => {
                self.at += count;
                Ok(bytes)
            }
            None => problem!(
                "the pickle ends after {} bytes, where {count} more were expected; the file is cut off",
                self.bytes.len()
            ),
        }
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A length of so many bytes, and what follows it.
    fn counted(&mut self, length_bytes: usize) -> Result<&'a [u8], Problem> {
        let mut length = [0; 8];
        length[..length_bytes].copy_from_slice(self.take(length_bytes)?);
        self.take(usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX))
    }

    fn line(&mut self) -> Result<&'a str, Problem> {
        let rest = &self.bytes[self.at..];
        let Some(end) = rest.iter().position(|&b| b == b'\n') else {
            return self.take(rest.len() + 1).map(|_| "");
        };
        let line = self.take(end + 1)?;
        std::str::from_utf8(&line[..end]).map_err(|_| Problem("a name in the pickle is not UTF-8".to_owned()))
    }

    fn memo_key(&mut self, short: bool) -> Result<u32, Problem> {
        match short {
            true => self.take_array().map(|[byte]| byte.into()),
            false => self.take_array().map(u32::from_le_bytes),
        }
    }

    /// LONG1: a whole number of so many bytes.
    fn long(&mut self) -> Result<(), Problem> {
        let bytes = self.counted(1)?;
        if bytes.len() > 8 {
            return problem!("the pickle has a whole number of {} bytes; expected at most 8", bytes.len());
        }
        let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        self.push(Value::Int(i64::from_le_bytes(wide)))
    }

    fn global(&mut self, module: &str, name: &str) -> Result<(), Problem> {
        match Global::named(module, name) {
            Some(global) => self.push(Value::Global(global)),
            None => problem!(
                "the pickle names {}.{}; only numpy arrays are read, and nothing is run: \
                 save a dictionary of numpy arrays",
                shown(module),
                shown(name)
            ),
        }
    }

    /// REDUCE: a constructor and its arguments.
    fn reduce(&mut self, at: usize) -> Result<(), Problem> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let (Value::Global(function), Value::Tuple(arguments)) =
            (&self.values[function], &self.values[arguments])
        else {
            return problem!("byte {at} of the pickle calls what is no constructor of numpy's");
        };
        let argument = |i: usize| arguments.get(i).map(|&id| &self.values[id]);
        let value = match *function {
            Global::Reconstruct => Value::Blank,
            Global::Dtype => {
                let Some(Value::Text(name)) = argument(0) else {
                    return problem!("byte {at} of the pickle makes a type without a name");
                };
                if name.len() > LONGEST_NAME {
                    return problem!(
                        "byte {at} of the pickle makes a type with a name of {} bytes",
                        name.len()
                    );
                }
                let plain = name.trim_start_matches(['<', '|', '=']);
                match Dtype::named(plain) {
                    Some(dtype) => Value::Dtype(dtype, true),
                    None => {
                        return problem!(
                            "the pickle has an array of type {name}; expected numbers: f4, f8, i4, i8, u1 or b1"
                        );
                    }
                }
            }
            Global::FromBuffer => {
                let fortran_order = matches!(argument(3), Some(Value::Text("F")));
                let (Some(Value::Bytes(bytes)), Some(dtype), Some(shape)) =
                    (argument(0), argument(1), argument(2))
                else {
                    return problem!("byte {at} of the pickle makes an array without bytes, type and shape");
                };
                self.array(bytes, dtype, shape, fortran_order)?
            }
            Global::Ndarray => return problem!("byte {at} of the pickle makes an array without data"),
        };
        self.push(value)
    }

    /// BUILD: fills in a type's byte order, or an array's data.
    fn build(&mut self, at: usize) -> Result<(), Problem> {
        let (state, target) = (self.pop()?, self.top()?);
        let Value::Tuple(state) = &self.values[state] else {
            return problem!("byte {at} of the pickle fills in {}", self.values[state].kind());
        };
        let entry = |i: usize| state.get(i).map(|&id| &self.values[id]);
        let value = match (&self.values[target], entry(1)) {
            (&Value::Dtype(dtype, _), Some(Value::Text(order))) => Value::Dtype(dtype, *order != ">"),
            (Value::Blank, Some(shape)) => {
                let fortran_order = matches!(entry(3), Some(Value::Bool(true)));
                let (Some(dtype), Some(Value::Bytes(bytes))) = (entry(2), entry(4)) else {
                    return problem!("byte {at} of the pickle fills in an array without type and bytes");
                };
                self.array(bytes, dtype, shape, fortran_order)?
            }
            (other, _) => return problem!("byte {at} of the pickle fills in {}", other.kind()),
        };
        self.values[target] = value;
        Ok(())
    }

    fn array(
        &self,
        bytes: &'a [u8],
        dtype: &Value,
        shape: &Value,
        fortran_order: bool,
    ) -> Result<Value<'a>, Problem> {
        let &Value::Dtype(dtype, little) = dtype else {
            return problem!("an array of the pickle has {} for a type", dtype.kind());
        };
        if !little {
            return problem!("an array of the pickle is big-endian; expected little endian");
        }
        let Value::Tuple(axes) = shape else {
            return problem!("an array of the pickle has {} for a shape", shape.kind());
        };
        // numpy knows no more axes, and every array has a shape of its own.
        if axes.len() > 64 {
            return problem!("an array of the pickle has {} axes; expected at most 64", axes.len());
        }
        let axis = |&id: &Id| match self.values[id] {
            Value::Int(n) => usize::try_from(n).ok(),
            _ => None,
        };
        let Some(shape) = axes.iter().map(axis).collect() else {
            return problem!("an array of the pickle has a shape that is no list of sizes");
        };
        let header = Header { dtype, fortran_order, shape };
        match header.fits(bytes.len() as u64) {
            Ok(_) => Ok(Value::Array(Stored { header, bytes })),
            Err(text) => problem!("an array of the pickle: {text}"),
        }
    }
}

//! Python objects as JSON text, without a detour over Python's own encoder.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use pyo3::exceptions::{PyUnicodeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple,
    PyType,
};

use crate::errors::{self, Problem};

/// Deepest nesting of a value. A deeper one is most often a cycle.
const MOST_LEVELS: usize = 500;

/// Longest text: values that share parts can be far longer as text than in memory.
/// Far more than any window holds.
const MOST_BYTES: usize = 256 << 20;

/// After how many values the interpreter is asked whether somebody interrupts.
const VALUES_BETWEEN_SIGNALS: u32 = 1 << 16;

/// The text of a request: JSON as it is, or what a value is as JSON.
pub(crate) fn request_text(value: &Bound<'_, PyAny>) -> PyResult<Arc<str>> {
    if let Ok(text) = value.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => within_bounds(value.py(), text.len()).map(|()| text.into()),
            Err(error) => Err(not_unicode(value.py(), "", &error)),
        };
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return utf8(value.py(), bytes.as_bytes());
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        within_bounds(value.py(), bytes.len())?;
        return utf8(value.py(), &bytes.to_vec());
    }
    text_of(value).map(Into::into)
}

fn within_bounds(py: Python<'_>, bytes: usize) -> PyResult<()> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    Err(Problem::new("too-large", too_large()).remedy(LESS).raise(py))
}

/// Remedy for a value that is too large.
const LESS: &str = "give less at a time";

fn too_large() -> String {
    format!("is more than {MOST_BYTES} bytes of JSON")
}

fn utf8(py: Python<'_>, bytes: &[u8]) -> PyResult<Arc<str>> {
    within_bounds(py, bytes.len())?;
    std::str::from_utf8(bytes).map(Into::into).map_err(|error| {
        Problem::new("malformed-request", format!("the text is not UTF-8: {error}"))
            .remedy("give JSON as UTF-8")
            .raise(py)
    })
}

/// A value as JSON text.
pub(crate) fn text_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let (out, kinds) = (String::with_capacity(4_096), HashMap::new());
    let mut writer = Writer { out, kinds, count: 0, is_spaced: false };
    match writer.write(value, 0) {
        Ok(()) => Ok(writer.out),
        Err(fault) => Err(fault.raise(value.py())),
    }
}

struct Writer {
    out: String,
    /// Treatment of objects, by the address of their type: the messages of a list have few.
    kinds: HashMap<usize, Kind>,
    count: u32,
    /// True if commas and colons are followed by a space, as Python's own encoder writes them.
    is_spaced: bool,
}

/// Form in which an object that is none of JSON's own is written.
#[derive(Clone, Copy)]
enum Kind {
    /// A message of LangChain, by its attributes.
    LangChain,
    /// A model of pydantic, by its own encoder.
    Pydantic,
    Enum,
    DataClass,
    /// A moment, as ISO 8601.
    Moment,
    Mapping,
    Unknown,
}

/// Attributes of LangChain's messages that a model may see, or that tell messages apart.
const LANGCHAIN: [&str; 9] = [
    "type",
    "content",
    "id",
    "name",
    "role",
    "tool_call_id",
    "tool_calls",
    "invalid_tool_calls",
    "additional_kwargs",
];

impl Writer {
    fn write(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
        self.count += 1;
        if self.count >= VALUES_BETWEEN_SIGNALS {
            self.count = 0;
            value.py().check_signals()?;
            self.room_for(0)?;
        }
        if let Ok(text) = value.cast::<PyString>() {
            return self.text(text);
        }
        if depth > MOST_LEVELS {
            return Err(Fault::too_deep(value));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            return self.dict(dict, depth);
        }
        if let Ok(list) = value.cast::<PyList>() {
            return self.list(value, list.iter(), depth);
        }
        if value.is_none() {
            self.out.push_str("null");
        } else if let Ok(flag) = value.cast::<PyBool>() {
            self.out.push_str(if flag.is_true() { "true" } else { "false" });
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.integer(number)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number.value())?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.list(value, tuple.iter(), depth);
        } else {
            return self.object(value, depth);
        }
        Ok(())
    }

    fn dict(&mut self, dict: &Bound<'_, PyDict>, depth: usize) -> Result<(), Fault> {
        let mut object = self.open();
        for (key, value) in dict.iter() {
            self.entry(&mut object, &key, &value, depth).map_err(|fault| fault.within(dict))?;
        }
        self.out.push('}');
        Ok(())
    }

    fn list<'py>(
        &mut self,
        whole: &Bound<'py, PyAny>,
        values: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: usize,
    ) -> Result<(), Fault> {
        self.out.push('[');
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.comma();
            }
            let written = self.write(&value, depth + 1);
            written.map_err(|fault| fault.at(Step::Index(at)).within(whole))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn comma(&mut self) {
        self.out.push_str(if self.is_spaced { ", " } else { "," });
    }

    /// Begins an object; the flag tells whether an entry has been written.
    fn open(&mut self) -> bool {
        self.out.push('{');
        false
    }

    fn entry(
        &mut self,
        has_entries: &mut bool,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        depth: usize,
    ) -> Result<(), Fault> {
        if std::mem::replace(has_entries, true) {
            self.comma();
        }
        let at = |fault: Fault| fault.at(Step::of_key(key));
        self.key(key).map_err(at)?;
        self.out.push_str(if self.is_spaced { ": " } else { ":" });
        self.write(value, depth + 1).map_err(at)
    }

    /// Names must be texts; what Python's own encoder makes texts of is accepted.
    fn key(&mut self, key: &Bound<'_, PyAny>) -> Result<(), Fault> {
        if let Ok(text) = key.cast::<PyString>() {
            return self.text(text);
        }
        let is_plain = key.is_none() || key.is_instance_of::<PyInt>();
        if !is_plain {
            let rule = format!("the name of a field must be a text, got {}", described(key));
            return Err(Fault::new("unsupported-type", rule, "give texts as names"));
        }
        self.out.push('"');
        self.write(key, 0)?;
        self.out.push('"');
        Ok(())
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> Result<(), Fault> {
        let text = text.to_str().map_err(|error| Fault::not_unicode(text.py(), &error))?;
        self.room_for(text.len())?;
        escape(text, &mut self.out);
        Ok(())
    }

    /// Returns true if so many more bytes may be written.
    fn room_for(&self, bytes: usize) -> Result<(), Fault> {
        if self.out.len().saturating_add(bytes) <= MOST_BYTES {
            return Ok(());
        }
        Err(Fault::new("too-large", too_large(), LESS))
    }

    fn integer(&mut self, number: &Bound<'_, PyInt>) -> Result<(), Fault> {
        match number.extract::<i64>() {
            Ok(small) => {
                let _ = write!(self.out, "{small}");
            }
            // Numbers have no limit in JSON. A subclass may write itself as it likes, so not `str`.
            Err(_) => match int_repr(number) {
                Ok(text) => self.out.push_str(text.to_str()?),
                // Python itself has a limit, against numbers that take minutes to write.
                Err(error) => {
                    let rule = format!("is a number that Python does not write: {error}");
                    return Err(Fault::new(
                        "too-large",
                        rule,
                        "give it as a text, or a smaller one",
                    ));
                }
            },
        }
        Ok(())
    }

    fn float(&mut self, number: f64) -> Result<(), Fault> {
        if !number.is_finite() {
            let rule = format!("JSON has no number for {number}");
            return Err(Fault::new("not-a-number", rule, "give a finite number, a text or None"));
        }
        // The shortest text that reads back as the same number.
        let text = serde_json::to_string(&number).unwrap_or_default();
        self.out.push_str(&text);
        Ok(())
    }

    fn object(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
        let address = value.get_type_ptr().addr();
        let known = self.kinds.get(&address).copied();
        let kind = known.map_or_else(|| Kind::of(&value.get_type()), Ok)?;
        self.kinds.insert(address, kind);
        self.of_kind(kind, value, depth).map_err(|fault| fault.within(value))
    }

    fn of_kind(&mut self, kind: Kind, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
        let py = value.py();
        match kind {
            Kind::LangChain => self.langchain(value, depth),
            Kind::Pydantic => self.pydantic(value, depth),
            Kind::Enum => self.write(&value.getattr(intern!(py, "value"))?, depth + 1),
            Kind::DataClass => self.data_class(value, depth),
            Kind::Moment => self.write(&value.call_method0(intern!(py, "isoformat"))?, depth + 1),
            Kind::Mapping => {
                // One by one: a mapping that is computed may have no end.
                let entries = value.call_method0(intern!(py, "items"))?;
                let mut object = self.open();
                for entry in entries.try_iter()? {
                    let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry?.extract()?;
                    self.entry(&mut object, &key, &value, depth)?;
                }
                self.out.push('}');
                Ok(())
            }
            Kind::Unknown => {
                let rule = format!("must be what JSON can say, got {}", described(value));
                let remedy = "give dicts, lists, texts, numbers, None, or models of pydantic";
                Err(Fault::new("unsupported-type", rule, remedy))
            }
        }
    }

    fn langchain(&mut self, message: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
        // Fields are looked up where pydantic keeps them: asking for one that a message does not
        // have costs more than all others together.
        let fields = message.getattr(intern!(message.py(), "__dict__"))?;
        let fields = fields.cast_into::<PyDict>().map_err(PyErr::from)?;
        let mut object = self.open();
        for name in LANGCHAIN {
            let Some(value) = fields.get_item(name)? else { continue };
            let is_said = name == "content" || !value.is_none() && value.is_truthy()?;
            if is_said {
                // LangChain sends the arguments of calls as Python's own encoder writes them, and those
                // are the tokens that count.
                self.is_spaced = name == "tool_calls";
                let written = self.named(&mut object, name, &value, depth);
                self.is_spaced = false;
                written.map_err(|fault| fault.at(Step::Name(name)))?;
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn named(
        &mut self,
        has_entries: &mut bool,
        name: &'static str,
        value: &Bound<'_, PyAny>,
        depth: usize,
    ) -> Result<(), Fault> {
        if std::mem::replace(has_entries, true) {
            self.out.push(',');
        }
        escape(name, &mut self.out);
        self.out.push(':');
        self.write(value, depth + 1)
    }

    fn pydantic(&mut self, model: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
        let py = model.py();
        let options = PyDict::new(py);
        options.set_item(intern!(py, "by_alias"), true)?;
        options.set_item(intern!(py, "exclude_none"), true)?;
        let written = model.call_method(intern!(py, "model_dump_json"), (), Some(&options));
        if let Ok(text) = written {
            let text = text.cast::<PyString>().map_err(PyErr::from)?.to_str()?;
            self.room_for(text.len())?;
            self.out.push_str(text);
            return Ok(());
        }
        // Something in it is no JSON: taken apart, so that the error can say where.
        match model.call_method(intern!(py, "model_dump"), (), Some(&options)) {
            Ok(fields) => self.write(&fields, depth + 1),
            Err(error) => Err(Fault::of_model(py, error)),
        }
    }

    fn data_class(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
        let fields = value.getattr(intern!(value.py(), "__dataclass_fields__"))?;
        let mut object = self.open();
        for name in fields.cast::<PyDict>().map_err(PyErr::from)?.keys() {
            let field = value.getattr(name.cast::<PyString>().map_err(PyErr::from)?)?;
            if !field.is_none() {
                self.entry(&mut object, &name, &field, depth)?;
            }
        }
        self.out.push('}');
        Ok(())
    }
}

impl Kind {
    fn of(class: &Bound<'_, PyType>) -> PyResult<Self> {
        let py = class.py();
        let is_message = |base: Bound<'_, PyAny>| {
            let is_named = |attribute: &Bound<'_, PyString>, name: &str| {
                base.getattr(attribute)
                    .is_ok_and(|value| value.extract::<&str>().is_ok_and(|n| n == name))
            };
            is_named(intern!(py, "__name__"), "BaseMessage")
                && is_named(intern!(py, "__module__"), "langchain_core.messages.base")
        };
        let enums = py.import(intern!(py, "enum"))?.getattr(intern!(py, "Enum"))?;
        Ok(if class.mro().iter().any(is_message) {
            Self::LangChain
        } else if class.hasattr(intern!(py, "model_dump_json"))? {
            Self::Pydantic
        } else if class.is_subclass(&enums)? {
            Self::Enum
        } else if class.hasattr(intern!(py, "__dataclass_fields__"))? {
            Self::DataClass
        } else if class.hasattr(intern!(py, "isoformat"))? {
            Self::Moment
        } else if class.is_subclass_of::<PyMapping>()? {
            Self::Mapping
        } else {
            Self::Unknown
        })
    }
}

/// Digits of an integer, whatever a subclass makes of `str`.
fn int_repr<'py>(number: &Bound<'py, PyInt>) -> PyResult<Bound<'py, PyString>> {
    let py = number.py();
    let plain = py.get_type::<PyInt>().call_method1(intern!(py, "__repr__"), (number,))?;
    plain.cast_into::<PyString>().map_err(PyErr::from)
}

/// Writes a text in quotes.
fn escape(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(short);
        if short.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        }
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// A value in an error: its type, and for what is short its value.
fn described(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name().map(|name| name.to_string());
    format!("a value of type `{}`", name.unwrap_or_else(|_| "?".to_owned()))
}

fn not_unicode(py: Python<'_>, path: &str, error: &PyErr) -> PyErr {
    Problem::new("not-unicode", format!("the text cannot be written as UTF-8: {error}"))
        .path(path)
        .remedy("replace lone surrogates, as text.encode('utf-8', 'replace') does")
        .raise(py)
}

/// A step on the way to a value.
enum Step {
    Index(usize),
    Key(String),
    Name(&'static str),
}

impl Step {
    fn of_key(key: &Bound<'_, PyAny>) -> Self {
        Self::Key(key.str().map(|key| key.to_string()).unwrap_or_default())
    }
}

/// Why a value has no text, and the way to it, from the inside out.
struct Fault {
    cause: Cause,
    steps: Vec<Step>,
    /// The addresses of the containers around, if one of them may contain itself.
    around: Vec<usize>,
}

enum Cause {
    Rule {
        code: &'static str,
        rule: String,
        remedy: &'static str,
    },
    TooDeep,
    NotUnicode(PyErr),
    /// Exception that Python code raised while it was asked for its fields.
    Raised(PyErr),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self { cause: Cause::Raised(error), steps: Vec::new(), around: Vec::new() }
    }
}

impl Fault {
    fn new(code: &'static str, rule: String, remedy: &'static str) -> Self {
        let cause = Cause::Rule { code, rule, remedy };
        Self { cause, steps: Vec::new(), around: Vec::new() }
    }

    fn too_deep(value: &Bound<'_, PyAny>) -> Self {
        let address = value.as_ptr().addr();
        Self { cause: Cause::TooDeep, steps: Vec::new(), around: vec![address] }
    }

    /// Error of pydantic about a model that it cannot write.
    fn of_model(py: Python<'_>, error: PyErr) -> Self {
        if !error.is_instance_of::<PyValueError>(py) {
            return error.into();
        }
        let told = error.value(py).to_string();
        if told.contains("Circular reference") {
            return Self::new(
                "cyclic",
                "contains itself".to_owned(),
                "give a value without cycles",
            );
        }
        let rule = format!("cannot be written as JSON: {told}");
        Self::new("unsupported-type", rule, "give a model that `model_dump` can write")
    }

    fn not_unicode(py: Python<'_>, error: &PyErr) -> Self {
        let cause = if error.is_instance_of::<PyUnicodeError>(py) {
            Cause::NotUnicode(error.clone_ref(py))
        } else {
            Cause::Raised(error.clone_ref(py))
        };
        Self { cause, steps: Vec::new(), around: Vec::new() }
    }

    fn at(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Notes a container on the way out, to tell a cycle from mere depth.
    fn within(mut self, container: &Bound<'_, PyAny>) -> Self {
        if matches!(self.cause, Cause::TooDeep) {
            self.around.push(container.as_ptr().addr());
        }
        self
    }

    fn raise(mut self, py: Python<'_>) -> PyErr {
        self.steps.reverse();
        match self.cause {
            Cause::Raised(error) => error,
            Cause::NotUnicode(ref error) => not_unicode(py, &path(&self.steps), error),
            Cause::Rule { code, rule, remedy } => {
                Problem::new(code, rule).path(&path(&self.steps)).remedy(remedy).raise(py)
            }
            Cause::TooDeep => {
                self.around.reverse();
                let Some(levels) = first_repeated(&self.around) else {
                    let rule = format!("is nested deeper than {MOST_LEVELS} levels");
                    return Problem::new("too-deep", rule).remedy("give a flatter value").raise(py);
                };
                let steps = &self.steps[..levels.min(self.steps.len())];
                Problem::new("cyclic", "contains itself".to_owned())
                    .path(&path(steps))
                    .remedy("give a value without cycles")
                    .raise(py)
            }
        }
    }
}

/// Number of levels down a container stands that also stands above.
fn first_repeated(around: &[usize]) -> Option<usize> {
    (1..around.len()).find(|at| around[..*at].contains(&around[*at]))
}

fn path(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Index(at) => {
                let _ = write!(path, "[{at}]");
            }
            Step::Key(name) => errors::push_name(&mut path, name),
            Step::Name(name) => errors::push_name(&mut path, name),
        }
    }
    path
}

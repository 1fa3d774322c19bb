//! Values of no fixed type.

/// A value whose meaning only its giver knows: a field of an
/// [unknown reason](crate::ExclusionReason::Unknown), or an option of a strategy that is not built in.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number beyond [`i64::MAX`].
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<FieldValue>),
    /// Named values, in their order.
    Map(Vec<(String, FieldValue)>),
}

impl From<bool> for FieldValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for FieldValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for FieldValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for FieldValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<T: Into<Self>> From<Vec<T>> for FieldValue {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

//! Results as text: tables, bars, curves, and the forms that programs read.

pub(crate) mod bar;
pub(crate) mod csv;
pub(crate) mod curve;
pub(crate) mod json;
pub(crate) mod number;
pub(crate) mod plot;
pub(crate) mod svg;
pub(crate) mod table;
pub(crate) mod text;

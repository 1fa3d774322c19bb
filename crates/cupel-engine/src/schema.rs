//! The version of everything that the engine answers.

/// The name of the form that answers have as JSON, now `cupel/1`.
///
/// Every answer begins with it. Fields may be added under the same name; what a field means, or that
/// it is there, changes only with the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Schema;

/// Makes a type that is written as one name and read from no other.
macro_rules! named_form {
    ($form:ident, $name:literal) => {
        impl $form {
            /// The name itself.
            pub const NAME: &'static str = $name;
        }

        impl std::fmt::Display for $form {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(Self::NAME)
            }
        }

        impl serde::Serialize for $form {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(Self::NAME)
            }
        }

        impl<'de> serde::Deserialize<'de> for $form {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                if name == Self::NAME {
                    return Ok(Self);
                }
                let known = Self::NAME;
                Err(serde::de::Error::custom(format!(
                    "schema `{name}` is not known; this version reads `{known}`"
                )))
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $form {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($form).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "const": Self::NAME })
            }
        }
    };
}

pub(crate) use named_form;

named_form!(Schema, "cupel/1");

/// The JSON Schema of every answer, by the name of its type.
#[cfg(feature = "schema")]
pub fn json_schemas() -> Vec<(&'static str, serde_json::Value)> {
    macro_rules! schemas {
        ($($answer:ident),* $(,)?) => {
            vec![$((stringify!($answer), schema_of::<crate::$answer>())),*]
        };
    }
    let mut all = schemas![
        Comparison,
        Count,
        Curve,
        EngineError,
        Explanation,
        FittedText,
        Marginal,
        MinBudget,
        ModelList,
        PolicyList,
        Repaired,
        Selection,
        SessionState,
        Step,
        Survey,
        ToolList,
        Validation,
        Windows,
    ];
    all.push(("SelectionReport", crate::report_schema::selection_report()));
    all
}

#[cfg(feature = "schema")]
fn schema_of<T: schemars::JsonSchema>() -> serde_json::Value {
    // Answers are written, not read: fields that are always written are required.
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused() {
        assert_eq!(serde_json::from_str::<Schema>("\"cupel/1\"").unwrap(), Schema);
        let error = serde_json::from_str::<Schema>("\"cupel/2\"").unwrap_err().to_string();
        assert!(error.starts_with("schema `cupel/2` is not known; this version reads"), "{error}");
    }
}

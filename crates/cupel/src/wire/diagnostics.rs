//! Reports, reasons and events.

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

use super::float::Number;
use super::{Fields, Problem, Read, Value, deserialize};
use crate::ContextItem;
use crate::diagnostics::{
    CountRequirementShortfall, DiagnosticTraceCollector, ExcludedItem, ExclusionReason,
    IncludedItem, InclusionReason, OverflowEvent, PipelineStage, ReportDraft, SelectionReport,
    TraceDetailLevel, TraceEvent,
};

deserialize!(
    CountRequirementShortfall,
    DiagnosticTraceCollector,
    ExcludedItem,
    ExclusionReason,
    IncludedItem,
    InclusionReason,
    OverflowEvent,
    PipelineStage,
    SelectionReport,
    TraceEvent,
);

impl Serialize for PipelineStage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Read for PipelineStage {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        String::read(value).map(|name| Self::from_name(&name))
    }
}

impl Serialize for TraceEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stage = self.unknown_stage.as_deref().unwrap_or(self.stage.name());
        let len = 3 + usize::from(self.message.is_some());
        let mut fields = serializer.serialize_struct("TraceEvent", len)?;
        fields.serialize_field("stage", stage)?;
        fields.serialize_field("duration_ms", &Number(self.duration_ms))?;
        fields.serialize_field("item_count", &self.item_count)?;
        match &self.message {
            Some(message) => fields.serialize_field("message", message)?,
            None => fields.skip_field("message")?,
        }
        fields.end()
    }
}

impl Read for TraceEvent {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let name: String = fields.required("stage")?;
        let stage = PipelineStage::from_name(&name);
        Ok(Self {
            stage,
            duration_ms: fields.required("duration_ms")?,
            item_count: fields.required("item_count")?,
            message: fields.optional("message")?,
            unknown_stage: (name != stage.name()).then_some(name),
        })
    }
}

impl Serialize for ExclusionReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("reason", self.name())?;
        self.write_fields(&mut map)?;
        map.end()
    }
}

impl Read for ExclusionReason {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let name: String = fields.required("reason")?;
        Self::read_fields(name, fields)
    }
}

impl Serialize for InclusionReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("reason", self.name())?;
        map.end()
    }
}

impl Read for InclusionReason {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let name: String = Fields::of(value)?.required("reason")?;
        Self::ALL.iter().copied().find(|reason| reason.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|reason| reason.name()).collect();
            let text = format!("must be one of {}, got \"{name}\"", known.join(", "));
            Problem::new(text).in_field("reason")
        })
    }
}

/// An item with its score and the reason for its fate.
fn read_fate<R: Read>(value: Value<'_>) -> Result<(ContextItem, f64, R), Problem> {
    let mut fields = Fields::of(value)?;
    Ok((fields.required("item")?, fields.required("score")?, fields.required("reason")?))
}

impl Read for IncludedItem {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        read_fate(value).map(|(item, score, reason)| Self::new(item, score, reason))
    }
}

impl Read for ExcludedItem {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        read_fate(value).map(|(item, score, reason)| Self::new(item, score, reason))
    }
}

impl Read for CountRequirementShortfall {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            kind: fields.required("kind")?,
            required_count: fields.required("required_count")?,
            satisfied_count: fields.required("satisfied_count")?,
        })
    }
}

impl Read for OverflowEvent {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            tokens_over_budget: fields.required("tokens_over_budget")?,
            overflowing_items: fields.required("overflowing_items")?,
            budget: fields.required("budget")?,
        })
    }
}

fn read_report(fields: &mut Fields<'_>) -> Result<SelectionReport, Problem> {
    Ok(SelectionReport {
        events: fields.required("events")?,
        included: fields.required("included")?,
        excluded: fields.required("excluded")?,
        total_candidates: fields.required("total_candidates")?,
        total_tokens_considered: fields.required("total_tokens_considered")?,
        count_requirement_shortfalls: fields.or_default("count_requirement_shortfalls")?,
        overflow: fields.optional("overflow")?,
    })
}

impl Read for SelectionReport {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let report = read_report(&mut Fields::of(value)?)?;
        let (included, excluded) = (report.included.len(), report.excluded.len());
        if report.total_candidates != included + excluded {
            return Err(Problem::new(format!(
                "total_candidates {} does not equal included.len() {included} + excluded.len() \
                 {excluded}",
                report.total_candidates
            )));
        }
        Ok(report)
    }
}

impl Serialize for DiagnosticTraceCollector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.draft.so_far();
        let mut fields = serializer.serialize_struct("DiagnosticTraceCollector", 8)?;
        fields.serialize_field("events", &report.events)?;
        fields.serialize_field("included", &report.included)?;
        fields.serialize_field("excluded", &report.excluded)?;
        fields.serialize_field("total_candidates", &report.total_candidates)?;
        fields.serialize_field("total_tokens_considered", &report.total_tokens_considered)?;
        fields.serialize_field("detail_level", &self.detail_level)?;
        let shortfalls = &report.count_requirement_shortfalls;
        fields.serialize_field("count_requirement_shortfalls", shortfalls)?;
        match &report.overflow {
            Some(overflow) => fields.serialize_field("overflow", overflow)?,
            None => fields.skip_field("overflow")?,
        }
        fields.end()
    }
}

impl Read for TraceDetailLevel {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        match String::read(value)?.as_str() {
            "Stage" => Ok(Self::Stage),
            "Item" => Ok(Self::Item),
            other => Err(Problem::new(format!("must be one of Stage, Item, got \"{other}\""))),
        }
    }
}

impl Read for DiagnosticTraceCollector {
    fn read(value: Value<'_>) -> Result<Self, Problem> {
        let mut fields = Fields::of(value)?;
        let draft = ReportDraft::resume(read_report(&mut fields)?);
        Ok(Self::resume(draft, fields.required("detail_level")?))
    }
}

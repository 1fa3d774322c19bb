//! The run of an agent: a request that grows step by step.

use std::collections::HashMap;

use serde_json::Value;

use super::message::{AgentMessage, Pairing};
use crate::error::{DataError, Problem};
use crate::record::{Record, each, index, text};

/// The set in which the task after the system message is part of the head unless a run says
/// otherwise, so that the public data of that name is measured as it is usually reported.
const SET_WITH_TASK: &str = "swe";

/// The run of an agent: a request that grows step by step.
#[derive(Debug, Clone)]
pub struct AgentRun {
    name: String,
    set: String,
    head: usize,
    messages: Vec<AgentMessage>,
    steps: Vec<AgentStep>,
}

/// A call that the agent made: what it sent, and what it needed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStep {
    at: usize,
    values: Vec<String>,
    evidence: Vec<usize>,
}

impl AgentStep {
    /// Number of messages the request had.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The values that the next call used, and that stood in the request.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The messages that were needed, by index; they count where there are no values.
    pub fn evidence(&self) -> &[usize] {
        &self.evidence
    }

    fn read(value: Value) -> Result<Self, Problem> {
        let mut fields = Record::of(value, &["at", "values", "evidence"])?;
        Ok(Self {
            at: fields.required("at", index)?,
            values: fields.optional("values", each(text))?.unwrap_or_default(),
            evidence: fields.optional("evidence", each(index))?.unwrap_or_default(),
        })
    }
}

impl AgentRun {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The set that it is of.
    pub fn set(&self) -> &str {
        &self.set
    }

    /// Number of messages at the beginning that are free of charge: a budget is tokens beyond them.
    pub fn head(&self) -> usize {
        self.head
    }

    /// All messages.
    pub fn messages(&self) -> &[AgentMessage] {
        &self.messages
    }

    /// Its steps, rising.
    pub fn steps(&self) -> &[AgentStep] {
        &self.steps
    }

    /// Reads one run: a line of a file. Errors call it by the name and the line.
    ///
    /// # Errors
    ///
    /// If it is not JSON, or breaks a rule of the format.
    pub fn parse(name: &str, line: usize, text: &str) -> Result<Self, DataError> {
        let value = serde_json::from_str(text);
        let value = value.map_err(|error| DataError::not_json(name, line, &error))?;
        Self::read(value).map_err(|problem| DataError::in_line(name, line, problem))
    }

    /// The request of a step, as JSON.
    pub fn request(&self, step: &AgentStep) -> String {
        let messages: Vec<String> =
            self.messages[..step.at].iter().map(|message| message.json().to_string()).collect();
        format!("{{\"messages\":[{}]}}", messages.join(","))
    }

    /// The first message of each JSON.
    pub(super) fn by_json(&self) -> HashMap<String, usize> {
        let messages = self.messages.iter().enumerate().rev();
        messages.map(|(at, message)| (message.json().to_string(), at)).collect()
    }

    pub(super) fn read(value: Value) -> Result<Self, Problem> {
        let mut fields = Record::of(value, &["run", "set", "head", "messages", "steps"])?;
        let set = fields.required("set", text)?;
        let usual_head = if set == SET_WITH_TASK { 2 } else { 1 };
        let run = Self {
            name: fields.required("run", text)?,
            head: fields.optional("head", index)?.unwrap_or(usual_head),
            messages: fields.required("messages", each(AgentMessage::read))?,
            steps: fields.required("steps", each(AgentStep::read))?,
            set,
        };
        run.check()?;
        Ok(run)
    }

    fn check(&self) -> Result<(), Problem> {
        let mut pairing = Pairing::default();
        let mut before = 0;
        for (nth, step) in self.steps.iter().enumerate() {
            let wrong = |rule| Problem::at(format!("steps[{nth}].at"), rule);
            if step.at > self.messages.len() {
                let rule = format!("there are {} messages, got {}", self.messages.len(), step.at);
                return Err(wrong(rule));
            }
            if step.at <= before || step.at < self.head {
                let least = self.head.max(before + 1);
                let rule = format!(
                    "must rise from step to step, and hold the head: at least {least}, got {}",
                    step.at
                );
                return Err(wrong(rule));
            }
            for message in &self.messages[before..step.at] {
                pairing.add(message);
            }
            if !pairing.is_valid() {
                let rule = format!(
                    "the first {} messages are no valid request: every call needs its results, \
                     and every result follows its call",
                    step.at
                );
                return Err(wrong(rule));
            }
            if let Some(index) = step.evidence.iter().find(|index| **index >= step.at) {
                let rule = format!("message {index} is not in the request, which has {}", step.at);
                return Err(Problem::at(format!("steps[{nth}].evidence"), rule));
            }
            before = step.at;
        }
        Ok(())
    }
}

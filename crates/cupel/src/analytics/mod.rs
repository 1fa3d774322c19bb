//! Figures about a report, and comparisons of policies.

mod policy_sensitivity;
mod utilization;

pub use policy_sensitivity::{
    ItemStatus, PolicySensitivityDiffEntry, PolicySensitivityReport, policy_sensitivity,
    policy_sensitivity_from_pipelines,
};
pub use utilization::{
    KindQuotaUtilization, budget_utilization, kind_diversity, quota_utilization, timestamp_coverage,
};

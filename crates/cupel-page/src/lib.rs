#![doc = include_str!("../README.md")]

mod assets;
mod bundle;
mod document;
mod hash;
mod options;
mod part;
mod row;
mod step;
mod view;
mod windows;

pub use assets::{Asset, assets};
pub use document::{CONTENT_SECURITY_POLICY, index, page, single_file};
pub use options::{Texts, ViewOptions};
pub use part::{ViewForm, ViewPart};
pub use row::{Row, RowCaller, RowStatus, Rows};
pub use step::{RunPoint, SentAgainView, StepView};
pub use view::{Opening, OpeningReason, View, ViewSchema};
pub use windows::{BesideView, Entry, WindowTable};

//! Work that runs on a thread of Node's pool, so that the event loop goes on.

use cupel_engine::EngineError;
use napi::{Env, Error, Result, Task};

use crate::errors;

type Job<T> = Box<dyn FnOnce() -> std::result::Result<T, EngineError> + Send>;

/// A job, and the value of JavaScript that its result becomes.
pub struct Work<T, J> {
    job: Option<Job<T>>,
    finish: fn(T) -> J,
}

impl<T, J> Work<T, J> {
    pub(crate) fn new(
        job: impl FnOnce() -> std::result::Result<T, EngineError> + Send + 'static,
        finish: fn(T) -> J,
    ) -> Self {
        Self { job: Some(Box::new(job)), finish }
    }
}

impl<T, J> Task for Work<T, J>
where
    T: Send + 'static,
    J: napi::bindgen_prelude::ToNapiValue + napi::bindgen_prelude::TypeName + 'static,
{
    type Output = T;
    type JsValue = J;

    fn compute(&mut self) -> Result<T> {
        // A task is computed once; a second time would be an error of Node's.
        let job = self.job.take().ok_or_else(|| Error::from_reason("the work is done"))?;
        job().map_err(|error| errors::of_engine(&error))
    }

    fn resolve(&mut self, _env: Env, output: T) -> Result<J> {
        Ok((self.finish)(output))
    }
}

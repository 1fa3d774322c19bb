//! The server as the protocol sees it: what it is, and its tools.

use std::fmt;
use std::sync::Arc;

use cupel_engine::EngineBuilder;
use cupel_names::UnknownName;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Semaphore;

use crate::remembered::Remembered;
use crate::tool::{self, TOOLS};
use crate::{Originals, Roots};

/// How a server is set.
#[derive(Clone)]
pub struct Settings {
    /// The files that tools may read.
    pub roots: Roots,
    /// The whole texts that hooks kept.
    pub originals: Option<Originals>,
    /// An engine as the user set it; calls change it.
    pub engine: EngineBuilder,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("roots", &self.roots)
            .field("originals", &self.originals)
            .finish_non_exhaustive()
    }
}

/// What all calls share.
pub(crate) struct Shared {
    pub(crate) roots: Roots,
    pub(crate) originals: Option<Originals>,
    pub(crate) engine: EngineBuilder,
    pub(crate) remembered: Remembered,
    /// As many calls compute at once as there are processors; others wait.
    turns: Semaphore,
}

/// One server, for all its clients.
#[derive(Clone)]
pub(crate) struct Server(Arc<Shared>);

impl Server {
    pub(crate) fn new(settings: Settings) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Shared {
            roots: settings.roots,
            originals: settings.originals,
            engine: settings.engine,
            remembered: Remembered::default(),
            turns: Semaphore::new(processors),
        }))
    }
}

const INSTRUCTIONS: &str = "Cupel decides what goes into a context window. Where a text ends with a handle like \
    cupel:88ce4f35a3c88b8c, it was shortened: retrieve gives the whole back. explain_context says what of a request or a transcript is in \
    a window and why, count counts tokens, fit makes a request or a text fit.";

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("cupel", env!("CARGO_PKG_VERSION")).with_title("Cupel"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(|tool| tool.listed()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|tool| tool.name == name).map(|tool| tool.listed())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            let names = TOOLS.iter().map(|tool| tool.name);
            return Err(ErrorData::invalid_params(
                UnknownName::new("tool", &request.name, names).to_string(),
                None,
            ));
        };
        let shared = Arc::clone(&self.0);
        let closed = |error: &dyn fmt::Display| ErrorData::internal_error(error.to_string(), None);
        let _turn = self.0.turns.acquire().await.map_err(|error| closed(&error))?;
        let given = request.arguments.unwrap_or_default();
        let answer = tokio::task::spawn_blocking(move || (tool.run)(&shared, given)).await;
        Ok(tool::result(answer.map_err(|error| closed(&error))?).into())
    }
}

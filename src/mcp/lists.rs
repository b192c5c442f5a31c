//! The lists of an open server, page by page.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    canon,
    descriptor::{Kind, Listed, MAX_CAPTURE_BYTES, MAX_DESCRIPTORS},
};

use super::{
    Fault, Protocol, Run, Seen,
    message::Request,
    session::{Link, Opened, complete, malformed, read},
};

/// Every page holds something in practice, so no list of [`MAX_DESCRIPTORS`] needs more; empty pages can't go on for ever.
const MAX_PAGES: usize = MAX_DESCRIPTORS;
/// Bytes of all items together. What a capture and a release say besides has to fit beside them.
const MAX_LISTED: usize = MAX_CAPTURE_BYTES - (64 << 10);
/// How often lists that change while they are read are walked.
const MAX_WALKS: usize = 3;

/// What was gathered so far; kept when a fault ends the capture.
#[derive(Default)]
pub(super) struct Harvest {
    pub(super) version: Option<Protocol>,
    pub(super) server_info: Option<Vec<u8>>,
    pub(super) listed: Vec<Listed>,
    bytes: usize,
}

impl Link {
    /// Walks every list that the server says it has, again from the start when it says that one changed meanwhile.
    pub(super) async fn walk(&mut self, run: &mut Run<'_>, opened: Opened, harvest: &mut Harvest) -> Result<(), Fault> {
        harvest.version = Some(opened.version);
        // Display data: what the strict parser refuses isn't worth keeping, and isn't worth failing for.
        let info = opened.server_info.map(|info| info.get().as_bytes().to_vec());
        harvest.server_info = info.filter(|info| canon::parse(info).is_ok());
        let offers = &opened.offers;
        let lists = [
            (Kind::Tool, "tools/list", &offers.tools),
            (Kind::Prompt, "prompts/list", &offers.prompts),
            (Kind::Resource, "resources/list", &offers.resources),
            (Kind::ResourceTemplate, "resources/templates/list", &offers.resources),
        ];
        for walk in 1.. {
            run.changed = false;
            harvest.clear();
            for (kind, method, offered) in lists {
                if offered.is_some() {
                    self.list(run, kind, method, opened.version, harvest).await?;
                }
            }
            if let Some(instructions) = &opened.instructions {
                harvest.add(Kind::Instructions, instructions)?;
            }
            if !run.changed {
                break;
            }
            if walk == MAX_WALKS {
                return Err(Fault::Changing(MAX_WALKS));
            }
            (run.watch)(Seen::Again);
        }
        Ok(())
    }

    async fn list(
        &mut self,
        run: &mut Run<'_>,
        kind: Kind,
        method: &'static str,
        version: Protocol,
        harvest: &mut Harvest,
    ) -> Result<(), Fault> {
        let mut cursor: Option<String> = None;
        let mut seen = BTreeSet::new();
        for _ in 0..MAX_PAGES {
            let result = match self.call(run, Request::list(method, version, cursor.as_deref())).await? {
                Ok(result) => result,
                // One capability stands for both lists of resources, and many servers that declare it have only one of
                // them. That a method isn't there is a whole answer, not a failed one.
                Err(error) if cursor.is_none() && is_of_resources(kind) && error.is_method_not_found() => return Ok(()),
                Err(error) => return Err(error.fault(method)),
            };
            let page: Page<'_> = read(method, &result)?;
            complete(method, page.result_type)?;
            let items = match kind {
                Kind::Tool => page.tools,
                Kind::Prompt => page.prompts,
                Kind::Resource => page.resources,
                Kind::ResourceTemplate => page.resource_templates,
                Kind::Instructions => None,
            };
            let items = items.ok_or_else(|| malformed(method, "it has no list"))?;
            (run.watch)(Seen::Page { kind, count: items.len() });
            for item in items {
                harvest.add(kind, item)?;
            }
            let Some(next) = page.next_cursor else { return Ok(()) };
            if !seen.insert(next.clone()) {
                return Err(Fault::CursorLoop(kind));
            }
            cursor = Some(next);
        }
        Err(Fault::Pages { kind, limit: MAX_PAGES })
    }
}

impl Harvest {
    fn clear(&mut self) {
        self.listed.clear();
        self.bytes = 0;
    }

    fn add(&mut self, kind: Kind, raw: &RawValue) -> Result<(), Fault> {
        let raw = raw.get().as_bytes();
        // The comma between two items counts, too.
        self.bytes += raw.len() + 1;
        if self.listed.len() == MAX_DESCRIPTORS {
            return Err(Fault::TooMany(MAX_DESCRIPTORS));
        }
        if self.bytes > MAX_LISTED {
            return Err(Fault::TooLarge(MAX_LISTED));
        }
        self.listed.push(Listed::new(kind, raw));
        Ok(())
    }
}

/// A page of any list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow, default)]
    tools: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    prompts: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    resources: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    resource_templates: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    next_cursor: Option<String>,
    #[serde(default)]
    result_type: Option<String>,
}

const fn is_of_resources(kind: Kind) -> bool {
    matches!(kind, Kind::Resource | Kind::ResourceTemplate)
}

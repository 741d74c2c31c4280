import type { JsonObject } from "../dialects/core/types.ts";
import { readCallTags } from "../relay/tags/read-tags.ts";
import type { CallTags } from "../relay/request/request.ts";
import type { BatchCall, BatchDeps } from "./types.ts";

/**
 * Returns what a batch is for: all its items have the tags of the call that creates it, and those of its own members.
 */
export function readBatchTags(
  { request, caller }: BatchCall,
  members: JsonObject,
  { snapshots }: Pick<BatchDeps, "snapshots">,
): CallTags | undefined {
  return readCallTags({ headers: request.headers, body: members, caller, settings: snapshots.current().tags });
}

import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { JsonObject } from "../../lib/text/json.ts";
import type { TagSettings } from "../../snapshot/tag-policy.ts";

/** Where the tags and the end user of a call are. */
export interface TagSource {
  readonly headers: IncomingHttpHeaders;
  /** The body as parsed for its model; it is read only. */
  readonly body: JsonObject;
  readonly caller: Pick<Caller, "tags" | "tagLimits">;
  readonly settings: TagSettings | undefined;
}

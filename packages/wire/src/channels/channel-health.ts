import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

/** An upstream key that is skipped, or nearly so, as the replica that answers sees it. */
export const ChannelHealth = z.object({
  channel_id: z.int(),
  /** Index of the key in the channel's key text, from 0. */
  key_index: z.int(),
  /**
   * `open` = failing, skipped; `half-open` = one call may try it; `failing` = still used; `resting` = after a 429;
   * `doubtful-usage` = used, but within the last hour it reported more usage than its responses can have cost;
   * `chat-only` = its server has no Responses API, so its clients are served over chat until it is tried again.
   */
  state: z.enum(["open", "half-open", "failing", "resting", "doubtful-usage", "chat-only"]),
  /** The model that is resting; "" = all models of the key. */
  model: z.string(),
  /** Milliseconds until the key is used again; 0 = now. */
  wait_ms: z.int(),
  /** For `doubtful-usage`: the number of responses. */
  consecutive_failures: z.int(),
});
export type ChannelHealth = z.output<typeof ChannelHealth>;

export const channelHealth = endpoint({
  name: "channelHealth",
  method: "GET",
  path: "/api/channel/health",
  access: "admin",
  summary: "Upstream keys that are not simply fine, by channel; the others work.",
  data: z.array(ChannelHealth),
});

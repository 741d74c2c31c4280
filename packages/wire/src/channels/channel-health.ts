import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

/** An upstream key that is skipped, or near to it, as the answering replica sees it. */
export const ChannelHealth = z.object({
  channel_id: z.int(),
  /** Place of the key in the channel's key text, from 0. */
  key_index: z.int(),
  /**
   * `open` = failing, skipped; `half-open` = one call may try it; `failing` = still used; `resting` = after a 429;
   * `doubtful-usage` = used, but it reported more usage than its answers can have cost, within the last hour;
   * `chat-only` = its server has no Responses API, whose clients are served over chat until it is tried again.
   */
  state: z.enum(["open", "half-open", "failing", "resting", "doubtful-usage", "chat-only"]),
  /** The model that rests; "" = all of the key's models. */
  model: z.string(),
  /** Milliseconds until it is used again; 0 = now. */
  wait_ms: z.int(),
  /** For `doubtful-usage`: the number of answers. */
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

import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryText } from "../core/envelope.ts";
import { textUpTo } from "../core/characters.ts";

/** A name that the host of a channel refused, so that calls are sent to it without this name. */
export const LearnedFilter = z.object({
  /** The service behind the channel, such as `bedrock-invoke`. */
  host: z.string(),
  /** The model under the host's name. */
  model: z.string(),
  /** `anthropic-beta:NAME`, the path of a member of the body, or `tools:TYPE`. */
  name: z.string(),
  /** Epoch seconds. */
  since: z.int(),
  /** Epoch seconds from which the name is sent again. */
  until: z.int(),
});
export type LearnedFilter = z.output<typeof LearnedFilter>;

export const channelFilters = endpoint({
  name: "channelFilters",
  method: "GET",
  path: "/api/channel/{id}/filters",
  access: "admin",
  summary:
    "Names that the host of a channel refused within the last 24 hours, and that its calls are sent without. Each replica learns on its own: these are those of the one that answers.",
  params: idParams,
  data: z.array(LearnedFilter),
  fails: ["channel_not_found"],
});

export const channelFiltersForget = endpoint({
  name: "channelFiltersForget",
  method: "DELETE",
  path: "/api/channel/{id}/filters",
  access: "admin",
  summary:
    "Forgets names that the host of a channel refused, on the replica that answers; only those of `model` and `name` where they are given. The answer is their number.",
  params: idParams,
  query: z.object({ model: queryText, name: queryText }),
  data: z.int(),
  fails: ["channel_not_found"],
});

export const BetaAnswer = z.object({
  name: z.string(),
  /** `refused` = the host refuses the beta; `failed` = nothing is known, and `message` says why. */
  answer: z.enum(["taken", "refused", "failed"]),
  /** Message of the host, masked; "" if it accepted the beta. */
  message: z.string(),
  /** The name that is sent in calls of clients: the host's own name if it has one, "" if the beta is left out. */
  sent_as: z.string(),
});
export type BetaAnswer = z.output<typeof BetaAnswer>;

export const channelBetas = endpoint({
  name: "channelBetas",
  method: "POST",
  path: "/api/channel/{id}/betas",
  access: "admin",
  summary:
    "Asks the host of a channel for each known beta flag with a small request, and shows which ones it takes and which ones calls of clients are sent with. It sends about 40 requests; the log has a row of the first.",
  params: idParams,
  body: z.strictObject({
    /** Model to use instead of the channel's test model. */
    model: z.optional(textUpTo(191)),
  }),
  data: z.object({
    /** False if the host does not answer a request without any beta; then none is tested. */
    ok: z.boolean(),
    message: z.string(),
    host: z.string(),
    model: z.string(),
    betas: z.array(BetaAnswer),
  }),
  fails: ["invalid_field", "channel_not_found", "channel_without_betas", "key_server_changed"],
});

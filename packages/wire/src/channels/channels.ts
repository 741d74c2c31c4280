import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { CHANNEL_FIELDS } from "./channel-fields.ts";
import { sentChannelFields, shownChannelFields } from "./channel-shapes.ts";
import { CHANNEL_STATUS } from "../core/constants.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryFlag, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";
import { queryInts, queryTexts } from "../core/lists.ts";

/** A channel as every call returns it: the key is never sent, so `key` is always "". */
export const Channel = z.object({
  id: z.int(),
  ...shownChannelFields,
  key: z.literal(""),
  created_time: z.int(),
  test_time: z.int(),
  /** Milliseconds of the last test; 0 = never tested. */
  response_time: z.int(),
  /** Problem found by the last test, masked; "" = it passed, or there was none. */
  test_error: z.optional(z.string()),
  /** US dollars, as reported by the provider. */
  balance: z.number(),
  balance_updated_time: z.int(),
  used_quota: z.int(),
  /**
   * "" or JSON text `{"status_reason","status_time"}`, with `"with_last_key":true` while the channel is disabled
   * because no key is left, and with `"status_until"` in epoch seconds while it is disabled for a time.
   */
  other_info: z.string(),
  /** Increases with every write; send it back as `If-Match` to refuse an edit of a stale form. */
  version: z.int(),
  /**
   * Number of upstream keys, and the last four characters of a long single key: distinguishes keys without showing
   * them.
   */
  key_count: z.optional(z.int()),
  key_hint: z.optional(z.string()),
});
export type Channel = z.output<typeof Channel>;

const longText = textUpTo(512 * 1024);

/** Fields that a form may send. */
export const channelFields = {
  ...sentChannelFields,
  /** One channel per line on creation, unless `multi_key` stores the lines together as keys of one channel. */
  key: z.optional(longText),
  /** `group` as a list, as consoles of compatible gateways send it; `group` takes precedence. */
  groups: z.optional(z.array(z.string())),
};

export const ChannelInput = z.strictObject(channelFields);
export type ChannelInput = z.output<typeof ChannelInput>;

/** Maximum number of channels in one bulk call. */
export const CHANNEL_BULK_CAP = 1000;

const ids = z.optional(z.array(z.int()));

const STATUS_WORDS: ReadonlyMap<string, readonly number[]> = new Map([
  ["enabled", [CHANNEL_STATUS.enabled]],
  ["disabled", [CHANNEL_STATUS.disabledByHand, CHANNEL_STATUS.disabledBySystem]],
]);

/** Numbers, or the words that later compatible consoles send. */
const queryStatus = z.pipe(
  queryTexts,
  z.transform((parts: string[]): number[] =>
    parts.flatMap((part) => STATUS_WORDS.get(part) ?? Number(part)).filter(Number.isSafeInteger),
  ),
);

/** Members that narrow a list; empty members do not filter. */
export const channelFilter = {
  keyword: queryText,
  group: queryText,
  model: queryText,
  /** Comma-separated, like `type`. */
  status: queryStatus,
  type: queryInts,
  tag: queryText,
};

const listQuery = z.object({ ...pageFields, ...channelFilter, id_sort: queryFlag, tag_mode: queryFlag });

export const channelList = endpoint({
  name: "channelList",
  method: "GET",
  path: "/api/channel/",
  access: "admin",
  summary: "Lists channels, best priority first.",
  query: listQuery,
  data: z.array(Channel),
});

export const channelSearch = endpoint({
  name: "channelSearch",
  method: "GET",
  path: "/api/channel/search",
  access: "admin",
  summary: "Finds channels by id, name, exact key, model text and group; paged only when asked for.",
  query: listQuery,
  data: z.array(Channel),
});

export const channelGet = endpoint({
  name: "channelGet",
  method: "GET",
  path: "/api/channel/{id}",
  access: "admin",
  summary: "Reads one channel.",
  params: idParams,
  data: Channel,
  fails: ["channel_not_found"],
});

export const channelCreate = endpoint({
  name: "channelCreate",
  method: "POST",
  path: "/api/channel/",
  access: "admin",
  summary: "Creates one channel per line of the key; a disabled one (status 2) may wait for its key.",
  body: z.strictObject({
    ...channelFields,
    /** Id of the row that a console copied. */
    id: z.optional(z.unknown()),
    /** Id of the channel whose key is used if `key` is blank. */
    copy_from: z.optional(z.int()),
    multi_key: z.optional(z.boolean()),
    /** The form, wrapped as later compatible consoles send it. */
    channel: z.optional(ChannelInput),
    /** For `channel`: `multi_to_single` stores the lines of the key together, `single` and `batch` do not. */
    mode: z.optional(z.string()),
    /** For `channel`: the order in which its keys are used, `random` or `polling`. */
    multi_key_mode: z.optional(z.string()),
  }),
  fails: [
    "invalid_field",
    "channel_name_or_key_missing",
    "channel_models_missing",
    "model_mapping_invalid",
    "status_mapping_invalid",
    "region_missing",
    "region_default_missing",
    "model_name_too_long",
    "channel_not_found",
    "channel_type_unknown",
    "status_not_settable",
    "key_server_changed",
    "model_mapping_circular",
  ],
});

export const channelUpdate = endpoint({
  name: "channelUpdate",
  method: "PUT",
  path: "/api/channel/",
  access: "admin",
  summary: "Changes the fields that are present; a blank key stays as it was.",
  body: z.strictObject({
    ...channelFields,
    id: z.optional(z.int()),
    /**
     * `append` adds the lines of `key` to the channel's keys; `replace`, "" or an absent member replaces the keys with
     * them.
     */
    key_mode: z.optional(z.string()),
    /**
     * With status 2: seconds after which the channel is enabled again; 0 = it stays disabled, as after a call that
     * sends only the status. At most 30 days.
     */
    disable_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(30 * 86_400))),
    /** With status 2: the reason. */
    status_reason: z.optional(textUpTo(500)),
  }),
  data: Channel,
  fails: [
    "invalid_parameter",
    "invalid_field",
    "channel_models_missing",
    "model_mapping_invalid",
    "status_mapping_invalid",
    "region_missing",
    "region_default_missing",
    "model_name_too_long",
    "channel_not_found",
    "channel_type_unknown",
    "status_not_settable",
    "channel_changed",
    "key_server_changed",
    "model_mapping_circular",
  ],
});

export const channelDelete = endpoint({
  name: "channelDelete",
  method: "DELETE",
  path: "/api/channel/{id}",
  access: "admin",
  summary:
    "Deletes a channel for good; an unknown id is a success. `force` deletes it while batches run there: they are cancelled and become stuck.",
  params: idParams,
  query: z.object({ force: queryFlag }),
  fails: ["channel_has_batches"],
});

export const channelDeleteDisabled = endpoint({
  name: "channelDeleteDisabled",
  method: "DELETE",
  path: "/api/channel/disabled",
  access: "admin",
  summary: "Deletes every channel that is disabled, by hand or by the system. `force` as for one channel.",
  query: z.object({ force: queryFlag }),
  data: z.int(),
  fails: ["channel_has_batches"],
});

export const channelBatchDelete = endpoint({
  name: "channelBatchDelete",
  method: "POST",
  path: "/api/channel/batch",
  access: "admin",
  summary: "Deletes the named channels. `force` as for one channel.",
  query: z.object({ force: queryFlag }),
  body: z.strictObject({ ids }),
  data: z.int(),
  fails: ["invalid_field", "channel_selection_missing", "channel_has_batches"],
});

export const channelBatchTag = endpoint({
  name: "channelBatchTag",
  method: "POST",
  path: "/api/channel/batch/tag",
  access: "admin",
  summary: "Gives the named channels a tag; an empty tag clears it.",
  body: z.strictObject({ ids, tag: z.optional(textUpTo(CHANNEL_FIELDS.tag.most)) }),
  data: z.int(),
  fails: ["invalid_field", "channel_selection_missing"],
});

export const channelFix = endpoint({
  name: "channelFix",
  method: "POST",
  path: "/api/channel/fix",
  access: "admin",
  summary: "Rebuilds the routing table of all channels.",
  data: z.int(),
});

/** The token name of a test in the log. */
export const TEST_TOKEN_NAME = "Model test";

export const channelTest = endpoint({
  name: "channelTest",
  method: "GET",
  hasEffects: true,
  path: "/api/channel/test/{id}",
  access: "admin",
  summary:
    "Sends a small request through a channel; `time` next to the envelope has the seconds. The log has a row of the result.",
  params: idParams,
  query: z.object({
    model: queryText,
    /** Tests only the key at this index, from 0, also if it is switched off. */
    key_index: queryText,
  }),
  answer: "raw",
  fails: ["invalid_field", "channel_not_found", "channel_type_not_testable"],
});

export const channelTestAll = endpoint({
  name: "channelTestAll",
  method: "GET",
  hasEffects: true,
  path: "/api/channel/test",
  access: "admin",
  summary: "Starts the test of all channels; `job_id` next to the envelope names the job.",
  fails: ["channel_test_running"],
});

export const channelBalance = endpoint({
  name: "channelBalance",
  method: "GET",
  hasEffects: true,
  path: "/api/channel/update_balance/{id}",
  access: "admin",
  summary: "Queries the provider for the balance of a channel; `balance` is next to the envelope.",
  params: idParams,
  answer: "raw",
  fails: ["channel_not_found", "channel_balance_unsupported"],
});

export const channelBalanceAll = endpoint({
  name: "channelBalanceAll",
  method: "GET",
  hasEffects: true,
  path: "/api/channel/update_balance",
  access: "admin",
  summary: "Starts the balance update of all enabled channels; `job_id` next to the envelope names the job.",
  fails: ["balance_update_running"],
});

export const channelModelsOf = endpoint({
  name: "channelModelsOf",
  method: "GET",
  hasEffects: true,
  path: "/api/channel/fetch_models/{id}",
  access: "admin",
  summary: "Lists the models that the upstream of a stored channel offers.",
  params: idParams,
  data: z.array(z.string()),
  fails: ["channel_not_found", "channel_not_openai_compatible", "model_list_unavailable"],
});

export const channelLocalServers = endpoint({
  name: "channelLocalServers",
  method: "GET",
  path: "/api/channel/local_servers",
  access: "admin",
  summary:
    "Model servers that answer at their usual port on the machine of the gateway, such as Ollama, with the models that they offer.",
  data: z.array(z.object({ name: z.string(), type: z.int(), base_url: z.string(), models: z.array(z.string()) })),
});

export const channelModelsFor = endpoint({
  name: "channelModelsFor",
  method: "POST",
  path: "/api/channel/fetch_models",
  access: "admin",
  summary: "Lists the models that an upstream offers, for a form that is not saved yet.",
  body: z.strictObject({
    base_url: z.optional(textUpTo(CHANNEL_FIELDS.base_url.most)),
    type: z.optional(z.int()),
    key: z.optional(longText),
  }),
  data: z.array(z.string()),
  fails: [
    "invalid_field",
    "channel_not_openai_compatible",
    "channel_type_unknown",
    "model_list_unavailable",
    "key_missing",
    "key_server_changed",
  ],
});

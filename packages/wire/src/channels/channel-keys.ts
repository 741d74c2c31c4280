import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryFlag, queryText } from "../core/envelope.ts";

/** Actions of the dialog for many keys in compatible consoles. */
export const MULTI_KEY_ACTIONS = [
  "get_key_status",
  "disable_key",
  "enable_key",
  "disable_all_keys",
  "enable_all_keys",
  "delete_key",
  "delete_disabled_keys",
] as const;

/** One upstream key of a channel; the key itself is never sent. */
export const ChannelKey = z.object({
  /** Index in the channel's key text, from 0; the same as `multi_key_index` of a log row. */
  index: z.int(),
  /** Last four characters of a long key. */
  hint: z.string(),
  /** 1 in use, 2 disabled by hand, 3 disabled because its upstream refused it permanently. */
  status: z.int(),
  reason: z.string(),
  /** Epoch seconds of the last status change; 0 = never. */
  time: z.int(),
});
export type ChannelKey = z.output<typeof ChannelKey>;

export const channelKeys = endpoint({
  name: "channelKeys",
  method: "GET",
  path: "/api/channel/{id}/keys",
  access: "admin",
  summary: "The upstream keys of a channel and whether they are in use.",
  params: idParams,
  data: z.array(ChannelKey),
  fails: ["invalid_parameter", "channel_not_found"],
});

export const channelKeySwitch = endpoint({
  name: "channelKeySwitch",
  method: "PUT",
  path: "/api/channel/{id}/keys",
  access: "admin",
  summary:
    "Switches single keys on (1) or off (2); with the last one the channel is switched off, and on with the first.",
  params: idParams,
  body: z.strictObject({ index: z.optional(z.int()), status: z.optional(z.int()) }),
  data: z.array(ChannelKey),
  fails: ["invalid_parameter", "invalid_field", "channel_not_found", "status_not_settable"],
});

export const channelKeyAdd = endpoint({
  name: "channelKeyAdd",
  method: "POST",
  path: "/api/channel/{id}/keys",
  access: "admin",
  summary:
    "Adds upstream keys, one a line, behind the others. They are switched off until they are switched on, so that they can be tested first; keys that the channel has stay as they are.",
  params: idParams,
  body: z.strictObject({ key: z.string() }),
  data: z.array(ChannelKey),
  fails: ["invalid_parameter", "invalid_field", "key_missing", "channel_not_found"],
});

export const channelKeyDelete = endpoint({
  name: "channelKeyDelete",
  method: "DELETE",
  path: "/api/channel/{id}/keys",
  access: "admin",
  summary:
    "Removes one upstream key, never the last. It stays while files or unsettled batches need it, unless `force` is set: then the provider is asked to cancel the batches, and the files are lost.",
  params: idParams,
  query: z.object({
    /** Index as listed, from 0. */
    index: queryText,
    /** Last characters as listed; another key at this index is not removed. */
    hint: queryText,
    force: queryFlag,
  }),
  data: z.array(ChannelKey),
  fails: ["invalid_parameter", "invalid_field", "channel_not_found", "channel_changed", "channel_key_in_use"],
});

const MultiKeyPage = z.object({
  keys: z.array(
    z.object({
      index: z.int(),
      status: z.int(),
      /** Epoch seconds; 0 = in use. */
      disabled_time: z.int(),
      reason: z.string(),
      /** Last characters of a long key. */
      key_preview: z.string(),
    }),
  ),
  total: z.int(),
  page: z.int(),
  page_size: z.int(),
  total_pages: z.int(),
  enabled_count: z.int(),
  manual_disabled_count: z.int(),
  auto_disabled_count: z.int(),
});

export const channelMultiKey = endpoint({
  name: "channelMultiKey",
  method: "POST",
  path: "/api/channel/multi_key/manage",
  access: "admin",
  summary:
    "Shows, switches or deletes the upstream keys of a channel, for later compatible consoles; `delete_disabled_keys` deletes those that the system switched off.",
  body: z.strictObject({
    channel_id: z.optional(z.int()),
    /** One of `get_key_status`, `disable_key`, `enable_key`, `disable_all_keys`, `enable_all_keys`, `delete_key`, `delete_disabled_keys`. */
    action: z.optional(z.string()),
    key_index: z.optional(z.int()),
    /** Page number, from 1. */
    page: z.optional(z.int()),
    page_size: z.optional(z.int()),
    /** Only keys with this status. */
    status: z.optional(z.int()),
  }),
  /** The keys for `get_key_status`, otherwise the number of changed keys. */
  data: z.union([MultiKeyPage, z.int()]),
  fails: [
    "invalid_parameter",
    "invalid_field",
    "unknown_action",
    "channel_not_found",
    "channel_changed",
    "channel_key_in_use",
  ],
});

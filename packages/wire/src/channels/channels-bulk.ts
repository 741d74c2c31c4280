// Calls for many channels at once: those of a tag, those of a filter, and the offer of an upstream before it is a
// channel.
import * as z from "zod/mini";
import { Channel, channelFields, ChannelInput } from "./channels.ts";
import { CHANNEL_FIELDS } from "./channel-fields.ts";
import { textUpTo } from "../core/characters.ts";
import { MODEL_NAME_MAX } from "../core/constants.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryText } from "../core/envelope.ts";

const ids = z.optional(z.array(z.int()));
const newTag = textUpTo(CHANNEL_FIELDS.tag.most);
const tagBody = z.strictObject({ tag: z.optional(z.string()) });

export const channelTagEnable = endpoint({
  name: "channelTagEnable",
  method: "POST",
  path: "/api/channel/tag/enabled",
  access: "admin",
  summary: "Enables every channel of a tag.",
  body: tagBody,
  fails: ["tag_missing"],
});

export const channelTagDisable = endpoint({
  name: "channelTagDisable",
  method: "POST",
  path: "/api/channel/tag/disabled",
  access: "admin",
  summary: "Disables every channel of a tag.",
  body: tagBody,
  fails: ["tag_missing"],
});

export const channelTagUpdate = endpoint({
  name: "channelTagUpdate",
  method: "PUT",
  path: "/api/channel/tag",
  access: "admin",
  summary: "Changes every channel of a tag, and the tag itself.",
  body: z.strictObject({
    tag: z.optional(z.string()),
    /** New tag of the channels; "" removes the tag. */
    new_tag: z.optional(newTag),
    /** Spelling of the same member in one compatible console. */
    newTag: z.optional(newTag),
    priority: channelFields.priority,
    weight: channelFields.weight,
    model_mapping: channelFields.model_mapping,
    models: channelFields.models,
    groups: channelFields.group,
  }),
  fails: ["invalid_field", "tag_missing", "channel_models_missing", "model_mapping_invalid", "model_name_too_long"],
});

export const channelCopy = endpoint({
  name: "channelCopy",
  method: "POST",
  path: "/api/channel/{id}/copy",
  access: "admin",
  summary: "Copies a channel with its key, which stays on the server; `Copy` is appended to the name.",
  params: idParams,
  data: Channel,
  fails: ["channel_not_found"],
});

export const channelCopyAs = endpoint({
  name: "channelCopyAs",
  method: "POST",
  path: "/api/channel/copy/{id}",
  access: "admin",
  summary: "Copies a channel with its key, for later compatible consoles; counters and balance start at 0.",
  params: idParams,
  /** Text that is appended to the name; `_copy` if empty. */
  query: z.object({ suffix: queryText }),
  data: z.object({ id: z.int() }),
  fails: ["channel_not_found"],
});

export const channelTagModels = endpoint({
  name: "channelTagModels",
  method: "GET",
  path: "/api/channel/tag/models",
  access: "admin",
  summary: "Models of the channel of a tag that has the most, comma-joined.",
  query: z.object({ tag: queryText }),
  data: z.string(),
  fails: ["tag_missing"],
});

export const CHANNEL_BULK_ACTIONS = ["enable", "disable", "delete", "patch", "test", "sync"] as const;

/** The result of a bulk call for one channel. */
export const ChannelBulkResult = z.object({
  id: z.int(),
  success: z.boolean(),
  message: z.string(),
  /** Seconds, for `test`. */
  time: z.optional(z.number()),
});

export const channelBulk = endpoint({
  name: "channelBulk",
  method: "POST",
  path: "/api/channel/bulk",
  access: "admin",
  summary:
    "Does one thing to many channels and reports how each fared. `sync` copies models, mappings, groups and rewrites of `from`.",
  body: z.strictObject({
    ids,
    filter: z.optional(
      z.strictObject({
        keyword: z.optional(z.string()),
        group: z.optional(z.string()),
        model: z.optional(z.string()),
        tag: z.optional(z.string()),
        status: z.optional(z.array(z.int())),
        type: z.optional(z.array(z.int())),
      }),
    ),
    action: z.string(),
    patch: z.optional(ChannelInput),
    from: z.optional(z.int()),
    /** Deletes channels at which batches run, too. */
    force: z.optional(z.boolean()),
  }),
  data: z.array(ChannelBulkResult),
  fails: ["unknown_action", "invalid_field", "channel_not_found", "channel_selection_missing"],
});

/** The result of testing an unsaved form's upstream. */
export const ChannelProbeResult = z.object({
  ok: z.boolean(),
  /** HTTP status of the upstream, if there was one. */
  status: z.optional(z.int()),
  latency_ms: z.int(),
  message: z.string(),
  /** The code of the message, if the gateway itself found the problem. */
  code: z.optional(z.string()),
  /** Present for `kind: "models"`. */
  models: z.optional(z.array(z.string())),
});

export const channelProbe = endpoint({
  name: "channelProbe",
  method: "POST",
  path: "/api/channel/probe",
  access: "admin",
  summary: "Tries a form that is not saved yet: a test request, or the upstream's model list.",
  body: z.strictObject({
    ...channelFields,
    kind: z.optional(z.string()),
    /** A saved channel whose key is used if `key` is blank. */
    id: z.optional(z.int()),
    /** Model of the test request. */
    model: z.optional(textUpTo(MODEL_NAME_MAX)),
  }),
  data: ChannelProbeResult,
  fails: [
    "invalid_parameter",
    "invalid_field",
    "region_missing",
    "region_default_missing",
    "model_name_too_long",
    "channel_not_found",
    "channel_not_openai_compatible",
    "channel_type_not_testable",
    "channel_type_unknown",
    "key_missing",
    "key_server_changed",
    "model_mapping_circular",
  ],
});

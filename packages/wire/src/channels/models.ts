import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

export const modelsByType = endpoint({
  name: "modelsByType",
  method: "GET",
  path: "/api/models",
  access: "user",
  summary: "The usual models of each channel type.",
  data: z.record(z.string(), z.array(z.string())),
});

/** A kind of upstream, as offered in the channel form. */
export const ChannelType = z.object({
  type: z.int(),
  id: z.string(),
  label: z.string(),
  /** The usual address; "" = there is none. */
  base_url: z.string(),
  /** True if a channel must set its own address; false also if the address follows from the key or the region. */
  needs_base_url: z.boolean(),
  key_hint: z.string(),
  other_hint: z.string(),
  /** Initial value of `other` in the form of a new channel; "" = none. */
  other_default: z.string(),
  /** True if the type is still accepted but no longer offered. */
  retired: z.boolean(),
  can_test: z.boolean(),
  can_balance: z.boolean(),
  /** True if a key is a whole file; such a channel has one key. */
  has_key_file: z.boolean(),
  /** The gateway can mark what its upstream stores in a prompt cache: `prompt_cache` in `setting` has an effect. */
  takes_cache_marks: z.boolean(),
  /** Clients create batches at it: `batch_max_open` and `batch_max_tokens` in `setting` have an effect. */
  takes_batches: z.boolean(),
  can_list_models: z.boolean(),
});
export type ChannelType = z.output<typeof ChannelType>;

export const channelTypes = endpoint({
  name: "channelTypes",
  method: "GET",
  path: "/api/channel/types",
  access: "admin",
  summary: "The kinds of upstream that a channel may have, for forms.",
  data: z.array(ChannelType),
});

/** An entry of the model catalogue, in the format of OpenAI's model list. */
export const CatalogueModel = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
  permission: z.array(z.record(z.string(), z.unknown())),
  root: z.string(),
  parent: z.nullable(z.string()),
});

export type CatalogueModel = z.output<typeof CatalogueModel>;

export const channelCatalogue = endpoint({
  name: "channelCatalogue",
  method: "GET",
  path: "/api/channel/models",
  access: "admin",
  summary: "Lists every model that the gateway knows.",
  data: z.array(CatalogueModel),
});

export const channelModelsEnabled = endpoint({
  name: "channelModelsEnabled",
  method: "GET",
  path: "/api/channel/models_enabled",
  access: "admin",
  summary: "Lists the models that some enabled channel serves.",
  data: z.array(z.string()),
});

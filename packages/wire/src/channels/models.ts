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

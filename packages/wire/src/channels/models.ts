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

/** A kind of upstream as the channel form offers it. */
export const ChannelType = z.object({
  type: z.int(),
  id: z.string(),
  label: z.string(),
  /** "" = there is no usual one. */
  base_url: z.string(),
  /** A channel must name its own; false also where the address follows from the key or the region. */
  needs_base_url: z.boolean(),
  key_hint: z.string(),
  other_hint: z.string(),
  /** What a form of a new channel holds in `other`; "" = nothing. */
  other_default: z.string(),
  /** Accepted, but no longer offered. */
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

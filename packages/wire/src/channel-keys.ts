import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { idParams } from "./envelope.ts";

/** One upstream key of a channel; the key itself never leaves the server. */
export const ChannelKey = z.object({
  /** Place in the channel's key text, from 0; the same as `multi_key_index` of a log row. */
  index: z.int(),
  /** Last four characters of a long key. */
  hint: z.string(),
  /** 1 in use, 2 switched off by hand, 3 switched off because its upstream refused it for good. */
  status: z.int(),
  reason: z.string(),
  /** Epoch seconds of the last switch; 0 = never. */
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
  fails: ["G1", "CH8"],
});

export const channelKeySwitch = endpoint({
  name: "channelKeySwitch",
  method: "PUT",
  path: "/api/channel/{id}/keys",
  access: "admin",
  summary:
    "Switches single keys on (1) or off (2); with the last one the channel is switched off, and on with the first.",
  params: idParams,
  body: z.object({ index: z.optional(z.int()), status: z.optional(z.int()) }),
  data: z.array(ChannelKey),
  fails: ["G1", "G2", "CH8", "CH17"],
});

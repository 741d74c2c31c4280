import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { CHANNEL_BULK_CAP } from "./channels.ts";

/** The longest time of a pause. */
export const MAX_PAUSE_SECONDS = 30 * 86_400;

/** How a pause ended: not yet, at its time, because its tests passed, or by a person. */
export const PAUSE_ENDS = ["", "time", "tests", "person"] as const;
export type PauseEnd = (typeof PAUSE_ENDS)[number];

export const ChannelPause = z.object({
  id: z.int(),
  /** Epoch seconds. */
  created_at: z.int(),
  /** Name of the user who paused. */
  created_by: z.string(),
  reason: z.string(),
  /** Epoch seconds at which the pause ends, or from which on its channels are tested; 0 = no time. */
  until: z.int(),
  /** True if each channel comes back as soon as its test passes. */
  until_tests: z.boolean(),
  /** The channels that were switched off together. */
  channels: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      /** False for a channel that came back, or that was changed by hand in the meantime. */
      paused: z.boolean(),
    }),
  ),
  /** Epoch seconds; 0 = the pause lasts. */
  ended_at: z.int(),
  end: z.enum(PAUSE_ENDS),
});
export type ChannelPause = z.output<typeof ChannelPause>;

export const pauseList = endpoint({
  name: "pauseList",
  method: "GET",
  path: "/api/pause/",
  access: "admin",
  summary: "Lists pauses of channels: those that last, then the latest that ended, each newest first.",
  data: z.array(ChannelPause),
});

export const pauseCreate = endpoint({
  name: "pauseCreate",
  method: "POST",
  path: "/api/pause/",
  access: "admin",
  summary: "Switches the enabled channels of a selection off together, and remembers them.",
  body: z.strictObject({
    /** The channels. */
    ids: z.optional(z.array(z.int()).check(z.maxLength(CHANNEL_BULK_CAP))),
    /** Instead of `ids`: all channels with all of these. */
    filter: z.optional(
      z.strictObject({
        /** Numbers of providers. */
        type: z.optional(z.array(z.int())),
        tag: z.optional(z.string()),
        group: z.optional(z.string()),
        /** A part of a model's name. */
        model: z.optional(z.string()),
      }),
    ),
    /** Seconds after which the pause ends, or after which tests begin; 0 = no time. */
    for_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_PAUSE_SECONDS))),
    /** Test each channel every minute, and switch it on once its test passes. */
    until_tests: z.optional(z.boolean()),
    /** Why, as the channels show it. */
    reason: z.optional(textUpTo(191)),
  }),
  data: ChannelPause,
  fails: ["invalid_field", "pause_empty"],
});

export const pauseResume = endpoint({
  name: "pauseResume",
  method: "POST",
  path: "/api/pause/{id}/resume",
  access: "admin",
  summary: "Switches the channels of a pause on again, except those that were changed by hand in the meantime.",
  params: idParams,
  data: ChannelPause,
  fails: ["pause_not_found"],
});

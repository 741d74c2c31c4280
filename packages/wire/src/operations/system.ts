import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

/** Features beyond the calls of compatible gateways; a name never changes its meaning. */
export const FEATURES = [
  "access-tokens",
  "audit",
  "channel-bulk",
  "codes",
  "declarative",
  "if-match",
  "log-tail",
  "openapi",
  "passkeys",
  "sessions",
  "stripe",
  "two-factor",
] as const;

/** The way of calls to one server. */
export const OutgoingWay = z.object({
  /** What is called there: `channels`, `guardrail`, `payments`, `files`, `updates`, `sign-in`, `traces`, `log export`. */
  part: z.string(),
  host: z.string(),
  /** `host:port` of the proxy; null = directly. */
  proxy: z.nullable(z.string()),
});
export type OutgoingWay = z.output<typeof OutgoingWay>;

export const SystemInfo = z.object({
  product: z.literal("fairway"),
  version: z.string(),
  /** `sqlite`, `mysql` or `postgres`. */
  database: z.string(),
  /** Name of the process that responds. */
  instance: z.string(),
  /** Epoch seconds of its start. */
  started_at: z.int(),
  features: z.array(z.string()),
  /** The servers that it calls, for administrators. */
  outgoing: z.optional(z.array(OutgoingWay)),
});
export type SystemInfo = z.output<typeof SystemInfo>;

/** A process that serves calls, as it last reported itself. */
export const Replica = z.object({
  instance: z.string(),
  version: z.string(),
  /** Epoch seconds of its start, and of its last report. */
  started_at: z.int(),
  seen_at: z.int(),
  /** True if it runs the jobs that must run only once. */
  is_leader: z.boolean(),
  /** Number of running requests at the last report. */
  running: z.int(),
  /** True if its reports stopped without an orderly stop. */
  is_lost: z.boolean(),
  /** The revision of channels and options that it uses; 0 if its version does not report one. */
  revision: z.int(),
  /**
   * The same requests by the id of the channel that served them; requests that waited for a channel are not included.
   */
  channels: z.record(z.string(), z.int()),
});
export type Replica = z.output<typeof Replica>;

export const systemReplicas = endpoint({
  name: "systemReplicas",
  method: "GET",
  path: "/api/system/replicas",
  access: "admin",
  summary:
    "Processes of this installation with their version, oldest first; lost ones for an hour. The one that answers counts its requests now, the others did at `seen_at`: at most 30 seconds ago, 5 where the requests are others since. `revision` next to them is that of the last change of channels and options.",
  data: z.array(Replica),
});

export const StepDown = z.object({
  /** Name of the process that was the leader and gives up its lease within seconds. */
  leader: z.string(),
  /** Names of the processes that can take over. */
  others: z.array(z.string()),
});
export type StepDown = z.output<typeof StepDown>;

export const systemStepDown = endpoint({
  name: "systemStepDown",
  method: "POST",
  path: "/api/system/leader/step-down",
  access: "root",
  summary:
    "The leader gives its lease up, and another process takes over its jobs within seconds. Refused while no other process runs.",
  data: StepDown,
  fails: ["only_replica", "no_leader"],
});

export const systemInfo = endpoint({
  name: "systemInfo",
  method: "GET",
  path: "/api/system/info",
  access: "user",
  summary: "Version and features of this server, for clients that also talk to others.",
  data: SystemInfo,
});

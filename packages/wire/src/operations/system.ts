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

export const SystemInfo = z.object({
  product: z.literal("fairway"),
  version: z.string(),
  /** `sqlite`, `mysql` or `postgres`. */
  database: z.string(),
  /** Name of the process that answers. */
  instance: z.string(),
  /** Epoch seconds of its start. */
  started_at: z.int(),
  features: z.array(z.string()),
});
export type SystemInfo = z.output<typeof SystemInfo>;

export const systemInfo = endpoint({
  name: "systemInfo",
  method: "GET",
  path: "/api/system/info",
  access: "user",
  summary: "Version and features of this server, for clients that also talk to others.",
  data: SystemInfo,
});

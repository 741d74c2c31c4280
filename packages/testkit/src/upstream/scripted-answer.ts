import type { Json } from "./reply.ts";

/** An answer given by a test instead of the built-in formats. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Buffer | Json;
  /** Only this many bytes of the body are sent, and the connection stays open. */
  readonly stallsAfter?: number;
}

import type { JsonObject } from "../../dialects/core/types.ts";
import type { Spool } from "../../relay/body/spool.ts";

/** The body of an inline batch on disk, with the positions of its items. */
export interface InlineBody {
  readonly spool: Spool;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** True if the body has the list of items. */
  readonly isFound: boolean;
  /** The body with `0` in place of each item. */
  readonly frame: JsonObject;
  readonly frameBytes: Buffer;
  /** SHA-256 in hex. */
  readonly hash: string;
}

/** A range of the body that is sent with other bytes. */
export interface BodyEdit {
  readonly start: number;
  readonly end: number;
  readonly json: string;
}

import type { Usage } from "../../../dialects/core/types.ts";
import type { Entry } from "../../ttl-store/ttl-store.ts";

/** A whole, successful answer; its body is what the client got, of a stream its event blocks. */
export interface CachedAnswer extends Entry {
  /** "" for streams, whose head follows from the request. */
  readonly contentType: string;
  /** The charged usage. */
  readonly usage: Usage;
  /** The group that served. */
  readonly group: string;
}

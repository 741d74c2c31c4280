import type { Dialect, JsonObject } from "../../dialects/core/types.ts";
import type { BatchProtocolId, BatchSupport } from "../../providers/core/batches.ts";
import type { ResultFormat } from "../results/outcomes.ts";
import type { BatchRow } from "../row.ts";

/** One element of an inline batch. */
export interface InlineItem {
  readonly customId: string;
  /** The member that holds the request, and its value. */
  readonly member: string;
  readonly body: JsonObject;
}

export interface BatchCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly expired: number;
  readonly cancelled: number;
}

/** What an upstream says about a batch. */
export interface BatchState {
  readonly upstreamId: string;
  readonly isEnded: boolean;
  /** Undefined while the upstream counts nothing. */
  readonly counts: BatchCounts | undefined;
  /** Epoch seconds; 0 = unknown. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt: number;
  /** The upstream's object without its ids. */
  readonly wire: JsonObject;
  /** The upstream's ids of the files with its results; absent until they exist. */
  readonly outputFileId?: string;
  readonly errorFileId?: string;
}

/** A page of a list, as the client asked for it. */
export interface PageRequest {
  readonly limit: number;
  /** The page begins after this id, or ends before it. */
  readonly after: string | undefined;
  readonly before: string | undefined;
}

/** A path of the upstream's batch API. */
export interface BatchPath {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
}

/** How clients and upstreams speak about batches. */
export interface BatchProtocol {
  readonly id: BatchProtocolId;
  /** How its results are written. */
  readonly resultFormat: ResultFormat;
  /** True if its items and results are in files of the upstream. */
  readonly hasFiles: boolean;
  createId(): string;
  /** Undefined if the text is not an object of this protocol. */
  readState(json: unknown): BatchState | undefined;
  /** The upstream's objects in an answer to a list. */
  readList(json: unknown): readonly JsonObject[];
  /** True if an object in the upstream's list may be the batch of the row, whose id the upstream does not know. */
  fitsRow(listed: JsonObject, row: BatchRow): boolean;
  /** The object as the client sees it. `resultsUrl` throws if it is needed and unknown. */
  view(row: BatchRow, resultsUrl: () => string): JsonObject;
  paths(support: BatchSupport): {
    create(): BatchPath;
    list(): BatchPath;
    read(upstreamId: string): BatchPath;
    cancel(upstreamId: string): BatchPath;
    /** Undefined if batches cannot be deleted. */
    remove(upstreamId: string): BatchPath | undefined;
    /** Undefined if the results are in files. */
    results(upstreamId: string): BatchPath | undefined;
  };
}

/** A protocol whose batches contain their items. */
export interface InlineProtocol extends BatchProtocol {
  /** The protocol of its items. */
  readonly itemDialect: Dialect;
  /** The members that lead to the items. */
  readonly itemPath: readonly string[];
  /** Reads one element; throws AppError whose `param` is relative to the element. */
  readItem(element: JsonObject): InlineItem;
}

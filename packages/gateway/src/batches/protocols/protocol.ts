import type { Dialect, JsonObject, Operation } from "../../dialects/core/types.ts";
import type { BatchProtocolId, BatchSupport } from "../../providers/core/batches.ts";
import type { BodyEdit, InlineBody } from "../inline/inline-body.ts";
import type { ReadFormat } from "../results/outcomes.ts";
import type { BatchRow } from "../row.ts";

/** One element of an inline batch. */
export interface InlineItem {
  /** Undefined where the protocol lets items go without one. */
  readonly customId: string | undefined;
  /** The member that holds the request, and its value. */
  readonly member: string;
  readonly body: JsonObject;
  /** As the client names it. */
  readonly model: string;
  /** True if the request has a member `model`. */
  readonly namesModel: boolean;
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
  /** The elements of lists with this name are left out of the answer while it is read. */
  readonly without?: string;
  /** Turns the vendor's answer into one of the protocol. */
  readonly translate?: (json: unknown) => unknown;
}

/** How clients and upstreams speak about batches. */
export interface BatchProtocol {
  readonly id: BatchProtocolId;
  /** How the results of a batch are written. */
  findFormat(row: BatchRow): ReadFormat;
  /** True if the results of a batch are in files of the upstream. */
  hasFiles(row: BatchRow): boolean;
  /** False while the upstream has not said where the answers of an ended batch are. */
  hasResults(row: BatchRow): boolean;
  createId(now: number): string;
  /** Undefined if the text is not an object of this protocol. */
  readState(json: unknown): BatchState | undefined;
  /** The upstream's objects in an answer to a list. */
  readList(json: unknown): readonly JsonObject[];
  /** True if an object in the upstream's list may be the batch of the row, whose id the upstream does not know. */
  fitsRow(listed: JsonObject, row: BatchRow): boolean;
  /** The object as the client sees it. `resultsUrl` throws if it is needed and unknown. */
  view(row: BatchRow, resultsUrl: () => string): JsonObject;
  paths(support: BatchSupport): {
    create(row: BatchRow): BatchPath;
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
  readonly operation: Operation;
  /** What the row names as its endpoint; absent = the path of the vendor's batches. */
  readonly endpoint?: string;
  /** The vendor takes no longer body. */
  readonly maxBytes?: number;
  /** Names outside of the items may be written in two ways. */
  readonly hasTwoSpellings?: boolean;
  /** The members that lead to the items. */
  readonly itemPath: readonly string[];
  /** Reads one element; throws AppError whose `param` is relative to the element. */
  readItem(element: JsonObject): InlineItem;
  /** The member that holds the id of an item. */
  readonly idMember: string;
  /** Returns the member that names the model of an item. */
  placeModel(item: number): string;
  /** Returns the text that names a model inside of an item. */
  writeModel(name: string): string;
  /** The member that limits the answer of an item, where items may go without. */
  readonly capMember?: string;
  /** Set where the path names the model of all items, and the body may name a file in place of them. */
  readonly ofPath?: {
    readonly model: string;
    /** Throws AppError for a bad frame. */
    readFileName(frame: JsonObject): string | undefined;
  };
  /** Returns edits outside of the items. */
  editFrame?(body: InlineBody, row: BatchRow): readonly BodyEdit[];
}

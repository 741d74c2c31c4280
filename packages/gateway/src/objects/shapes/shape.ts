import type { JsonObject } from "../../dialects/core/types.ts";
import type { ObjectDialect } from "../../providers/core/types.ts";
import type { StoredObject } from "../stored-object.ts";
import type { ListRequest, Page } from "../store.ts";

/** What an upstream said about a file that it took. */
export interface UpstreamFile {
  readonly upstreamId: string;
  readonly name: string | undefined;
  readonly mime: string | undefined;
  /** Epoch seconds; 0 = never. */
  readonly expiresAt: number;
  /** What the row keeps of it, to show it again. */
  readonly facts: JsonObject;
}

/** Where a page of a list begins, as a client wrote it. */
export type ListQuery = Omit<ListRequest, "kind" | "dialect" | "after"> & {
  /** The id of the last row of the page before. */
  readonly afterId?: string | undefined;
  /** The same with its time, in a token of the gateway, which works even if the row no longer exists. */
  readonly after?: ListRequest["after"];
  /** The page is read backwards, from the row after it to the row before. */
  readonly isReversed?: boolean;
  /** Only these files, in place of a page. */
  readonly ids?: readonly string[];
};

/** How one protocol shows files. */
export interface FileShape {
  readonly dialect: ObjectDialect;
  /** The file as clients see it. @param baseUrl public address of the gateway; undefined if it is not known */
  showFile(object: StoredObject, baseUrl?: string): JsonObject;
  showDeleted(object: StoredObject): JsonObject;
  /** Throws `invalid_request` for values that the protocol does not allow. */
  readList(query: URLSearchParams): ListQuery;
  showList(page: Page, baseUrl?: string): JsonObject;
  /** Throws `upstream_invalid_response` for an answer without an id. */
  readUpload(answer: JsonObject): UpstreamFile;
}

const MAX_FACTS_CHARS = 16_384;

/** Returns the members of an upstream's object that the row keeps; those that name the object there are left out. */
export function keepMembers(answer: JsonObject, without: readonly string[]): JsonObject {
  const known: JsonObject = {};
  for (const name of Object.keys(answer)) if (!without.includes(name)) known[name] = answer[name] ?? null;
  return JSON.stringify(known).length > MAX_FACTS_CHARS ? {} : known;
}

import type { DialectId } from "../../dialects/core/types.ts";
import type { ObjectDialect } from "../../providers/core/types.ts";
import type { Caller, RelayRequest } from "../request/request.ts";
import type { FoundId } from "./find-ids.ts";

/** A file, a container or a cached prompt that an upstream account stores for the caller. */
export interface StoredFile {
  /** The id by which the client knows it. */
  readonly id: string;
  readonly dialect: ObjectDialect;
  readonly channelId: number;
  /** Undefined if the channel or its key no longer exists. */
  readonly keyIndex: number | undefined;
  /** How the upstream's requests name it. */
  readonly sent: string;
  /** Estimated input tokens, for the reservation; the charge follows the reported usage. */
  readonly tokens: number;
}

/** Finds the caller's files, containers and caches among names in a request: ids, or addresses that end with one. */
export type FindFiles = (
  names: readonly string[],
  caller: Pick<Caller, "userId" | "tokenId">,
) => Promise<ReadonlyMap<string, StoredFile>>;

/** Returns the protocol of files that requests of this protocol name. */
export function findFileProtocol(dialect: DialectId): ObjectDialect {
  if (dialect.startsWith("anthropic-")) return "anthropic";
  return dialect.startsWith("gemini-") ? "gemini" : "openai";
}

const NO_FILES: ReadonlyMap<string, StoredFile> = new Map();

const STORED_KINDS: ReadonlySet<string> = new Set(["file", "cached content", "container"]);

/** Looks up the files, containers and caches among the ids of a request; a request that names none costs nothing. */
export async function findOwnFiles(
  ids: readonly FoundId[],
  { caller }: Pick<RelayRequest, "caller">,
  find: FindFiles | undefined,
): Promise<ReadonlyMap<string, StoredFile>> {
  const names = ids.filter(({ rule }) => STORED_KINDS.has(rule.kind)).map(({ value }) => value);
  return find && names.length > 0 ? find([...new Set(names)], caller) : NO_FILES;
}

const BYTES_PER_TOKEN = 3;
const MAX_FILE_TOKENS = 200_000;
const PICTURE_TOKENS = 2_000;

/** Estimates the input tokens of a file. */
export function estimateFileTokens({ mime, bytes }: { readonly mime: string; readonly bytes: number }): number {
  if (mime.startsWith("image/")) return PICTURE_TOKENS;
  return Math.min(Math.ceil(bytes / BYTES_PER_TOKEN), MAX_FILE_TOKENS);
}

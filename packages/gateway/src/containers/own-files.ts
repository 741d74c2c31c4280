import { AppError, invalidRequest } from "../lib/app-error.ts";
import type { JsonValue } from "../dialects/core/types.ts";
import { isSet } from "../dialects/core/read.ts";
import { unknownFile } from "../objects/library.ts";
import type { StoredFile } from "../relay/tenancy/stored-files.ts";
import type { ContainerCall, ContainerDeps } from "./types.ts";

const MAX_FILES = 1_000;

/** Finds the caller's own files that a call names, all of one account. Throws `file_not_found` for any other id. */
export async function findNamedFiles(
  value: JsonValue | undefined,
  param: string,
  { caller }: Pick<ContainerCall, "caller">,
  { findFiles }: Pick<ContainerDeps, "findFiles">,
): Promise<readonly StoredFile[]> {
  const ids = readIds(value, param);
  if (ids.length === 0) return [];
  const found = await findFiles(ids, caller);
  const files = ids.map((id) => found.get(id) ?? fail(unknownFile(id, param)));
  const [first] = files;
  for (const file of files) {
    if (file.dialect !== "openai") throw new AppError("unsupported_by_channel");
    if (file.keyIndex === undefined) throw new AppError("file_unavailable", { param, values: { id: file.id } });
    if (first && !isSameAccount(file, first)) throw refuseOtherAccount(first.id, file.id, param);
  }
  return files;
}

function readIds(value: JsonValue | undefined, param: string): string[] {
  if (!isSet(value)) return [];
  const ids = Array.isArray(value) ? value : [value];
  if (ids.length > MAX_FILES || !ids.every((id) => typeof id === "string"))
    throw invalidRequest(param, `${param} must be up to ${MAX_FILES} ids of files.`);
  return ids;
}

type Account = Pick<StoredFile, "channelId" | "keyIndex">;

export function isSameAccount(a: Account, b: Account): boolean {
  return a.channelId === b.channelId && a.keyIndex === b.keyIndex;
}

/** The error for a file and what it should be used with, of two accounts. */
export function refuseOtherAccount(id: string, other: string, param: string): AppError {
  return new AppError("files_on_different_channels", {
    param,
    message: `${id} and ${other} are stored with different upstreams. Upload the files again, or create a container from them with file_ids.`,
  });
}

function fail(error: AppError): never {
  throw error;
}

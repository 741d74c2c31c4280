import type { JsonObject } from "../dialects/core/types.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import type { OpenAccount } from "./account.ts";
import type { FileContent } from "./received-form.ts";

/** An uploaded file before it is sent, with the account that will take it. */
export interface UnsentFile {
  readonly content: FileContent;
  readonly purpose: string;
  readonly caller: Caller;
  readonly account: OpenAccount;
}

/** What is sent in place of the file, and what its reader learned about it. */
export interface PreparedFile {
  /** Its size is known before it is sent, and it is opened again for every attempt. */
  readonly content: FileContent;
  readonly facts: JsonObject;
}

/** Reads a file and may rewrite it, such as the names of models inside; throws to refuse it before anything is sent. */
export type PrepareFile = (file: UnsentFile) => Promise<PreparedFile>;

/** Purposes whose files hold requests, one in each line: they are read before they are sent. */
export function holdsRequests(purpose: string): boolean {
  return purpose === "batch";
}

export const MAX_LINE_BYTES = 1024 * 1024;

/** Returns the first line of a file; undefined if it is longer than anything that a request may be. */
export async function readFirstLine({ open }: FileContent): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of open()) {
    const end = chunk.indexOf(0x0a);
    parts.push(end < 0 ? chunk : chunk.subarray(0, end));
    size += chunk.length;
    if (end >= 0) break;
    if (size > MAX_LINE_BYTES) return undefined;
  }
  const line = Buffer.concat(parts);
  return line.length > MAX_LINE_BYTES ? undefined : line;
}

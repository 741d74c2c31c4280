import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../../../lib/clock.ts";
import { Refusal } from "../../../lib/refusal.ts";
import { readChunks } from "../../../objects/read-chunks.ts";

const PREFIX = "fairway-import-";
const IDLE_MS = 60_000;
const MEGABYTE = 1_048_576;
/** What a process that was killed left behind is removed by the next upload. */
const STALE_MS = 86_400_000;

/** A file that was uploaded for one import. */
export interface Upload {
  readonly path: string;
  /** Where its work may write. */
  readonly scratch: string;
  readonly bytes: number;
  /** Removes the file and everything next to it. */
  remove(): Promise<void>;
}

interface UploadTerms {
  readonly maxBytes: number;
  /** Bytes that the query names; 0 if it names none. */
  readonly announced: number;
  readonly clock: Clock;
}

/**
 * Writes the body to a file in a folder of its own, which only this process may read. Throws `import_too_large`, and
 * `import_unreadable` for a body that is empty or shorter than announced.
 */
export async function receiveUpload(
  request: IncomingMessage,
  { maxBytes, announced, clock }: UploadTerms,
): Promise<Upload> {
  const tooLarge = () => new Refusal("import_too_large", { values: { limit: Math.floor(maxBytes / MEGABYTE) } });
  const length = Number(request.headers["content-length"] ?? 0);
  if (Math.max(length, announced) > maxBytes) throw tooLarge();
  await removeStale(clock.now());
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, "upload");
  let bytes = 0;
  const counted = async function* () {
    for await (const chunk of readChunks(request, IDLE_MS)) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      yield chunk;
    }
  };
  try {
    await pipeline(counted, createWriteStream(path, { mode: 0o600, flags: "wx" }));
    if (bytes === 0) throw unreadable("it is empty");
    if (announced > 0 && bytes !== announced) throw unreadable("it did not arrive whole");
    return { path, scratch: join(folder, "database"), bytes, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

export function unreadable(reason: string): Refusal {
  return new Refusal("import_unreadable", { values: { reason } });
}

/** Removes uploads of processes that died. Another process may remove them at the same time. */
async function removeStale(now: number): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    const age = now - ((await stat(path).catch(() => undefined))?.mtimeMs ?? now);
    if (age > STALE_MS) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

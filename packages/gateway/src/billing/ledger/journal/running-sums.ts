import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createBatcher } from "../../../lib/async/batcher.ts";
import type { Logger } from "../../../observability/log.ts";
import { AppendedFile, splitLines } from "./appended-file.ts";
import type { OpenHold } from "../booking/booking.ts";

/**
 * What the open requests of this process cost so far, in a file of its own. Redis has the same sums; the file replaces
 * them if Redis is emptied while no process runs that could restore them.
 */
export interface RunningSums {
  /** Writes the sum of a request; `all` returns those of all open requests, for a shorter file. Never throws. */
  write(sum: RunningSum, all: () => Iterable<RunningSum>): void;
  /** The request was settled or released. Never throws. */
  end(requestId: string): void;
  readonly bytes: number;
  /** Removes the file if every request has ended. */
  close(): void;
}

/** A reservation with the settlement that is due if its process dies, without the hold. */
export type RunningSum = OpenHold & { readonly seen: string };

export interface RunningSumsSettings {
  /** The folder of this process. */
  readonly folder: string;
  readonly log: Logger;
  /** A file that is larger than this, and mostly out of date, is written again. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 4 * 1024 * 1024;
const NAME = /^sums-\d{8}\.log$/;

/** The files that dead processes left in these folders. */
export class FoundSums {
  readonly #paths: readonly string[];

  constructor(folders: readonly string[]) {
    this.#paths = folders.flatMap((folder) => listFiles(folder).map((file) => join(folder, file)));
  }

  /** Returns the last sum of each request that had not ended. */
  read(): RunningSum[] {
    const open = new Map<string, RunningSum>();
    for (const path of this.#paths)
      for (const line of splitLines(readText(path))) {
        const { ended, ...sum } = JSON.parse(line) as Line;
        if (ended === undefined) open.set(sum.request_id, { ...sum, seen: JSON.stringify(sum.seen) });
        else open.delete(ended);
      }
    return [...open.values()];
  }

  remove(): void {
    for (const path of this.#paths) rmSync(path, { force: true });
  }
}

type Line = OpenHold & { readonly seen: unknown; readonly ended?: string };

/** Creates a file after those that are in the folder. Throws a file system error when the folder is not writable. */
export function createRunningSums({ folder, log, maxBytes = MAX_BYTES }: RunningSumsSettings): RunningSums {
  let number = Math.max(0, ...listFiles(folder).map((file) => Number(file.slice(5, 13))));
  const open = new Set<string>();
  let listAll: () => Iterable<RunningSum> = () => [];
  let shortBytes = 0;

  const create = () => {
    number += 1;
    const path = join(folder, `sums-${String(number).padStart(8, "0")}.log`);
    const onSyncError = (error: unknown) => log.error("the journal could not be flushed to disk", { error });
    return { path, file: new AppendedFile(path, onSyncError) };
  };
  let active = create();

  /** A crash in between leaves both files, which together say the same. */
  const shorten = () => {
    const before = active;
    active = create();
    const lines = [...listAll()].map(formatSum);
    if (lines.length > 0) active.file.append(lines);
    shortBytes = active.file.bytes;
    before.file.close();
    rmSync(before.path, { force: true });
  };
  const lines = createBatcher<string, undefined>({
    maxJobs: Infinity,
    startsAt: "turn",
    work: (texts) => {
      active.file.append(texts);
      if (active.file.bytes > Math.max(maxBytes, 2 * shortBytes)) shorten();
      return Promise.resolve([]);
    },
  });
  const append = (line: string) => {
    lines.add(line).catch((error: unknown) => log.warn("the sums of open requests cannot be written", { error }));
  };

  return {
    write(sum, all) {
      listAll = all;
      open.add(sum.request_id);
      append(formatSum(sum));
    },
    end(requestId) {
      if (open.delete(requestId)) append(JSON.stringify({ ended: requestId }));
    },
    get bytes() {
      return active.file.bytes;
    },
    close() {
      active.file.close();
      if (open.size === 0) rmSync(active.path, { force: true });
    },
  };
}

function listFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => NAME.test(file))
    .sort();
}

/** A text that was read before may be removed in the meantime. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

function formatSum({ request_id, user_id, token_id, amount, seen }: RunningSum): string {
  return `${JSON.stringify({ request_id, user_id, token_id, amount }).slice(0, -1)},"seen":${seen}}`;
}

import { logList, logListSelf, PAGE_SIZE_CAP, type LogPage } from "@fairway/wire";
import { call } from "../../lib/http.ts";
import { HttpProblem, readWaitMs } from "../../lib/problems.ts";
import { buildLogQuery, type LogFilter } from "./api.ts";
import { csvWriter } from "./csv.ts";

export interface Progress {
  readonly done: number;
  readonly total: number;
}

interface Export {
  readonly filter: LogFilter;
  readonly isAdmin: boolean;
  readonly quotaPerUnit: number;
}

const TOO_MANY = 429;
const MILLISECONDS = 1000;

function rest(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * MILLISECONDS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("The export was called off.", "AbortError"));
    });
  });
}

/** Returns the seconds to wait; undefined if waiting does not help. Without a first page, the user reads it at once. */
function findWait(problem: unknown, before: string): number | undefined {
  if (problem instanceof HttpProblem && problem.status === TOO_MANY) return problem.retryAfter;
  const away = before === "" ? undefined : readWaitMs(problem);
  return away === undefined ? undefined : away / MILLISECONDS;
}

/** Reads all pages of the filter, newest first, without rows that arrive meanwhile; waits as long as the server says. */
async function* logPages(filter: LogFilter, isAdmin: boolean, signal: AbortSignal): AsyncGenerator<LogPage> {
  const wanted = { ...buildLogQuery(filter, isAdmin), page_size: PAGE_SIZE_CAP };
  let before = "";
  do {
    const query = { ...wanted, before };
    try {
      const page = await (isAdmin ? call(logList, { query, signal }) : call(logListSelf, { query, signal }));
      yield page;
      before = page.next;
    } catch (problem) {
      const wait = findWait(problem, before);
      if (wait === undefined) throw problem;
      await rest(wait, signal);
      continue;
    }
    if (before === "") return;
  } while (!signal.aborted);
}

/** How long the browser may take to begin saving. */
const SAVE_MS = 60_000;

function save(parts: readonly string[]): void {
  const address = URL.createObjectURL(new Blob([...parts], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `log-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), SAVE_MS);
}

/** Saves all rows of the filter as a file; returns their number. */
export async function saveCsv(
  { filter, isAdmin, quotaPerUnit }: Export,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<number> {
  const csv = csvWriter({ isAdmin, quotaPerUnit });
  const parts = [csv.head];
  let done = 0;
  for await (const { items, total } of logPages(filter, isAdmin, signal)) {
    parts.push(csv.rows(items));
    done += items.length;
    onProgress({ done, total });
  }
  save(parts);
  return done;
}

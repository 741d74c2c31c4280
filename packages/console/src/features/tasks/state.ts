import type { AsyncTask } from "@fairway/wire";
import type { MarkKind } from "../../ui/display/mark.tsx";

export const ACTIONS = { MUSIC: "music", LYRICS: "lyrics" } as const;

interface State {
  readonly mark: MarkKind;
  readonly text: "success" | "notStarted" | "queuing" | "queued" | "inProgress" | "failed" | "unknown" | "submitting";
}

export const STATUSES: Readonly<Record<string, State>> = {
  SUCCESS: { mark: "go", text: "success" },
  IN_PROGRESS: { mark: "underway", text: "inProgress" },
  SUBMITTED: { mark: "caution", text: "queuing" },
  QUEUED: { mark: "caution", text: "queued" },
  NOT_START: { mark: "parked", text: "notStarted" },
  FAILURE: { mark: "stop", text: "failed" },
  UNKNOWN: { mark: "unknown", text: "unknown" },
};

export function findStatus(row: AsyncTask): State {
  if (row.status === "") return { mark: "underway", text: "submitting" };
  return STATUSES[row.status] ?? { mark: "unknown", text: "unknown" };
}

export function isUnderWay(row: AsyncTask): boolean {
  return ["", "NOT_START", "SUBMITTED", "QUEUED", "IN_PROGRESS"].includes(row.status);
}

/** Returns the seconds from submission to the end, or to now. */
export function calculateDuration(row: AsyncTask, now: number): number {
  return Math.max(0, (row.finish_time > 0 ? row.finish_time : now) - row.submit_time);
}

const MAX_LINKS = 12;

/** Returns the addresses of a task's results, wherever its vendor puts them: https only, each once. */
export function listResultLinks(data: unknown): readonly string[] {
  const found = new Set<string>();
  const walk = (value: unknown, name: string, depth: number): void => {
    if (found.size === MAX_LINKS || depth > 8) return;
    if (typeof value === "string" && /url$/i.test(name) && URL.parse(value)?.protocol === "https:") found.add(value);
    if (typeof value !== "object" || value === null) return;
    for (const [key, member] of Object.entries(value)) walk(member, Array.isArray(value) ? name : key, depth + 1);
  };
  walk(data, "", 0);
  return [...found];
}

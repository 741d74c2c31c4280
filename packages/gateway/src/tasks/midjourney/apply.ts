import { object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import type { DrawingRow } from "./view.ts";

/** Columns that news about a task changes. */
export type DrawingPatch = Pick<
  DrawingRow,
  | "code"
  | "progress"
  | "prompt_en"
  | "state"
  | "submit_time"
  | "start_time"
  | "finish_time"
  | "image_url"
  | "status"
  | "fail_reason"
  | "buttons"
  | "properties"
>;

export const DONE = "100%";
/** Counted from the submission, by the gateway's own clock. */
export const LONGEST_DRAWING_MS = 3_600_000;

/** Computes the change to a task's row from an upstream report. Pure. */
export function applyNews(row: DrawingRow, news: JsonObject): DrawingPatch {
  const status = text(news, "status") ?? row.status;
  const reason = text(news, "failReason") ?? "";
  const isFailed = reason !== "" || status === "FAILURE" || status === "CANCEL";
  const isDone = isFailed || status === "SUCCESS";
  return {
    code: 1,
    progress: isDone ? DONE : openProgress(text(news, "progress"), row.progress),
    ...mergeFacts(row, news),
    status: isFailed ? "FAILURE" : status.slice(0, 20),
    fail_reason: isFailed ? reason || (status === "CANCEL" ? "The drawing was cancelled." : "The drawing failed.") : "",
    ...buildShownColumns(news),
  };
}

/** Ids are texts or numbers. */
export function readId(news: JsonObject): string {
  const { id } = news;
  return typeof id === "string" || typeof id === "number" ? String(id) : "";
}

export function timedOut(row: DrawingRow, now: number): boolean {
  return now - row.created_at * 1000 > LONGEST_DRAWING_MS;
}

type Facts = "prompt_en" | "state" | "submit_time" | "start_time" | "finish_time" | "image_url";

/** Keeps known facts until the report has new ones. */
function mergeFacts(row: DrawingRow, news: JsonObject): Pick<DrawingPatch, Facts> {
  return {
    prompt_en: text(news, "promptEn") ?? row.prompt_en,
    state: text(news, "state") ?? row.state,
    submit_time: time(news["submitTime"], row.submit_time),
    start_time: time(news["startTime"], row.start_time),
    finish_time: time(news["finishTime"], row.finish_time),
    image_url: text(news, "imageUrl") ?? row.image_url,
  };
}

/** Columns that are stored as text, in the form in which they are shown. */
function buildShownColumns(news: JsonObject): Pick<DrawingPatch, "buttons" | "properties"> {
  const properties = object(news, "properties");
  const [finalPrompt, finalZhPrompt] = ["finalPrompt", "finalZhPrompt"].map((name) => text(properties, name) ?? "");
  return {
    buttons: JSON.stringify(Array.isArray(news["buttons"]) ? news["buttons"] : []),
    properties: JSON.stringify({ finalPrompt, finalZhPrompt }),
  };
}

/** Only a final state closes a row. */
function openProgress(progress: string | undefined, known: string): string {
  if (progress === undefined || progress === "") return known;
  return progress === DONE ? "99%" : progress.slice(0, 30);
}

function time(value: unknown, known: number): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : known;
}

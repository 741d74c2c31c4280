import type { ReportQuestion } from "@fairway/wire";
import { rangeName, resolveBounds } from "../../../lib/range.ts";
import { DEFAULTS, readZone, USUAL_RANGE, type Question } from "../api.ts";
import { listAsked, readFields } from "../fields.ts";
import type { Reader } from "../reader.ts";
import { INTERVALS } from "../shape.ts";
import { askSharing } from "../shared-cost/sharing.ts";

const DAY = 86_400;
const MAX_DAYS = 400;
const DAYS = { today: 1, "1h": 1, "24h": 1, "7d": 7, "30d": 30, "90d": 90 } as const;
const RANGES: ReadonlyMap<number, string> = new Map([
  [1, "24h"],
  [7, "7d"],
  [30, "30d"],
  [90, "90d"],
]);

/** Returns what a saved report asks, taken from the question of the page; its period moves with time. */
export function toStored(question: Question, reader: Pick<Reader, "of">, now: number): ReportQuestion {
  const isOfAll = reader.of === "everyone";
  const interval = INTERVALS.find((name) => name === question.interval) ?? "none";
  const texts = {
    tags: question.tags,
    end_user: question.endUser,
    model_name: question.model,
    token_name: question.token,
    group: question.group,
    ...(isOfAll && { username: question.user }),
  };
  const channel = isOfAll && question.channel !== "" ? { channel: Number(question.channel) } : {};
  return {
    by: [...listAsked(readFields(question.by, reader))],
    days: countDays(question, now),
    interval,
    time_zone: readZone(),
    ...askSharing(question, reader),
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")),
    ...channel,
  };
}

function countDays(question: Question, now: number): number {
  const range = rangeName(question.range, USUAL_RANGE);
  if (range !== "custom") return DAYS[range];
  const { from, to } = resolveBounds(range, now, question);
  const days = Math.ceil(((to === 0 ? now : to) - from) / DAY);
  return from === 0 ? DAYS["30d"] : Math.min(MAX_DAYS, Math.max(1, days));
}

/** Returns the question of the page for a saved report. */
export function toShown(stored: ReportQuestion, now: number): Question {
  const range = RANGES.get(stored.days);
  const span = range === undefined ? { range: "custom", from: String(now - stored.days * DAY), to: "" } : { range };
  return {
    ...DEFAULTS,
    by: stored.by.join(","),
    interval: stored.interval ?? "none",
    tags: stored.tags ?? "",
    endUser: stored.end_user ?? "",
    model: stored.model_name ?? "",
    token: stored.token_name ?? "",
    group: stored.group ?? "",
    user: stored.username ?? "",
    channel: stored.channel === undefined ? "" : String(stored.channel),
    shared: stored.shared ?? "",
    split: stored.split ?? "",
    ...span,
  };
}

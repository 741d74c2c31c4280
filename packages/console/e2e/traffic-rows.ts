import { DatabaseSync } from "node:sqlite";
import { insertRows } from "./rows.ts";

// A day of traffic that operators look into: which channel is slow or fails since when, and who is affected.

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Returns a bucket of the statistics for a time in milliseconds. */
function bucket(ms: number): number {
  return Math.ceil(Math.log(ms) / Math.log(1.04));
}

interface Sums extends Record<string, string | number> {
  readonly start: number;
  readonly calls: number;
  readonly errors: number;
  readonly quota: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly latency: string;
  readonly first_token: string;
}

/** Returns the sum of the hours of one day and subject. */
function sumDay(hours: readonly Sums[]): Sums | undefined {
  const [first] = hours;
  const add = (name: "calls" | "errors" | "quota" | "input_tokens" | "output_tokens") =>
    hours.reduce((sum, hour) => sum + hour[name], 0);
  return (
    first && {
      ...first,
      span: DAY,
      start: first.start - (first.start % DAY),
      calls: add("calls"),
      errors: add("errors"),
      quota: add("quota"),
      input_tokens: add("input_tokens"),
      output_tokens: add("output_tokens"),
      latency: mergeCounts(hours.map(({ latency }) => latency)),
      first_token: mergeCounts(hours.map(({ first_token: text }) => text)),
    }
  );
}

function mergeCounts(texts: readonly string[]): string {
  const counts = new Map<number, number>();
  for (const text of texts) {
    const [at = 0, count = 0] = text.split(":").map(Number);
    counts.set(at, (counts.get(at) ?? 0) + count);
  }
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([at, count]) => `${at}:${count}`)
    .join(" ");
}

/** Adds a day of sums: a quick channel, one that is slow since six hours ago, and one that fails; a model of each. */
export function insertTraffic(file: string): void {
  const last = Math.floor(Date.now() / 1000 / HOUR) * HOUR;
  const rows = Array.from({ length: 20 }, (_, hour) => hour).flatMap((hour) => {
    const slowMs = hour < 6 ? 9_000 : 700;
    return [
      { subject: "1", model: "gpt-quick", ms: 300, errors: 0 },
      { subject: "2", model: "gpt-slow", ms: slowMs, errors: 1 },
      { subject: "3", model: "gpt-broken", ms: 500, errors: 15 },
    ].flatMap(({ subject, model, ms, errors }) => {
      const sums = {
        span: HOUR,
        owner_id: 0,
        start: last - hour * HOUR,
        calls: 20,
        errors,
        refused: 0,
        quota: 5_000 * (20 - errors),
        input_tokens: 4_000,
        output_tokens: 2_000,
        latency: `${bucket(ms)}:${20 - errors}`,
        first_token: `${bucket(ms / 3)}:${20 - errors}`,
      };
      return [
        { ...sums, dimension: 3, subject },
        { ...sums, dimension: 5, subject: model },
      ];
    });
  });
  const days = Map.groupBy(rows, ({ dimension, subject, start }) => `${dimension} ${subject} ${start - (start % DAY)}`);
  const sums = [...days.values()].flatMap((hours) => sumDay(hours) ?? []);
  const slow = sums.filter((sum) => sum["dimension"] === 3 && sum["subject"] === "2");
  // A dollar a day, whether the rows begin yesterday or, late in the evening, today.
  const [first] = slow.toSorted((a, b) => a.start - b.start);
  const elapsedDays = Math.max(1, (Date.now() / 1000 - (first?.start ?? 0)) / DAY);
  const spend = (sum: Sums) =>
    slow.includes(sum) ? { ...sum, quota: sum === first ? Math.round(500_000 * elapsedDays) : 0 } : sum;
  insertRows(file, "usage_statistics", [...rows, ...sums.map(spend)]);
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database
    .prepare("update channels set balance = 2.5, balance_updated_time = ? where id = 2")
    .run(Math.floor(Date.now() / 1000));
  database.close();
}

/** Adds three failed calls of two users within five minutes, and one an hour earlier. */
export function insertFailures(file: string): void {
  const now = Math.floor(Date.now() / 1000);
  const failed = (username: string, ago: number, at: number) => ({
    user_id: username === "root" ? 1 : 2,
    username,
    created_at: now - ago,
    type: 5,
    content: "The upstream failed.",
    token_name: "shop",
    token_id: 1,
    model_name: "gpt-broken",
    quota: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    use_time: 1,
    is_stream: 0,
    channel_id: 3,
    group: "default",
    ip: "",
    request_id: `request-${at}`,
    other: JSON.stringify({ error_code: "upstream_error", status_code: 502, outcome: "upstream_error" }),
  });
  const rows = [failed("root", 10, 1), failed("ada", 40, 2), failed("ada", 70, 3), failed("ada", 3_600, 4)];
  insertRows(file, "logs", rows);
}

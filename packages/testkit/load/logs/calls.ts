import type { Contents } from "../api/calls.ts";

/** The p95 of each call must stay below this, in milliseconds. */
export const GOAL_MS = 200;

export interface LogCall {
  readonly section: "Lists" | "Histogram" | "Facets" | "Statistics";
  readonly name: string;
  readonly by: "root" | "user";
  /** Changes with each turn, so that no answer comes from a cache. */
  path(turn: number): string;
}

const DAY = 86_400;
const HOUR = 3_600;
const DIMENSIONS = ["all", "user", "token", "channel", "group", "model"] as const;

/** Every query that the log and the dashboard send, on large tables. */
export function logCalls(contents: Contents): LogCall[] {
  return [...lists(contents), ...histograms(contents), ...facets(contents), ...statistics(contents)];
}

function lists(contents: Contents): LogCall[] {
  const { users, tokens, models, channelIds, requestIds } = contents;
  const list = (name: string, query: (turn: number) => string): LogCall => ({
    section: "Lists",
    name,
    by: "root",
    path: (turn) => `/api/log/?page_size=50&${query(turn)}`,
  });
  const day = (turn: number) => buildDaysQuery(contents, turn, 1);
  return [
    list("first page", () => "p=1"),
    list("last page by cursor", (turn) => `before=${contents.firstLog + 60 + turn}`),
    list("a request id", (turn) => `p=1&request_id=${pick(requestIds, turn)}`),
    list("a user", (turn) => `p=1&username=${pick(users, turn).name}`),
    list("a user in a day", (turn) => `p=1&username=${pick(users, turn).name}&${day(turn)}`),
    list("a token", (turn) => `p=1&token_name=${pick(tokens, turn)}`),
    list("a model in a day", (turn) => `p=1&model_name=${pick(models, turn)}&${day(turn)}`),
    list("models by wildcard in a day", (turn) => `p=1&model_name=gpt%25&${day(turn)}`),
    list("a channel", (turn) => `p=1&channel=${pick(channelIds, turn)}`),
    list("a group in a day", (turn) => `p=1&group=vip&${day(turn)}`),
    list("failed calls", () => "p=1&type=5"),
    list("streams longer than 10 s in a day", (turn) => `p=1&is_stream=true&min_use_time=10&${day(turn)}`),
    { section: "Lists", name: "own, first page", by: "user", path: () => "/api/log/self?p=1&page_size=50" },
  ];
}

function histograms(contents: Contents): LogCall[] {
  const { users, models, channelIds } = contents;
  const plot = (name: string, query: (turn: number) => string): LogCall => ({
    section: "Histogram",
    name,
    by: "root",
    path: (turn) => `/api/log/histogram?${query(turn)}`,
  });
  return [
    plot("an hour", (turn) => buildHourQuery(contents, turn)),
    plot("a day", (turn) => buildDaysQuery(contents, turn, 1)),
    plot("seven days", (turn) => buildDaysQuery(contents, turn, 7)),
    plot("everything", () => ""),
    plot("a user, everything", (turn) => `username=${pick(users, turn).name}`),
    plot("a model, seven days", (turn) => `model_name=${pick(models, turn)}&${buildDaysQuery(contents, turn, 7)}`),
    plot("a channel, a day", (turn) => `channel=${pick(channelIds, turn)}&${buildDaysQuery(contents, turn, 1)}`),
    plot("failed calls, seven days", (turn) => `type=5&${buildDaysQuery(contents, turn, 7)}`),
  ];
}

function facets(contents: Contents): LogCall[] {
  const { users, models } = contents;
  const count = (name: string, query: (turn: number) => string): LogCall => ({
    section: "Facets",
    name,
    by: "root",
    path: (turn) => `/api/log/facets?${query(turn)}`,
  });
  return [
    count("an hour", (turn) => buildHourQuery(contents, turn)),
    count("a day", (turn) => buildDaysQuery(contents, turn, 1)),
    count("everything", () => ""),
    count("a user, everything", (turn) => `username=${pick(users, turn).name}`),
    count("a model, a day", (turn) => `model_name=${pick(models, turn)}&${buildDaysQuery(contents, turn, 1)}`),
    count("failed calls, seven days", (turn) => `type=5&${buildDaysQuery(contents, turn, 7)}`),
  ];
}

function statistics(contents: Contents): LogCall[] {
  const sum = (name: string, by: "root" | "user", query: (turn: number) => string): LogCall => ({
    section: "Statistics",
    name,
    by,
    path: (turn) => `/api/statistics/${by === "user" ? "self/" : ""}usage?${query(turn)}`,
  });
  const whole = contents.days - 1;
  return [
    ...DIMENSIONS.map((by) =>
      sum(
        `by ${by}, a day by the hour`,
        "root",
        (turn) => `by=${by}&interval=${HOUR}&${buildDaysQuery(contents, turn, 1)}`,
      ),
    ),
    ...DIMENSIONS.map((by) =>
      sum(
        `by ${by}, ${whole} days by the day`,
        "root",
        (turn) => `by=${by}&interval=${DAY}&${buildDaysQuery(contents, turn, whole)}`,
      ),
    ),
    sum(
      `own, ${whole} days by the day`,
      "user",
      (turn) => `by=model&interval=${DAY}&${buildDaysQuery(contents, turn, whole)}`,
    ),
  ];
}

/** Returns both ends of whole days before the newest row, different ones each turn. */
function buildDaysQuery({ until, days }: Contents, turn: number, count: number): string {
  const start = Math.floor(until / DAY) * DAY - (count + (turn % Math.max(1, days - count))) * DAY;
  return `start_timestamp=${start}&end_timestamp=${start + count * DAY - 1}`;
}

function buildHourQuery({ until, days }: Contents, turn: number): string {
  const start = Math.floor(until / HOUR) * HOUR - (1 + ((turn * 7) % (days * 24 - 1))) * HOUR;
  return `start_timestamp=${start}&end_timestamp=${start + HOUR - 1}`;
}

function pick<Item>(items: readonly Item[], turn: number): Item {
  const item = items[turn % items.length];
  if (item === undefined) throw new Error("the database is not seeded");
  return item;
}

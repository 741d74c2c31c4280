import fc from "fast-check";
import type { LogQuery } from "../../src/resources/logs/filter.ts";
import { matcherOf } from "../../src/resources/logs/match.ts";
import type { StoredLog } from "../../src/resources/logs/view.ts";
import type { LogRowInput } from "../../src/storage/log-rows.ts";
import { START_SECONDS } from "./store-kit.ts";

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
/** The first second of a day, ten days before the clock of the tests. */
export const BEGIN = START_SECONDS - (START_SECONDS % DAY) - 10 * DAY;
const NAMES = ["ann", "bob", "eve"];

/** A row of the log that properties draw. */
export type DrawnRow = Pick<
  LogRowInput,
  "user_id" | "username" | "type" | "created_at" | "model_name" | "token_name" | "group" | "channel_id" | "other"
>;

/** Few, so that several rows share one. */
export const hourArbitrary = fc.constantFrom<number[]>(0, 1, 23, 24, 70, 71, 72, 73, 120, 168, 200, 239);

export const rowsArbitrary = fc.array(
  fc.record({
    user: fc.nat(2),
    type: fc.constantFrom(1, 2, 2, 2, 2, 3, 4, 5),
    hour: hourArbitrary,
    second: fc.constantFrom(0, 1, 1_800, HOUR - 1),
    model: fc.constantFrom("gpt-4o", "claude", "__proto__", "1", ""),
    token: fc.constantFrom("a", "b", 'with "quotes"', ""),
    group: fc.constantFrom("default", "vip"),
    channel: fc.nat(3),
    status: fc.constantFrom(400, 429, 502),
  }),
  { minLength: 1, maxLength: 60 },
);

type Drawn = typeof rowsArbitrary extends fc.Arbitrary<(infer One)[]> ? One : never;

export function rowOf({ user, type, hour, second, model, token, group, channel, status }: Drawn): DrawnRow {
  return {
    user_id: user + 1,
    username: NAMES[user] ?? "",
    type,
    created_at: BEGIN + hour * HOUR + second,
    model_name: model,
    token_name: token,
    group,
    channel_id: channel,
    other: type === 5 ? `{"status_code":${status},"error_code":"code_${status}","message":"m"}` : "",
  };
}

/** Whether a filter matches, with its period. */
export function isMatch(row: DrawnRow, query: LogQuery): boolean {
  // The filters of these properties name no other column.
  return matcherOf(query)(row as StoredLog);
}

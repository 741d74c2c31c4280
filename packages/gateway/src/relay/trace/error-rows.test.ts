import { describe, expect, it } from "vitest";
import { quietLog } from "../../../test/kit/support.ts";
import { AppError } from "../../lib/app-error.ts";
import type { LogRowInput } from "../../storage/log-rows.ts";
import { createErrorRows, type FailedCall } from "./error-rows.ts";

const owner = { userId: 1, username: "ann", tokenId: 2, tokenName: "build", group: "default" };
const call = (requestId: string, more: Partial<FailedCall> = {}): FailedCall => ({
  requestId,
  path: "/v1/chat/completions",
  ms: 12,
  owner,
  model: "m",
  isStream: false,
  outcome: "client_error",
  channels: [],
  notes: {},
  trace: () => undefined,
  ...more,
});

function kit(options: { ErrorLogEnabled?: boolean; ErrorLogPerMinute?: number } = {}) {
  const rows: LogRowInput[] = [];
  const state = { now: 1_800_000_000_000, lost: 0, isAway: false };
  const errors = createErrorRows({
    options: () => ({ ErrorLogEnabled: true, ErrorLogPerMinute: 2, ...options }),
    insert: (batch) => {
      if (state.isAway) return Promise.reject(new Error("the database is away"));
      rows.push(...batch);
      return Promise.resolve();
    },
    clock: { now: () => state.now },
    log: quietLog,
    onLost: (count) => (state.lost += count),
  });
  return { rows, state, errors };
}

const parseDetail = (row: LogRowInput | undefined) => JSON.parse(row?.other ?? "{}") as Record<string, unknown>;

describe("rows of failed calls", () => {
  it("contain the first of a minute by token and code, and the number of the rest", async () => {
    const { rows, state, errors } = kit();
    for (let at = 0; at < 5; at++) errors.record(call(`a${at}`), new AppError("model_not_found"));
    errors.record(call("b"), new AppError("rate_limit_exceeded"));
    errors.record(call("c", { owner: { ...owner, tokenId: 3 } }), new AppError("model_not_found"));
    state.now += 60_000;
    errors.record(call("d"), new AppError("model_not_found"));
    await errors.stop();
    expect(rows.map(({ request_id }) => request_id)).toEqual(["a0", "a1", "b", "c", "", "d"]);
    for (const row of rows) expect(parseDetail(row)["frt"]).toBe(-1000);
    expect(rows.map((row) => parseDetail(row)["repeated"])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      3,
      undefined,
    ]);
    expect(rows.every(({ quota, type }) => quota === 0 && type === 5)).toBe(true);
  });

  it("are all written where the limit is 0, and none where the option is off", async () => {
    const all = kit({ ErrorLogPerMinute: 0 });
    for (let at = 0; at < 250; at++) all.errors.record(call(`a${at}`), new AppError("model_not_found"));
    await all.errors.stop();
    expect(all.rows).toHaveLength(250);
    const none = kit({ ErrorLogEnabled: false });
    none.errors.record(call("a"), new AppError("model_not_found"));
    await none.errors.stop();
    expect(none.rows).toEqual([]);
  });

  it("wait for the database up to a bound; the rest is counted", async () => {
    const { rows, state, errors } = kit({ ErrorLogPerMinute: 0 });
    state.isAway = true;
    for (let at = 0; at < 5_003; at++) errors.record(call(`a${at}`), new AppError("model_not_found"));
    expect(state.lost).toBe(3);
    await errors.stop();
    expect([rows.length, state.lost]).toEqual([0, 5_003]);
  });

  it("contain no text of an upstream, which may repeat the prompt", async () => {
    const { rows, errors } = kit();
    const failure = { status: 400, type: undefined, code: "bad", param: undefined, retryable: false };
    const quoted = AppError.upstream({ ...failure, message: "you wrote: my secret" });
    errors.record(call("a"), quoted);
    errors.record(call("b"), quoted.asFinal());
    await errors.stop();
    expect(JSON.stringify(rows)).not.toContain("secret");
    expect(rows[0]?.content).toBe("The upstream refused the call with status 400.");
  });
});

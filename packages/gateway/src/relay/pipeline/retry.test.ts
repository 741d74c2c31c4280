import { parseOptions } from "@fairway/wire";
import { expect, test } from "vitest";
import { errorAnswer } from "../../dialects/core/errors.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { Failure } from "../upstream/failure.ts";
import { Retries } from "./retry.ts";
import type { RouteTarget, Selection } from "../selection/types.ts";
import type { RelayRequest } from "../request/request.ts";

const target = {} as RouteTarget;
const failure = (error: AppError, more: Partial<Failure> = {}): Failure => ({
  error,
  outcome: "upstream_error",
  retry: true,
  isTransient: false,
  disable: undefined,
  restMs: undefined,
  isLimited: false,
  isUnsent: false,
  retryOnce: false,
  ...more,
});
const badKey = failure(new AppError("upstream_auth_error"));
const saturated = (restMs: number) =>
  failure(
    AppError.upstream({
      status: 429,
      message: "slow",
      type: undefined,
      code: undefined,
      param: undefined,
      retryable: true,
    }),
    { restMs, isTransient: true },
  );

interface Asked {
  readonly request?: Partial<RelayRequest>;
  readonly isBound?: boolean;
  readonly selection?: Partial<Selection>;
}

const PINNED = { caller: { pinnedChannel: 3 } as RelayRequest["caller"] };

function createTestRetries(
  times: number,
  { request = {}, isBound = false, selection = {} }: Asked = {},
  totalMs = 1_000,
) {
  const snapshot = { options: parseOptions([{ key: "RetryTimes", value: String(times) }]) } as Snapshot;
  const all = {
    next: () => target,
    failed: () => undefined,
    full: () => undefined,
    reopen: () => undefined,
    lastResort: () => undefined,
    unused: () => undefined,
    leave: () => undefined,
    candidates: () => ({ entries: [], open: 0, total: 0 }),
    isExhausted: false,
    restsForMs: undefined,
    ...selection,
  };
  const asked = { spec: { model: "m" }, caller: { group: "vip" }, startedAt: 0, ...request } as RelayRequest;
  return new Retries(asked, snapshot, all, { totalMs, isBound });
}

const shouldRetry = (error: AppError) => errorAnswer("openai", error, "r").headers["x-should-retry"];

test("tells the client not to retry when every channel failed permanently", () => {
  const left = createTestRetries(0);
  left.failed(target, badKey);
  expect(shouldRetry(left.lastError())).toBeUndefined();
  const none = createTestRetries(0, { selection: { isExhausted: true } });
  none.failed(target, badKey);
  const error = none.lastError();
  expect(shouldRetry(error)).toBe("false");
  expect(error).toMatchObject({ code: "upstream_auth_error", status: 502, origin: "upstream" });
  expect(error.message).toBe(badKey.error.message);
  none.failed(target, failure(new AppError("upstream_connect_failed"), { isTransient: true }));
  expect(shouldRetry(none.lastError())).toBeUndefined();
});

test("returns the shortest wait among several 429 answers", () => {
  const retries = createTestRetries(5, { selection: { restsForMs: 9_000 } });
  for (const restMs of [7_000, 3_000, 8_000]) retries.failed(target, saturated(restMs));
  const error = retries.lastError();
  expect(error).toMatchObject({ code: "upstream_saturated", status: 429, retryAfterMs: 3_000 });
  expect(error.message).toContain("group vip");
});

test("the time for attempts begins with the first one, however long the body took", async () => {
  const slow = createTestRetries(1, { request: { startedAt: performance.now() - 60_000 } });
  slow.failed(target, badKey);
  expect(slow.next()).toBe(target);
  const late = createTestRetries(5, {}, 5);
  await new Promise((resolve) => setTimeout(resolve, 20));
  late.failed(target, badKey);
  expect(late.next()).toBeUndefined();
});

test("a request that is bound or pinned to its channel is tried once", () => {
  for (const asked of [{ isBound: true }, { request: PINNED }]) {
    const retries = createTestRetries(5, asked);
    retries.failed(target, badKey);
    expect(retries.next()).toBeUndefined();
  }
});

test("the end of the attempts names why none follows", () => {
  const refused = failure(badKey.error, { retry: false });
  const ended = (times: number, last: Failure, asked: Asked = {}) => {
    const retries = createTestRetries(times, asked);
    for (let attempt = 0; attempt <= times; attempt++) {
      retries.failed(target, last);
      if (!retries.next()) break;
    }
    return retries.ended;
  };
  expect(ended(0, badKey)).toBe("retries_off");
  expect(ended(2, badKey)).toBe("retries_used");
  expect(ended(2, failure(badKey.error, { retryOnce: true }))).toBe("retries_used");
  expect(ended(2, refused)).toBe("not_retryable");
  expect(ended(2, failure(badKey.error, { retry: false, outcome: "timeout" }))).toBe("too_late");
  expect(ended(2, badKey, { isBound: true })).toBe("bound");
  expect(ended(2, badKey, { request: PINNED })).toBe("bound");
});

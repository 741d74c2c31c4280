import { expect, expectTypeOf, test } from "vitest";
import { AppError } from "../../lib/app-error.ts";
import { CallProgress } from "./call-progress.ts";
import type { FailedAttempt } from "./traced-route.ts";
import type { RelayRequest } from "./request.ts";

const channels = { candidates: () => ({ entries: [], open: 0, total: 0 }) };
const failed = (id: number) =>
  ({
    target: { channel: { id }, keyIndex: 0, upstreamModel: "m" },
    startedAt: 0,
    headAt: undefined,
    status: 500,
    upstreamHost: "",
    upstreamRequestId: undefined,
  }) satisfies FailedAttempt["attempt"];
const failure = { error: new AppError("upstream_timeout"), outcome: "timeout" } as const;

test("a request is not changed after it was read", () => {
  expectTypeOf<RelayRequest>().toEqualTypeOf<Readonly<RelayRequest>>();
});

test("what a refused model noted does not replace the notes of the model before", () => {
  const progress = new CallProgress();
  progress.chose(channels);
  progress.continued(true);
  progress.exhausted("balance");
  const restore = progress.askedModel();
  expect([progress.isAffine, progress.usedUp]).toEqual([false, undefined]);
  progress.chose({ ...channels });
  restore();
  expect(progress.channels).toBe(channels);
  expect([progress.isAffine, progress.usedUp]).toEqual([true, "balance"]);
});

test("a model that was only looked for does not replace the one that serves", () => {
  const progress = new CallProgress();
  const note = { from: "a", reason: "error", hops: [] };
  progress.lookedFurther(note, "b");
  progress.lookedFurther({ ...note, reason: "context" }, undefined);
  expect([progress.model, progress.fallback?.reason]).toEqual(["b", "context"]);
});

test("only the last failure says why no further channel was tried", () => {
  const progress = new CallProgress();
  progress.gaveUp("none_left");
  expect(progress.failures).toEqual([]);
  progress.failed(failed(1), failure);
  progress.failed(failed(2), failure);
  progress.gaveUp("retries_used");
  expect(progress.failures.map(({ attempt, end }) => [attempt.target.channel.id, end])).toEqual([
    [1, undefined],
    [2, "retries_used"],
  ]);
});

test("the first reason to end a call counts", () => {
  const progress = new CallProgress();
  const first = new AppError("server_shutdown");
  progress.stop(first);
  progress.stop(new AppError("insufficient_quota"));
  expect(progress.stopped).toBe(first);
});

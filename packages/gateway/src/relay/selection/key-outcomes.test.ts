import { expect, test } from "vitest";
import { createKeyOutcomes, DELIVERED, describeTest } from "./key-outcomes.ts";
import { createSharedHealth } from "./shared-health.ts";

const refused = { kind: "refused", message: "Incorrect API key provided." } as const;

test("replicas share how the latest call with a key ended, and publish only a change", () => {
  const sent: string[] = [];
  const replica = () => createSharedHealth({ clock: { now: () => 1_000 }, onBreaker: () => {}, onAffinity: () => {} });
  const [a, b] = [replica(), replica()];
  a.publishBy((text) => void sent.push(text));
  for (const outcome of [refused, refused, DELIVERED, DELIVERED, refused]) a.keyOutcomes.observe(7, 1, outcome);
  expect(sent).toHaveLength(3);
  for (const text of sent) b.receive(text);
  expect(b.keyOutcomes.find(7, 1)).toEqual(refused);
  expect(b.keyOutcomes.find(7, 0)).toBeUndefined();
  for (const text of [
    '{"channel":7,"key":1,"outcome":"odd","message":""}',
    '{"channel":7,"key":1,"outcome":"delivered"}',
  ])
    b.receive(text);
  expect(b.keyOutcomes.find(7, 1)).toEqual(refused);
});

test("a message has a bounded length", () => {
  const outcomes = createKeyOutcomes();
  outcomes.observe(1, 0, { kind: "failed", message: "x".repeat(5_000) });
  expect(outcomes.find(1, 0)?.message).toHaveLength(200);
});

test.each([401, 402, 403])("a test that the upstream refuses with %i is a refusal of the key", (status) => {
  const upstreamError = { class: "bad_request", status } as const;
  expect(describeTest({ isOk: false, message: "no", key: undefined, upstreamError })?.kind).toBe("refused");
});

test("other failed tests say that the test failed, and one that cannot be asked says nothing", () => {
  const failed = { isOk: false, message: "no", key: undefined, upstreamError: undefined };
  const filtered = { class: "content_filter", status: 403 } as const;
  expect(describeTest(failed)?.kind).toBe("failed");
  expect(describeTest({ ...failed, upstreamError: filtered })?.kind).toBe("failed");
  expect(describeTest({ ...failed, key: "channel_test_unsuitable" })).toBeUndefined();
  expect(describeTest({ ...failed, isOk: true })).toEqual(DELIVERED);
});

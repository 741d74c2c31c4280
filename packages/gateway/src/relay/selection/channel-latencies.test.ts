import { expect, test } from "vitest";
import { createChannelLatencies } from "./channel-latencies.ts";

function createKit() {
  let now = 1_000_000;
  const latencies = createChannelLatencies({ now: () => now });
  const channels = [{ id: 1 }, { id: 2 }, { id: 3 }];
  return {
    latencies,
    pass: (ms: number) => void (now += ms),
    estimate: (kind: "stream" | "whole" = "stream") =>
      channels.map(({ id }) => latencies.compare(channels, "m", kind)(id)),
  };
}

test("nothing is known before the first measurement, and then unknown channels count as the median", () => {
  const { latencies, estimate } = createKit();
  expect(estimate()).toEqual([undefined, undefined, undefined]);
  latencies.observe(1, "m", "stream", 100);
  expect(estimate()).toEqual([100, 100, 100]);
  latencies.observe(2, "m", "stream", 900);
  expect(estimate()).toEqual([100, 900, 100]);
});

test("a new measurement weighs a fifth", () => {
  const { latencies, estimate } = createKit();
  latencies.observe(1, "m", "stream", 100);
  latencies.observe(1, "m", "stream", 200);
  expect(estimate()[0]).toBe(120);
});

test("streams, whole answers and models are measured apart", () => {
  const { latencies, estimate } = createKit();
  latencies.observe(1, "m", "whole", 20);
  latencies.observe(1, "other", "stream", 5);
  expect(estimate("stream")).toEqual([undefined, undefined, undefined]);
  expect(estimate("whole")[0]).toBe(20);
});

test("in silence an average goes to the median, half of the way each minute, and is forgotten after five", () => {
  const { latencies, pass, estimate } = createKit();
  latencies.observe(2, "m", "stream", 900);
  pass(60_000);
  latencies.observe(1, "m", "stream", 100);
  expect(estimate()).toEqual([100, 500, 100]);
  pass(241_000);
  latencies.observe(1, "m", "stream", 100);
  expect(estimate()).toEqual([100, 100, 100]);
});

test("a channel with another upstream is unknown again", () => {
  const { latencies, estimate } = createKit();
  latencies.observe(1, "m", "stream", 100);
  latencies.observe(2, "m", "stream", 900);
  latencies.forget(2);
  expect(estimate()).toEqual([100, 100, 100]);
});

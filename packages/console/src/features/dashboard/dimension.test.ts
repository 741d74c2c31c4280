import type { UsageStatistics } from "@fairway/wire";
import { expect, test } from "vitest";
import { buildFigures, formatSubjectLabel, listDimensions, findLogPart, metricText } from "./dimension.ts";

const NONE = { count: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const sums = { calls: 4, errors: 1, refused: 0, quota: 9, input_tokens: 3, output_tokens: 2, first_token: NONE };
const subject = { ...sums, latency: { ...NONE, count: 3, p95: 120 } };

const answer: UsageStatistics = {
  by: "user",
  start_timestamp: 0,
  end_timestamp: 7_199,
  interval: 3_600,
  complete_until: 7_199,
  total: subject,
  subjects: [
    { ...subject, subject: "5", name: "ada", points: [{ ...subject, start: 3_600 }] },
    { ...subject, subject: "9", name: "9", points: [] },
  ],
  more_subjects: 0,
  total_points: [],
};

test("calls of one user are not grouped by user, channel or group", () => {
  expect(listDimensions(true)).toEqual(["model", "token"]);
  expect(listDimensions(false)).toContain("channel");
});

test("subjects without a name are shown by their id", () => {
  const figures = buildFigures(answer);
  expect([formatSubjectLabel("user", "5", figures), formatSubjectLabel("user", "9", figures)]).toEqual(["ada", "#9"]);
  expect(formatSubjectLabel("model", "gpt-4o", figures)).toBe("gpt-4o");
  expect(figures.get("5")).toEqual({ name: "ada", calls: 4, errors: 1, p95: 120 });
});

test("the log is filtered by what it knows", () => {
  const figures = buildFigures(answer);
  expect(findLogPart("user", "5", figures)).toEqual({ user: "ada" });
  expect(findLogPart("user", "9", figures)).toBeUndefined();
  expect(findLogPart("token", "9", figures)).toEqual({ tokenId: "9" });
  expect(findLogPart("channel", "9", figures)).toEqual({ channel: "9" });
  expect(findLogPart("group", "vip", figures)).toEqual({ group: "vip" });
  expect(findLogPart("model", "gpt-4o", figures)).toEqual({ model: "gpt-4o" });
});

test("what a channel counts is called attempts, and everything else requests", () => {
  expect(metricText("requests", "channel")).toBe("attempts");
  expect(metricText("requests", "model")).toBe("requests");
  expect(metricText("quota", "channel")).toBe("quota");
});

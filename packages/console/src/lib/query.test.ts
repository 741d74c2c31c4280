import { expect, test } from "vitest";
import { HttpProblem, OfflineProblem } from "./problems.ts";
import { queryClient, repeatWhenAway } from "./query.ts";

const after = (error: unknown) => ({ state: { error } });
const AWAY = new HttpProblem(503, "", { retryAfter: 5 });

test("a query asks again when the server says so, as long as a part of it is away", () => {
  const interval = repeatWhenAway(false);
  expect(interval(after(AWAY))).toBe(5_000);
  expect(interval(after(null))).toBe(false);
  expect(interval(after(new HttpProblem(503, "")))).toBe(false);
  expect(interval(after(new HttpProblem(429, "", { retryAfter: 5 })))).toBe(false);
  expect(repeatWhenAway(15_000)(after(null))).toBe(15_000);
  expect(repeatWhenAway(15_000)(after(AWAY))).toBe(5_000);
});

test("a query is not repeated before that time", () => {
  const { retry } = queryClient.getDefaultOptions().queries ?? {};
  if (typeof retry !== "function") expect.unreachable();
  else {
    expect(retry(0, AWAY)).toBe(false);
    expect(retry(0, new HttpProblem(503, ""))).toBe(true);
    expect(retry(0, new OfflineProblem(undefined))).toBe(true);
    expect(retry(2, new OfflineProblem(undefined))).toBe(false);
  }
});

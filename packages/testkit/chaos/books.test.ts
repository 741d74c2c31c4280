// The audit must find the differences that it is made to find.
import { expect, test } from "vitest";
import { compare, disagreement } from "./books.ts";
import type { Completion, Outcome } from "./client.ts";
import { PRICE } from "./world.ts";

const outcome = (id: string, completion: Completion): Outcome => ({
  ask: { kind: "plain", model: "plain", isStream: false },
  completion,
  replica: "replica-0-0",
  id,
  status: completion === "refused" ? 503 : 200,
  reason: "",
  startedAt: 0,
  endedAt: 1,
});

test("a delivered answer needs a ledger row and a log row of its price", () => {
  const outcomes = [outcome("a", "delivered"), outcome("b", "delivered"), outcome("c", "delivered")];
  const booked = new Map([
    ["a", PRICE],
    ["b", PRICE],
    ["c", PRICE + 1],
  ]);
  const logged = new Map([
    ["a", PRICE],
    ["c", PRICE],
  ]);
  const { lost, wrong } = compare([...outcomes, outcome("d", "delivered")], booked, logged);
  expect(lost.map((line) => line[0])).toEqual(["b", "d", "d"]);
  expect(wrong).toEqual([expect.stringContaining(`charged ${PRICE + 1}`)]);
});

test("a refused request costs nothing, a cut one may", () => {
  const booked = new Map([
    ["a", 1],
    ["b", 1],
    ["c", 0],
  ]);
  const outcomes = [outcome("a", "refused"), outcome("b", "cut"), outcome("c", "refused")];
  expect(compare(outcomes, booked, new Map()).wrong).toEqual([expect.stringMatching(/^a .*charged 1/)]);
});

test("an account whose columns do not follow from its ledger is named", () => {
  const before = { quota: 1_000, used: 0, requests: 0, booked: 1_000, charged: 0, settled: 0, logged: 0 };
  const after = { quota: 900, used: 100, requests: 1, booked: 900, charged: -100, settled: 1, logged: 100 };
  expect(disagreement("users:1", after, before)).toEqual([]);
  for (const column of ["quota", "used", "requests", "logged"] as const)
    expect(disagreement("users:1", { ...after, [column]: after[column] + 1 }, before)).toHaveLength(1);
  const limited = { remain: 400, used: 100, unlimited: 0, charged: -100, logged: 100 };
  const start = { remain: 500, used: 0, unlimited: 0, charged: 0, logged: 0 };
  expect(disagreement("tokens:1", limited, start)).toEqual([]);
  expect(disagreement("tokens:1", { ...limited, remain: 500 }, start)).toHaveLength(1);
});

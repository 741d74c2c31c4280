import { ApiProblem, MESSAGE_CODES } from "@fairway/wire";
import { describe, expect, it } from "vitest";
import { CliError } from "./exit.ts";
import { toExitCode, findHint } from "./problem.ts";

describe("toExitCode", () => {
  it.each([
    [new CliError("x", 8), 8],
    [new ApiProblem("x", { status: 0 }), 7],
    [new ApiProblem("x", { status: 401, code: "AU1" }), 4],
    [new ApiProblem("x", { status: 200, code: "AU7" }), 6],
    [new ApiProblem("x", { status: 200, code: "L3" }), 4],
    [new ApiProblem("x", { status: 200, code: "K5" }), 6],
    [new ApiProblem("x", { status: 200, code: "G8" }), 5],
    [new ApiProblem("x", { status: 200, code: "P9" }), 2],
    [new ApiProblem("x", { status: 200, code: "CH8" }), 3],
    [new ApiProblem("x", { status: 200, code: "CH20" }), 5],
    [new ApiProblem("x", { status: 409, code: "M1" }), 5],
    [new ApiProblem("x", { status: 200, code: "M2" }), 2],
    [new ApiProblem("x", { status: 200, code: "D4" }), 3],
    [new ApiProblem("x", { status: 200, code: "U14" }), 6],
    [new ApiProblem("x", { status: 429 }), 7],
    [new ApiProblem("x", { status: 500 }), 7],
    [new ApiProblem("x", { status: 200 }), 1],
    [new Error("x"), 1],
  ])("%#", (thrown, code) => expect(toExitCode(thrown)).toBe(code));
});

/** Names that say what a script has to distinguish: what is missing, and what is there already. */
const NAMED = [
  [/_not_found$/, 3],
  [/_(exists|taken|changed|reused|running|managed|limit|limit_reached|has_batches|over)$|already|_done$/, 5],
  [/(^|_)too_many(_|$)/, 5],
  [/_(not_permitted|right_missing|too_high)$|_cannot_be_/, 6],
] as const;

/** A group is a value of a flag; who signs in too often is not signed in. */
const OTHERS: Readonly<Record<string, number>> = {
  group_not_found: 2,
  too_many_requests: 7,
  too_many_failed_logins: 4,
};

it("gives every code of the gateway that names a conflict, a missing row or a missing right its number", () => {
  const codes = Object.entries(MESSAGE_CODES).flatMap(([key, code]) => {
    const exit = OTHERS[key] ?? NAMED.find(([name]) => name.test(key))?.[1];
    const status = exit === 7 ? 429 : 200;
    return exit === undefined ? [] : [{ key, exit, found: toExitCode(new ApiProblem("x", { status, code })) }];
  });
  expect(codes.length).toBeGreaterThan(50);
  expect(codes.filter(({ exit, found }) => found !== exit)).toEqual([]);
});

it("names the cure where there is one", () => {
  expect(findHint(new ApiProblem("x", { status: 401 }))).toContain("fairway login");
  expect(findHint(new ApiProblem("x", { status: 429, retryAfter: "3" }))).toBe("try again in 3 s");
  expect(findHint(new ApiProblem("x", { status: 503, retryAfter: "5" }))).toBe("try again in 5 s");
  expect(findHint(new Error("x"))).toBeUndefined();
});

import { ApiProblem } from "@fairway/wire";
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

it("names the cure where there is one", () => {
  expect(findHint(new ApiProblem("x", { status: 401 }))).toContain("fairway login");
  expect(findHint(new ApiProblem("x", { status: 429, retryAfter: "3" }))).toBe("try again in 3 s");
  expect(findHint(new Error("x"))).toBeUndefined();
});

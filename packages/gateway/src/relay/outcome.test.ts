import { expect, it } from "vitest";
import { AppError } from "../lib/app-error.ts";
import { outcomeOf } from "./outcome.ts";

const upstream = (status: number) =>
  AppError.upstream({ status, message: "no", type: undefined, code: undefined, param: undefined, retryable: false });

it.each([
  ["what an upstream refuses for the client's sake", upstream(400), "client_error"],
  ["what it refuses for its size", upstream(413), "client_error"],
  ["a model that an upstream does not know", upstream(404), "upstream_error"],
  ["an upstream that fails", upstream(503), "upstream_error"],
  ["too many calls for an upstream", upstream(429), "upstream_error"],
  ["a body that is none", new AppError("invalid_request"), "client_error"],
])("%s", (_what, error, outcome) => {
  expect(outcomeOf(error)).toBe(outcome);
});

import { expect, it } from "vitest";
import { AppError } from "../../lib/app-error.ts";
import { classifyOutcome } from "./outcome.ts";

const upstream = (status: number, code?: string) =>
  AppError.upstream({ status, message: "no", type: undefined, code, param: undefined, retryable: false });

it.each([
  ["what an upstream refuses for the client's sake", upstream(400), "client_error"],
  ["what it refuses for its size", upstream(413), "client_error"],
  ["a model that an upstream does not know", upstream(404), "upstream_error"],
  ["one that calls it as the gateway would", upstream(404, "model_not_found"), "upstream_error"],
  ["one that limits the operator's key", upstream(429, "rate_limit_exceeded"), "upstream_error"],
  ["an upstream that is slow", new AppError("upstream_timeout"), "timeout"],
  ["a name that no channel has", new AppError("model_not_found"), "model_not_found"],
  ["a model whose channels are all off", new AppError("no_available_channel"), "no_channel"],
  ["a client that left", new AppError("client_closed_request"), "client_abort"],
  ["a stop of this process", new AppError("server_shutdown"), "server_shutdown"],
  ["a key beyond its rate", new AppError("rate_limit_exceeded"), "rate_limited"],
  ["an upstream that fails", upstream(503), "upstream_error"],
  ["too many calls for an upstream", upstream(429), "upstream_error"],
  ["a body that is none", new AppError("invalid_request"), "client_error"],
])("%s", (_what, error, outcome) => {
  expect(classifyOutcome(error)).toBe(outcome);
});

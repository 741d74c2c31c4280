import { expect, it } from "vitest";
import { createRequestSpec, createChannelRecord } from "../../../test/kit/provider-kit.ts";
import { upstreamError } from "../../providers/core/errors/upstream-error.ts";
import { refusedByUpstream } from "../upstream/failure.ts";
import type { RelayRequest } from "../request/request.ts";
import { learnUsageRefusal, refusesUsageSwitch } from "./usage-switch.ts";

const HOUR = 3_600_000;

function failure(message: string, status = 400) {
  return refusedByUpstream(upstreamError({ class: "bad_request", status, message }), createChannelRecord(), 0);
}

function request(stream: boolean): RelayRequest {
  return { spec: createRequestSpec({ stream }) } as RelayRequest;
}

it("remembers for an hour which channel rejects the usage option, by its address", () => {
  const channel = createChannelRecord({ id: 901, baseUrl: "https://a.example.com" });
  const refused = failure("stream_options is not supported");
  expect(refusesUsageSwitch(channel, 1)).toBe(false);
  expect(learnUsageRefusal(refused, request(true), channel, 1)).toBe(true);
  expect(refusesUsageSwitch(channel, HOUR)).toBe(true);
  expect(refusesUsageSwitch({ ...channel, baseUrl: "https://b.example.com" }, HOUR)).toBe(false);
  expect(refusesUsageSwitch(channel, HOUR + 2)).toBe(false);
});

it("learns only from streams and from errors that name the option", () => {
  const channel = createChannelRecord({ id: 902 });
  const refused = failure("Extra inputs are not permitted: stream_options.include_usage", 422);
  expect(learnUsageRefusal(failure("messages is required"), request(true), channel, 1)).toBe(false);
  expect(learnUsageRefusal(refused, request(false), channel, 1)).toBe(false);
  expect(learnUsageRefusal(failure("stream_options", 500), request(true), channel, 1)).toBe(false);
  expect(learnUsageRefusal(refused, request(true), channel, 1)).toBe(true);
  expect(learnUsageRefusal(refused, request(true), channel, 1)).toBe(false);
});

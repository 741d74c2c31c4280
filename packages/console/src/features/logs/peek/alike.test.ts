import { expect, test } from "vitest";
import { buildAlikeAddress, buildAlikeFilter } from "./alike.ts";

test("calls that failed alike have the same code and channel, within five minutes", () => {
  const filter = buildAlikeFilter({ channel: 7, created_at: 10_000 }, { error_code: "upstream_timeout" });
  expect(buildAlikeAddress(filter)).toBe(
    "/log?type=5&channel=7&code=upstream_timeout&range=custom&from=9700&to=10300&facets=1",
  );
});

test("a call without a channel or a code is compared by what it has", () => {
  const filter = buildAlikeFilter({ channel: 0, created_at: 10_000 }, { error_code: undefined });
  expect(filter).toMatchObject({ channel: "", code: "", type: "5" });
});

import { describe, expect, it } from "vitest";
import { parseExpiry } from "./token.ts";

describe("parseExpiry", () => {
  it.each([
    ["never", -1],
    ["30d", 1_000 + 30 * 86_400],
    ["12h", 1_000 + 12 * 3_600],
    ["2027-01-31T00:00:00Z", 1_801_353_600],
  ])("%s", (text, at) => expect(parseExpiry(text, 1_000)).toBe(at));

  it.each(["soon", "5", "in 12 days", "99999999999d", "31.01.2027"])("refuses %j", (text) =>
    expect(() => parseExpiry(text, 0)).toThrow(/is no time/),
  );

  it.each(["0d", "2020-01-01", "2026-11-23T07:00:00Z"])("refuses %s, which has passed", (text) =>
    expect(() => parseExpiry(text, 1_795_419_000)).toThrow(/has passed/),
  );
});

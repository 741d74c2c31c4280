import * as wire from "../../packages/wire/src/index.ts";
import { describe, expect, test } from "vitest";
import { api } from "./api.ts";

describe("the page of the management API", () => {
  const text = api();

  test("has every call that the description for machines has, with its refusals", () => {
    const calls = Object.values<unknown>(wire).filter(
      (value): value is wire.Endpoint => typeof value === "object" && value !== null && "access" in value,
    );
    expect(calls.length).toBeGreaterThan(100);
    for (const { method, path, fails } of calls) {
      expect(text).toContain(`### ${method} ${path}\n`);
      for (const key of fails) expect(text).toContain(`\`${wire.MESSAGE_CODES[key]}\` ${wire.MESSAGES[key].text}`);
    }
  });

  test("explains nearly every field, and the closest comment wins", () => {
    const rows = text.split("\n").filter((line) => /^\| (?:(?:path|query|body) \| )?`/.test(line));
    const silent = rows.filter((line) => line.endsWith("|  |"));
    expect(silent.length / rows.length).toBeLessThan(0.05);
    expect(text).toContain("| body | `original_quota` | number | The balance that the form began with");
    expect(text).toContain("| `response_time` | integer | Milliseconds of the last test; 0 = never tested. |");
  });
});

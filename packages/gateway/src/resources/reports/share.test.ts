import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSharing, shareCosts, type Sharing } from "./share.ts";

const BY = ["tag:app", "model"];
const share = (split: string, shared = "app=platform") => readSharing({ shared, split }, BY) as Sharing;
const row = (value: string, quota: number, start = 0) => ({ start, value, quota });

describe("the cost of a platform that two applications use", () => {
  // Own X and Y, shared Z.
  const rows = [row("x", 300), row("y", 100), row("platform", 101)];
  const total = (split: string) => shareCosts(rows, share(split)).map((part, at) => (rows[at]?.quota ?? 0) + part);

  it("is divided by the own cost, evenly, or by weights, and adds up to the unit", () => {
    expect(total("")).toEqual([300 + 76, 100 + 25, 0]);
    expect(total("proportional")).toEqual(total(""));
    expect(total("even")).toEqual([300 + 51, 100 + 50, 0]);
    expect(total("x=2|y=1")).toEqual([300 + 67, 100 + 34, 0]);
    expect(total("y=1")).toEqual([300, 100 + 101, 0]);
  });

  it("can be that of the calls without the tag, and of several values", () => {
    const all = [row("x", 10), row("", 5), row("platform", 7), row("y", 10)];
    expect(shareCosts(all, share("even", "app=platform|app=~none"))).toEqual([6, -5, -7, 6]);
  });

  it("is divided within each interval, and stays where no one is to share with", () => {
    const all = [row("x", 10, 1), row("platform", 4, 1), row("platform", 9, 2), row("y", 1, 3)];
    expect(shareCosts(all, share(""))).toEqual([4, -4, 0, 0]);
    expect(shareCosts([row("x", 10), row("platform", 4)], share("unknown=3"))).toEqual([0, 0]);
  });

  it("goes to the rows of a value by their cost, also where these cost nothing", () => {
    expect(shareCosts([row("x", 30), row("x", 10), row("platform", 8)], share("even"))).toEqual([6, 2, -8]);
    expect(shareCosts([row("x", 0), row("x", 0), row("platform", 3)], share("even"))).toEqual([2, 1, -3]);
  });
});

it("adds up for any rows and any split", () => {
  const rows = fc.array(
    fc.record({
      start: fc.constantFrom(1, 2),
      value: fc.constantFrom("", "x", "y", "z", "platform", "~other"),
      quota: fc.integer({ min: 0, max: 10_000_000_000_000 }),
    }),
    { maxLength: 30 },
  );
  const split = fc.constantFrom("", "even", "x=3|y=7|z=1", "z=1000000|~none=1");
  fc.assert(
    fc.property(rows, split, (all, how) => {
      const parts = shareCosts(all, share(how));
      expect(parts.reduce((sum, part) => sum + BigInt(part), 0n)).toBe(0n);
      for (const [at, part] of parts.entries()) {
        const own = all[at]?.quota ?? 0;
        if (all[at]?.value === "platform") expect([0, -own]).toContain(part === 0 ? 0 : part);
        else expect(part).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

it.each([
  ["", "even", "split"],
  ["platform", "", "shared"],
  ["app=", "", "shared"],
  ["app=platform|env=prod", "", "shared"],
  ["env=prod", "", "shared"],
  ["app=platform", "by magic", "split"],
  ["app=platform", "x=-1", "split"],
  ["app=platform", "x=1.5", "split"],
  ["app=platform", "platform=1", "split"],
])("%s by %s is refused, and the field is named", (shared, split, field) => {
  expect(() => readSharing({ shared, split }, BY)).toThrow(expect.objectContaining({ field }));
});

// The bench must work: a short run, whose figures mean nothing but whose calls must all succeed.
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { fitSlope, SOAK_KINDS } from "../../packages/testkit/load/soak.ts";
import { run } from "../process.ts";
import { parseSettings } from "./soak.ts";

const BENCH = join(import.meta.dirname, "bench.ts");

test("a quick soak makes calls of every kind and prints the slope next to the goals", async () => {
  const { code, output } = await run(process.execPath, [BENCH, "--soak", "2", "--quick", "--embedded"]);
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/\| MiB an hour, least squares \| 1 \| -?[\d.]+ ± [\d.]+ \|/),
  ]);
  for (const name of [...SOAK_KINDS.map(({ name: kind }) => kind), "upload", "sign-in"])
    expect(output).toMatch(new RegExp(`${name} [1-9]`));
}, 300_000);

describe("the length of a soak", () => {
  it.each([
    [["--soak", "60"], { minutes: 60, isQuick: false, isEmbedded: false }],
    [["--soak=5", "--embedded", "--quick"], { minutes: 5, isQuick: true, isEmbedded: true }],
  ])("%j is read", (args, settings) => {
    expect(parseSettings(args)).toEqual(settings);
  });

  it.each([[["--soak"]], [["--soak", "--embedded"]], [["--soak="]]])("%j names none", (args) => {
    expect(() => parseSettings(args)).toThrow(
      "--soak needs a whole number of minutes from 1 to 1440, such as --soak 60; none was given",
    );
  });

  it.each(["0", "1.5", "1441", "an hour", "1e2"])("%s is refused in a sentence", (text) => {
    expect(() => parseSettings([`--soak=${text}`])).toThrow(`from 1 to 1440, such as --soak 60; "${text}" is none`);
  });

  it("is refused by the command", async () => {
    const { code, output } = await run(process.execPath, [BENCH, "--soak", "forever"]);
    expect([code, output.trim()]).toEqual([
      1,
      expect.stringMatching(/^--soak needs a whole number of minutes.*"forever" is none$/),
    ]);
  });
});

describe("the slope", () => {
  const at = (minute: number, residentMib: number) => ({ seconds: minute * 60, residentMib });

  it("is that of a line, without an error", () => {
    const samples = [0, 15, 30, 45].map((minute) => at(minute, 200 + minute / 30));
    expect(fitSlope(samples).mibPerHour).toBeCloseTo(2, 9);
    expect(fitSlope(samples).error).toBeCloseTo(0, 6);
  });

  it("has an error where values swing", () => {
    const { mibPerHour, error } = fitSlope([0, 1, 2, 3].map((minute) => at(minute, minute % 2 === 0 ? 210 : 190)));
    expect(Math.abs(mibPerHour)).toBeLessThan(error);
  });

  it("is none of two samples", () => {
    expect(fitSlope([at(0, 1), at(1, 2)]).mibPerHour).toBeNaN();
  });
});

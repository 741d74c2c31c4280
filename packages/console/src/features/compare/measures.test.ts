import type { UsageSubject } from "@fairway/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { chooseLines, MAX_LINES, MEASURES, parseSort, readMeasure, sortSubjects } from "./measures.ts";

const SECONDS = 3_600;

const percentiles = fc
  .record({ count: fc.nat(3), p50: fc.nat(9_000), p95: fc.nat(90_000) })
  .map((one) => ({ ...one, p90: one.p95, p99: one.p95 }));

const figures = fc
  .record({
    calls: fc.nat(4),
    quota: fc.nat(1_000),
    input_tokens: fc.nat(1_000),
    output_tokens: fc.nat(1_000),
    latency: percentiles,
    first_token: percentiles,
  })
  .chain((one) => fc.nat(one.calls).map((errors) => ({ ...one, errors, refused: 0 })));

const subjects: fc.Arbitrary<UsageSubject[]> = fc
  .array(figures, { maxLength: 20 })
  .map((all) =>
    all.map((one, at) => ({ ...one, subject: String(at), name: `c${at}`, points: [{ ...one, start: 0 }] })),
  );

test("every measure sorts all rows in both directions, and rows without a measurement are last", () => {
  fc.assert(
    fc.property(subjects, fc.constantFrom(...MEASURES), fc.boolean(), (rows, key, isDescending) => {
      const sorted = sortSubjects(rows, { key, isDescending }, SECONDS);
      expect(sorted.map(({ subject }) => subject).toSorted()).toEqual(rows.map(({ subject }) => subject).toSorted());
      const values = sorted.map((one) => readMeasure(one, key, SECONDS));
      const known = values.filter((value) => value !== undefined);
      expect(values.slice(0, known.length)).toEqual(known);
      const inOrder = known.toSorted((a, b) => (isDescending ? b - a : a - b));
      expect(known).toEqual(inOrder);
    }),
  );
});

test("the chart draws the first rows that were measured, and no more than the eye separates", () => {
  fc.assert(
    fc.property(subjects, fc.constantFrom(...MEASURES), (rows, key) => {
      const lines = chooseLines(rows, key, SECONDS);
      expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
      for (const line of lines) expect(readMeasure(line, key, SECONDS)).toBeDefined();
    }),
  );
});

test("a sort of the address that means nothing shows the slowest first", () => {
  expect(parseSort("-errors")).toEqual({ key: "errors", isDescending: true });
  expect(parseSort("name")).toEqual({ key: "name", isDescending: false });
  expect(parseSort("-planet")).toEqual({ key: "p95", isDescending: true });
});

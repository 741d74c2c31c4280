import { expect, test } from "vitest";
import { readBatch } from "./batch.ts";

test("the row of a batch has facts, the row of a call has none", () => {
  const batch = { items: 4, succeeded: 3, failed: 1, input_ratio: 0.5, output_ratio: 0.5, saved: 12, id: "batch_1" };
  expect(readBatch(JSON.stringify({ batch }))).toMatchObject({ items: 4, failed: 1, expired: 0, saved: 12 });
  for (const other of ["", "{}", '{"batch":1}', '{"batch":{"items":4}}', "not json"])
    expect(readBatch(other)).toBeUndefined();
});

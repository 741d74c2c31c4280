import { expect, test } from "vitest";
import { findArrowsUp, findFaults, readPart, ROOMS } from "./rooms.ts";

test("a part is the first folder of a path, or the file without its extension", () => {
  expect(readPart("pipeline/reservation/reserve.ts")).toBe("pipeline");
  expect(readPart("types.ts")).toBe("types");
});

test("an import of a later part is an arrow up, an import of an earlier part and of the same part is none", () => {
  const up = { from: "body/read.ts", to: "pipeline/plan.ts" };
  const imports = [up, { from: "pipeline/plan.ts", to: "body/read.ts" }, { from: "body/a.ts", to: "body/b.ts" }];
  expect(findArrowsUp(["body", "pipeline"], imports)).toEqual([up]);
});

test("a part that the table lacks, and a part that the room lacks, are faults", () => {
  const messages = findFaults("packages/gateway/src/providers", ["core", "vendors", "index", "attic"]);
  expect(messages.map(({ message }) => message)).toEqual([
    "registry has no place in scripts/rooms/rooms.ts",
    "scripts/rooms/rooms.ts names attic, which does not exist",
  ]);
});

test.each(Object.entries(ROOMS))("the imports inside %s follow the order of its parts", (room, parts) => {
  expect(findFaults(room, parts)).toEqual([]);
});

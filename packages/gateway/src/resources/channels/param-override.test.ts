import { expect, test } from "vitest";
import { readParamOverride } from "./param-override.ts";
import { checkParamOverride } from "./text-fields.ts";

const withOperations = (...operations: object[]) => JSON.stringify({ operations });

test("operations that set a member are members, all others are named", () => {
  const steps = [
    { path: "temperature", mode: "set", value: 0.1 },
    { path: "tools.0.name", mode: "set", value: "a" },
    { path: "seed", mode: "set", value: 1, keep_origin: true },
    { path: "top_p", mode: "delete" },
    "nonsense",
  ];
  expect(readParamOverride(withOperations(...(steps as object[])))).toEqual({
    members: { temperature: 0.1 },
    lost: ["operations[1] (set)", "operations[2] (set)", "operations[3] (delete)", "operations[4]"],
  });
  expect(readParamOverride('{"seed":1}')).toEqual({ members: { seed: 1 }, lost: [] });
  expect(readParamOverride("{broken")).toBeUndefined();
});

test("a form with operations is refused instead of sending them upstream", () => {
  expect(() => checkParamOverride(withOperations({ path: "a", mode: "set", value: 1 }))).toThrow("list of operations");
  expect(checkParamOverride('{"seed":1}')).toBe('{"seed":1}');
});

import { expect, test } from "vitest";
import { buildImport, EMPTY_IMPORT, parseVariables } from "./import-form.ts";

test("variables are lines of a name and a value", () => {
  expect(parseVariables("OPENAI_API_KEY=sk-1\n\nexport B = x=y \n")).toEqual({ OPENAI_API_KEY: "sk-1", B: "x=y" });
  expect(parseVariables("")).toEqual({});
  expect(parseVariables("OPENAI_API_KEY")).toBeUndefined();
});

test("a form is a call, or names the member that is wrong", () => {
  const form = { ...EMPTY_IMPORT, config: "model_list: []" };
  expect(buildImport(EMPTY_IMPORT, true)).toBe("config");
  expect(buildImport({ ...form, variables: "?" }, true)).toBe("variables");
  expect(buildImport(form, true)).toEqual({ config: "model_list: []", dry_run: true });
  const full = { ...form, variables: "A=1", isPricedByUpstream: true, former: " https://old.example.com/ " };
  expect(buildImport(full, false)).toEqual({
    config: "model_list: []",
    dry_run: false,
    variables: { A: "1" },
    price_from_upstream: true,
    price_from: "https://old.example.com",
  });
});

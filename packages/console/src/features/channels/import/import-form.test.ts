import { expect, test } from "vitest";
import { buildImport, buildServerImport, EMPTY_IMPORT, parseVariables } from "./import-form.ts";

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

test("the address of a running gateway is whole, and its token a word", () => {
  const form = { ...EMPTY_IMPORT, address: " https://old.example.com/ ", token: " t-1 " };
  expect(buildServerImport("new-api", form, true)).toEqual({
    from: "new-api",
    address: "https://old.example.com",
    token: "t-1",
    dry_run: true,
  });
  expect(buildServerImport("one-hub", { ...form, userId: "7" }, false)).toMatchObject({ from: "one-hub", user_id: 7 });
  for (const address of ["", "old.example.com", "https://old.example.com/path", "https://u:p@old.example.com"])
    expect(buildServerImport("new-api", { ...form, address }, true)).toBe("address");
  expect(buildServerImport("litellm", { ...form, token: "two words" }, true)).toBe("token");
  expect(buildServerImport("new-api", { ...form, userId: "root" }, true)).toBe("userId");
});

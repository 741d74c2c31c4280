import { expect, test } from "vitest";
import { getJson, namesIn } from "./model-list.ts";

test.each([
  ["a list of objects", { data: [{ id: "a" }, { id: "b" }] }],
  ["a bare list", [{ id: "a" }, "b"]],
  ["a list of names", { models: ["a", "b"] }],
  ["names in another member", { models: [{ name: "a" }, { model: "b" }] }],
  ["a list inside of the data", { success: true, data: { models: [{ model_id: "a" }, { id: "b" }] } }],
  ["a result", { result: [{ name: "a" }, { name: "b" }] }],
])("reads %s", (_what, json) => {
  expect(namesIn(json, "data", "id")).toEqual(["a", "b"]);
});

test("an answer without a list says what the provider says", () => {
  expect(() => namesIn({ success: false, message: "no permission" }, "data", "id")).toThrow("no permission");
  expect(() => namesIn({}, "data", "id")).toThrow("holds no list of models");
});

test.each([
  [{ error: { message: "Invalid key" } }, "the upstream answered with status 401: Invalid key"],
  [{ detail: "Not authenticated" }, "the upstream answered with status 401: Not authenticated"],
  [undefined, "the upstream answered with status 401"],
])("a refusal has the words of its body", async (json, message) => {
  const http = () => Promise.resolve({ status: 401, json }) as never;
  await expect(getJson(http, "http://a/models", {})).rejects.toThrow(message);
});

import { expect, test } from "vitest";
import { readDocuments, TextProblem } from "./read-documents.ts";

test("YAML with several documents, JSON, lists and bodies of requests are read", async () => {
  expect(await readDocuments("kind: Channel\n---\nkind: Token\n---\n")).toEqual([
    { kind: "Channel" },
    { kind: "Token" },
  ]);
  expect(await readDocuments('{"kind": "Channel"}')).toEqual([{ kind: "Channel" }]);
  expect(await readDocuments('[{"kind": "Channel"}, {"kind": "Token"}]')).toHaveLength(2);
  expect(await readDocuments("documents:\n  - kind: Budget\n")).toEqual([{ kind: "Budget" }]);
  expect(await readDocuments("")).toEqual([]);
});

test("a mistake is named with its line, and aliases are not expanded", async () => {
  await expect(readDocuments("kind: [Channel\nspec: {")).rejects.toThrow(TextProblem);
  await expect(readDocuments("kind: [Channel\nspec: {")).rejects.toThrow(/line/);
  await expect(readDocuments("a: &a [x]\nb: [*a, *a]")).rejects.toThrow();
});

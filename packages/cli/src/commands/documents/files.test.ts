import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documentText, parseDocuments, readDocuments } from "./files.ts";

const one = { apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata: { name: "a" }, spec: { type: "openai" } };
const two = { ...one, metadata: { name: "b" } };

describe("parseDocuments", () => {
  it.each([
    ["YAML", documentText(one), [one]],
    ["several of YAML", `${documentText(one)}\n${documentText(two)}\n---\n`, [one, two]],
    ["JSON", JSON.stringify(one), [one]],
    ["a list", JSON.stringify([one, two]), [one, two]],
    ["JSON line by line", `${JSON.stringify(one)}\n${JSON.stringify(two)}\n`, [one, two]],
    ["an export", JSON.stringify({ kind: "DocumentList", items: [one, two] }), [one, two]],
    ["the body of a call", JSON.stringify({ manager: "m", documents: [one] }), [one]],
    ["nothing", "# a remark\n", []],
  ])("reads %s", (_what, text, expected) =>
    expect(parseDocuments(text, "x").map(({ value }) => value)).toEqual(expected),
  );

  it.each(["just words", "- 3", "a: 1"])("refuses %j", (text) =>
    expect(() => parseDocuments(text, "here.yaml")).toThrow("here.yaml:1 holds something that is no document"),
  );

  it("names file and line of what cannot be read, and quotes none of it", () => {
    const parse = () => parseDocuments("kind: Channel\nspec:\n  key: [sk-secret\n", "here.yaml");
    expect(parse).toThrow(/^here\.yaml: .*line 4/);
    expect(parse).not.toThrow("sk-secret");
  });
});

describe("readDocuments", () => {
  const home = mkdtempSync(join(tmpdir(), "fairway-documents-"));
  const deep = join(home, "deep");
  const from = { isRecursive: false, stdin: () => Promise.resolve(JSON.stringify(one)) };

  beforeAll(() => {
    mkdirSync(deep);
    writeFileSync(join(home, "b.yaml"), documentText(two));
    writeFileSync(join(home, "README.md"), "words");
    writeFileSync(join(deep, "a.json"), JSON.stringify(one));
  });
  afterAll(() => rmSync(home, { recursive: true }));

  it("takes files, folders and standard input in order", async () => {
    const readValues = async (...parts: Parameters<typeof readDocuments>) =>
      (await readDocuments(...parts)).map(({ value }) => value);
    expect(await readValues(["-", home], from)).toEqual([one, two]);
    expect(await readValues([home], { ...from, isRecursive: true })).toEqual([two, one]);
    expect(await readValues([join(deep, "a.json")], from)).toEqual([one]);
  });

  it("says which path it cannot take", async () => {
    await expect(readDocuments([join(home, "none")], from)).rejects.toThrow(/none cannot be read \(ENOENT\)/);
    mkdirSync(join(home, "empty"));
    await expect(readDocuments([join(home, "empty")], from)).rejects.toThrow(/empty holds no \.yaml/);
  });
});

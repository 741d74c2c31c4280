import { expect, test } from "vitest";
import { buildSnippets } from "./code.ts";

const body = {
  model: "gpt-4o",
  group: "vip",
  messages: [{ role: "user", content: 'it\'s "here"' }],
  stream: true,
};
const texts = { answer: undefined, request: "Request", response: "Answer" };
const code = (id: string) => buildSnippets("https://gw.example", body, texts).find((one) => one.id === id)?.code ?? "";

test("a quote in a message does not end the word of the shell", () => {
  expect(code("curl")).toContain(String.raw`it'\''s`);
  expect(code("curl")).toContain("https://gw.example/v1/chat/completions");
});

test("applications send no group, because their token has one", () => {
  expect(["curl", "python", "node"].filter((id) => code(id).includes("vip"))).toEqual([]);
  expect(code("request")).toContain('"group": "vip"');
});

test("Python gets its own words for true and none", () => {
  expect(code("python")).toContain("    stream=True,\n");
  expect(code("python")).toContain('"content": "it\'s \\"here\\"",');
});

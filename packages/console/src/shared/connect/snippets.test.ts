import { expect, test } from "vitest";
import { exampleModel, snippetsFor } from "./snippets.ts";

const INPUT = { base: "https://ai.example.com", key: "sk-…cdef", model: "gpt-4o-mini" };

test("every client has an example, and the SDKs have one in each of two languages", () => {
  const snippets = snippetsFor(INPUT, "sk-real");
  const labels = new Set(snippets.map(({ label }) => label));
  expect([...labels]).toEqual([
    "curl",
    "OpenAI",
    "Anthropic",
    "Google",
    "Claude Code",
    "Codex",
    "Gemini CLI",
    "Cursor",
    "Continue",
  ]);
  for (const label of ["OpenAI", "Anthropic", "Google"]) {
    const variants = snippets.filter((snippet) => snippet.label === label).map(({ variant }) => variant);
    expect(variants).toEqual(["Python", "Node.js"]);
  }
});

test("examples show the masked key, copy the real one, and name the model and the address", () => {
  for (const { id, code, copied } of snippetsFor(INPUT, "sk-real")) {
    expect(code, id).toContain("sk-…cdef");
    expect(code, id).not.toContain("sk-real");
    expect(copied, id).toContain("sk-real");
    expect(code, id).toContain(INPUT.model);
    expect(code, id).toContain(INPUT.base);
  }
});

test("the OpenAI paths end in /v1, those of Anthropic and Google do not", () => {
  const byId = new Map(snippetsFor(INPUT, "sk-real").map(({ id, code }) => [id, code]));
  for (const id of ["openai-python", "openai-node", "codex", "continue", "cursor"]) {
    expect(byId.get(id), id).toContain("https://ai.example.com/v1");
  }
  for (const id of [
    "anthropic-python",
    "anthropic-node",
    "google-python",
    "google-node",
    "claude-code",
    "gemini-cli",
  ]) {
    expect(byId.get(id), id).not.toContain("/v1");
  }
});

test("the example model is one that chats", () => {
  expect(exampleModel(["text-embedding-3-small", "dall-e-3", "claude-sonnet-4-5"])).toBe("claude-sonnet-4-5");
  expect(exampleModel(["zeta", "gpt-4o-mini"])).toBe("gpt-4o-mini");
  expect(exampleModel(["whisper-1"])).toBe("whisper-1");
  expect(exampleModel([])).toBeUndefined();
});

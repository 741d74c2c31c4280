import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { deepseek } from "../../src/providers/vendors/deepseek/deepseek.ts";
import { ollama } from "../../src/providers/vendors/ollama/ollama.ts";
import { createChannelRecord } from "../kit/provider-kit.ts";
import { CHAT_ANSWER, exchange, HELLO } from "./exchange-cases.ts";

const CANDIDATE: JsonObject = { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] };
const OLLAMA_ANSWER: JsonObject = { model: "m", message: { role: "assistant", content: "Hi" }, done: true };

describe("a base URL whose path is part of the vendor's paths", () => {
  it.each([
    [3, "https://r.openai.azure.com/openai", "", "https://r.openai.azure.com/openai/v1/chat/completions"],
    [
      3,
      "https://r.openai.azure.com/openai/v1/",
      "2024-10-21",
      "https://r.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21",
    ],
    [
      3,
      "https://r.services.ai.azure.com/api/projects/p/openai/v1",
      "v1",
      "https://r.services.ai.azure.com/api/projects/p/openai/v1/chat/completions",
    ],
    [
      3,
      "https://proxy.example.com/openai",
      "2024-10-21",
      "https://proxy.example.com/openai/openai/deployments/m/chat/completions?api-version=2024-10-21",
    ],
    [43, "https://api.deepseek.com/v1", "", "https://api.deepseek.com/v1/chat/completions"],
    [1, "https://g.example.com/v1beta/openai/", "", "https://g.example.com/v1beta/openai/chat/completions"],
  ])("type %d at %s with %j", async (type, base_url, other, url) => {
    await exchange({
      type,
      channel: { base_url, other },
      body: { model: "m", messages: HELLO },
      sent: { url },
      answer: { body: CHAT_ANSWER },
    });
  });

  it("is supported by Ollama and Gemini", async () => {
    for (const end of ["", "/v1", "/api/"]) {
      await exchange({
        type: 4,
        channel: { base_url: `http://ollama.example.com:11434${end}` },
        body: { model: "m", messages: HELLO },
        sent: { url: "http://ollama.example.com:11434/api/chat" },
        answer: { body: OLLAMA_ANSWER },
      });
    }
    await exchange({
      type: 24,
      channel: { base_url: "https://g.example.com/v1beta/openai" },
      body: { model: "gemini-2.5-flash", messages: HELLO },
      sent: { url: "https://g.example.com/v1beta/models/gemini-2.5-flash:generateContent" },
      answer: { body: CANDIDATE },
    });
  });

  it("does not change text completions, balances and lists", async () => {
    await exchange({
      type: 43,
      channel: { base_url: "https://api.deepseek.com/v1" },
      path: "/v1/completions",
      body: { model: "deepseek-chat", prompt: "x" },
      sent: { url: "https://api.deepseek.com/beta/completions" },
      answer: { body: { ...CHAT_ANSWER, choices: [{ index: 0, text: "y", finish_reason: "stop" }] } },
    });
    const asked: string[] = [];
    const http = (json: JsonObject) => (call: { readonly url: string }) => {
      asked.push(call.url);
      return Promise.resolve({ status: 200, json, text: "" });
    };
    const balance = http({ balance_infos: [{ currency: "CNY", total_balance: "1.5" }] });
    expect(
      await deepseek.balance?.(createChannelRecord({ baseUrl: "https://api.deepseek.com/v1" }), "k", balance, 0),
    ).toBe(1.5);
    const tags = http({ models: [{ model: "m" }] });
    expect(
      await ollama.listModels?.(createChannelRecord({ baseUrl: "http://o.example.com/v1" }), "k", tags, 0),
    ).toEqual(["m"]);
    expect(asked).toEqual(["https://api.deepseek.com/user/balance", "http://o.example.com/api/tags"]);
  });
});

describe("a name as Gemini lists it", () => {
  it.each([
    ["models/gemini-2.5-flash", "https://g.example.com/v1beta/models/gemini-2.5-flash:generateContent"],
    ["tunedModels/mine-1", "https://g.example.com/v1beta/tunedModels/mine-1:generateContent"],
  ])("%s is found", async (model, url) => {
    await exchange({
      type: 24,
      channel: { base_url: "https://g.example.com" },
      body: { model, messages: HELLO },
      sent: { url },
      answer: { body: CANDIDATE },
    });
  });
});

describe("embeddings of a vendor without usage", () => {
  it("report the gateway's count", async () => {
    await exchange({
      type: 24,
      path: "/v1/embeddings",
      body: { model: "gemini-embedding-001", input: "one two" },
      sent: { body: { model: "models/gemini-embedding-001", content: { parts: [{ text: "one two" }] } } },
      answer: { body: { embedding: { values: [1, 2] } } },
      got: {
        body: {
          object: "list",
          model: "gemini-embedding-001",
          data: [{ object: "embedding", index: 0, embedding: [1, 2] }],
          usage: { prompt_tokens: 2, total_tokens: 2 },
        },
      },
      usage: { prompt_tokens: 2, estimated: true },
    });
  });
});

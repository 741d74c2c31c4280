import { describe, expect, it } from "vitest";
import { createRequestSpec } from "../../test/kit/provider-kit.ts";
import type { DialectId, Operation } from "../dialects/core/types.ts";
import { routeUrl } from "../providers/core/route-url.ts";
import { providerByType } from "../providers/registry.ts";
import { channelRecord } from "./channel-record.ts";

interface Place {
  readonly other?: string;
  readonly operation?: Operation;
  readonly dialect?: DialectId;
}

function buildUrl(
  type: number,
  base_url: string,
  { other = "", operation = "chat", dialect = "openai-chat" }: Place = {},
) {
  const texts = { openai_organization: "", test_model: "", models: "m", group: "default", model_mapping: "" };
  const nothing = { status_code_mapping: "", tag: null, setting: null, param_override: null, header_override: null };
  const numbers = { id: 1, status: 1, weight: 0, max_input_tokens: 0, priority: 0, auto_ban: 1 };
  const row = {
    type,
    name: "c",
    key_sealed: "k",
    base_url,
    other,
    channel_info: null,
    ...texts,
    ...nothing,
    ...numbers,
  };
  const channel = channelRecord(row, (text) => text);
  const provider = providerByType(type)!;
  const route = provider.speaks.find((one) => one.operation === operation && one.dialect === dialect)!;
  return routeUrl(provider, route, channel, {
    spec: createRequestSpec({ operation, dialect }),
    upstreamModel: "m",
    key: "k",
  }).href;
}

const messages = { dialect: "anthropic-messages" } as const;
const gemini = { dialect: "gemini-generate" } as const;
const responses = { operation: "responses", dialect: "openai-responses" } as const;
const preview = { other: "preview", ...responses };

describe("a base URL that is a whole address", () => {
  it.each<[number, string, Place, string]>([
    [1, "https://h.example/v1/chat/completions", {}, "https://h.example/v1/chat/completions"],
    [1, "https://h.example/v1/chat/completions/", {}, "https://h.example/v1/chat/completions"],
    [1, "https://h.example/v1/models", {}, "https://h.example/v1/chat/completions"],
    [1, "https://h.example/v1/embeddings?x=1", {}, "https://h.example/v1/chat/completions"],
    [1, "https://h.example/openai/v1/responses", {}, "https://h.example/openai/v1/chat/completions"],
    [1005, "https://h.example/api/v3/chat/completions", {}, "https://h.example/api/v3/chat/completions"],
    [14, "https://h.example/v1/messages", messages, "https://h.example/v1/messages"],
    [24, "https://h.example/v1beta/models", gemini, "https://h.example/v1beta/models/m:generateContent"],
    [
      24,
      "https://h.example/v1beta/models/g-2:generateContent",
      gemini,
      "https://h.example/v1beta/models/m:generateContent",
    ],
    [
      3,
      "https://h.example/openai/v1/responses?api-version=preview",
      preview,
      "https://h.example/openai/v1/responses?api-version=preview",
    ],
    [
      3,
      "https://h.example/openai/deployments/d/chat/completions?api-version=1",
      { other: "2024-10-21" },
      "https://h.example/openai/deployments/m/chat/completions?api-version=2024-10-21",
    ],
    [8, "https://h.example/v1/chat/completions", {}, "https://h.example/v1/chat/completions"],
  ])("of type %i, %s, is not doubled", (type, base, place, expected) => {
    expect(buildUrl(type, base, place)).toBe(expected);
  });

  it.each(["https://h.example/models", "https://h.example/team/messages", "https://h.example/v1x/responses"])(
    "%s is a path of its own",
    (base) => {
      expect(buildUrl(1, base)).toBe(`${base}/v1/chat/completions`);
    },
  );
});

describe("a version of Azure that is older than what is asked for", () => {
  it.each<[string, Place, string]>([
    ["2023-06-01-preview", responses, "https://h.example/openai/v1/responses"],
    ["2024-10-21", responses, "https://h.example/openai/v1/responses"],
    ["2025-03-01-preview", responses, "https://h.example/openai/responses?api-version=2025-03-01-preview"],
    [
      "2023-06-01-preview",
      {},
      "https://h.example/openai/deployments/m/chat/completions?api-version=2023-06-01-preview",
    ],
    [
      "2023-06-01-preview",
      { operation: "realtime", dialect: "openai-realtime" },
      "https://h.example/openai/v1/realtime?model=m",
    ],
  ])("%s gives way to the versionless surface", (other, place, expected) => {
    expect(buildUrl(3, "https://h.example", { other, ...place })).toBe(expected);
  });
});

// Features that applications use with the official clients, with upstreams of every kind: tools, images, objects,
// thinking.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aiClients } from "../features/ai.ts";
import { anthropicClient } from "../features/anthropic.ts";
import { googleClient } from "../features/google.ts";
import { openaiClients } from "../features/openai.ts";
import { RESULT, type Access, type OfficialClient } from "../features/types.ts";
import { at } from "../grid/json.ts";
import { isNativeResponses, readRequest, UPSTREAMS } from "../grid/upstreams.ts";
import { PNG, THINKING, WEATHER } from "../grid/words.ts";
import {
  createChannel,
  createToken,
  NORMAL_TEXT,
  setOptions,
  SIGNATURE,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";

/** OpenAI's reasoning models accept tools only on Responses. */
const KINDS = [...UPSTREAMS, { name: "responses", type: 1, model: "gpt-5.4-pro" }];
/** Model names of that family cannot contain a plus. */
const buildModelName = ({ name, model }: (typeof KINDS)[number], word: string) =>
  name === "responses" ? `${model}_${word.replaceAll("+", "_")}` : `${model}+${word}`;
const WORDS = ["plain", "echo", "tool-loop", "tool-loop+reasoning"];
const MODES = [
  ["plain", false],
  ["streamed", true],
] as const;
const OBJECT = { harbour: "Kiel" };

let upstream: Upstream;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false; // it does not know the names of the fake models
  [upstream, gateway] = await Promise.all([startUpstream(), startGateway()]);
  const root = await signIn(gateway.url);
  await setOptions(root, { SelfUseModeEnabled: "true" });
  for (const kind of KINDS) {
    const { name, type } = kind;
    const models = WORDS.map((word) => buildModelName(kind, word)).join(",");
    await createChannel(root, { name, type, base_url: upstream.url, models, auto_ban: 0 });
  }
  key = await createToken(root);
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const MAKERS: Readonly<Record<string, (access: Access) => OfficialClient>> = {
  "openai chat": (access) => requireClient(openaiClients(access), "openai chat"),
  "openai responses": (access) => requireClient(openaiClients(access), "openai responses"),
  anthropic: anthropicClient,
  google: googleClient,
  "ai chat": (access) => requireClient(aiClients(access), "ai chat"),
  "ai responses": (access) => requireClient(aiClients(access), "ai responses"),
  "ai anthropic": (access) => requireClient(aiClients(access), "ai anthropic"),
  "ai google": (access) => requireClient(aiClients(access), "ai google"),
};

function requireClient(clients: readonly OfficialClient[], name: string): OfficialClient {
  const client = clients.find((candidate) => candidate.name === name);
  if (!client) throw new Error(`no client ${name}`);
  return client;
}

/** Returns the last request; with threads it has only the new messages. */
function received() {
  const last = upstream.requests.at(-1);
  if (!last) throw new Error("the upstream received nothing");
  return { ...readRequest(last), isResponses: isNativeResponses(last), isThread: last.json?.["thread"] !== undefined };
}

describe.each(Object.keys(MAKERS))("%s", (name) => {
  describe.each(KINDS)("before $name", (kind) => {
    const client = () => MAKERS[name]!({ url: gateway.url, key });
    const model = (word: string) => buildModelName(kind, word);

    test.each(MODES)("runs tools, %s", async (_mode, isStream) => {
      expect(await client().tools(model("tool-loop"), isStream)).toBe(NORMAL_TEXT);
      const { calls, results, tools, isThread } = received();
      expect(results).toEqual([RESULT]);
      expect(tools).toEqual(isThread ? [] : ["get_weather"]);
      expect(calls).toEqual(isThread ? [] : [WEATHER]);
    });

    test.each(MODES)("shows images, %s", async (_mode, isStream) => {
      expect(await client().image(model("plain"), isStream)).toBe(NORMAL_TEXT);
      expect(received().images).toEqual([PNG]);
    });

    test.each(MODES)("gets objects by schema, %s", async (_mode, isStream) => {
      expect(await client().structured(model("echo"), isStream, JSON.stringify(OBJECT))).toEqual(OBJECT);
      expect(String(at(received().schema, "properties", "harbour", "type")).toLowerCase()).toBe("string");
    });

    test.each(MODES)("keeps thinking and its signature, %s", async (_mode, isStream) => {
      const { thinking } = client();
      if (!thinking) return expect(name).toBe("ai chat");
      const thought = await thinking(model("tool-loop+reasoning"), isStream);
      expect(thought).toEqual({ thinking: THINKING, text: NORMAL_TEXT });
      const { signatures, results, isResponses, isThread } = received();
      expect(results).toEqual([RESULT]);
      // Chat has no member for reasoning that OpenAI encrypted.
      const isOpened = isResponses && name !== "openai chat";
      const isSigned = isOpened || kind.name === "anthropic" || kind.name === "gemini";
      expect(signatures).toEqual(isSigned && !isThread ? [SIGNATURE] : []);
    });
  });
});

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import type { BetaMessage } from "@anthropic-ai/sdk/resources/beta/messages";
import type { Message, MessageCreateParamsNonStreaming } from "@anthropic-ai/sdk/resources/messages";
import { PNG, PNG_TYPE } from "../grid/words.ts";
import { PROMPT, RUN, type Access, type OfficialClient, type Thought } from "./types.ts";

const TOKENS = 4000;
const weather = betaTool({
  name: "get_weather",
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: RUN,
});
const format = jsonSchemaOutputFormat({
  type: "object",
  properties: { harbour: { type: "string" } },
  required: ["harbour"],
  additionalProperties: false,
});

export function anthropicClient({ url, key }: Access): OfficialClient {
  const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
  const create = (params: MessageCreateParamsNonStreaming, isStream: boolean): Promise<Message> =>
    isStream ? client.messages.stream(params).finalMessage() : client.messages.create(params);
  return {
    name: "anthropic",
    tools: async (model, isStream) => (await runTools(client, model, isStream, false)).text,
    thinking: (model, isStream) => runTools(client, model, isStream, true),
    async image(model, isStream) {
      const source = { type: "base64" as const, media_type: PNG_TYPE, data: PNG } as const;
      const content = [
        { type: "text" as const, text: PROMPT },
        { type: "image" as const, source },
      ];
      return readText(await create({ model, max_tokens: TOKENS, messages: [{ role: "user", content }] }, isStream));
    },
    async structured(model, isStream, prompt) {
      const params = {
        model,
        max_tokens: TOKENS,
        messages: [{ role: "user" as const, content: prompt }],
        output_config: { format },
      };
      const message = isStream
        ? await client.messages.stream(params).finalMessage()
        : await client.messages.parse(params);
      return message.parsed_output;
    },
  };
}

/** The client's own loop, with threads if the upstream supports them. */
async function runTools(client: Anthropic, model: string, isStream: boolean, thinks: boolean): Promise<Thought> {
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: TOKENS,
    messages: [{ role: "user", content: PROMPT }],
    tools: [weather],
    stream: isStream,
    ...(thinks && { thinking: { type: "enabled" as const, budget_tokens: 1280 } }),
  });
  const messages: BetaMessage[] = [];
  for await (const turn of runner) messages.push("finalMessage" in turn ? await turn.finalMessage() : turn);
  const thoughts = messages[0]?.content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
  return { thinking: (thoughts ?? []).join(""), text: readText(messages.at(-1)) };
}

function readText(message: Pick<Message | BetaMessage, "content"> | undefined): string {
  return (message?.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");
}

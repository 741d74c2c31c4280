import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool, type LanguageModel } from "ai";
import { PNG, PNG_TYPE, SCHEMA } from "../grid/words.ts";
import { PROMPT, RUN, type Access, type OfficialClient, type Thought } from "./types.ts";

type Options = Parameters<typeof generateText>[0]["providerOptions"];

const weather = tool({
  description: "Weather of a city",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  }),
  execute: RUN,
});

/** The AI SDK through each of its providers. */
export function aiClients({ url, key }: Access): readonly OfficialClient[] {
  const baseURL = `${url}/v1`;
  const openai = createOpenAI({ baseURL, apiKey: key });
  const anthropic = createAnthropic({ baseURL, apiKey: key });
  const google = createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key });
  return [
    // Its chat provider does not read thinking.
    aiClient("ai chat", (model) => openai.chat(model), undefined),
    aiClient("ai responses", (model) => openai.responses(model), {
      openai: {
        store: false,
        forceReasoning: true,
        reasoningEffort: "low",
        reasoningSummary: "auto",
        include: ["reasoning.encrypted_content"],
      },
    }),
    aiClient("ai anthropic", anthropic, { anthropic: { thinking: { type: "enabled", budgetTokens: 1280 } } }),
    aiClient("ai google", google, { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1280 } } }),
  ];
}

function aiClient(name: string, createModel: (model: string) => LanguageModel, thinking: Options): OfficialClient {
  const loop = async (model: string, isStream: boolean, providerOptions: Options): Promise<Thought> => {
    const ask = { prompt: PROMPT, tools: { get_weather: weather }, stopWhen: stepCountIs(3), maxOutputTokens: 4000 };
    const params = { model: createModel(model), maxRetries: 0, ...ask, ...(providerOptions && { providerOptions }) };
    const answer = isStream ? streamText(params) : await generateText(params);
    const steps = await answer.steps;
    return { thinking: steps[0]?.reasoningText ?? "", text: await answer.text };
  };
  return {
    name,
    tools: async (model, isStream) => (await loop(model, isStream, undefined)).text,
    thinking: thinking && ((model, isStream) => loop(model, isStream, thinking)),
    async image(model, isStream) {
      const content = [
        { type: "text" as const, text: PROMPT },
        { type: "file" as const, data: PNG, mediaType: PNG_TYPE },
      ];
      const params = { model: createModel(model), maxRetries: 0, messages: [{ role: "user" as const, content }] };
      return isStream ? streamText(params).text : (await generateText(params)).text;
    },
    async structured(model, isStream, prompt) {
      const output = Output.object({ schema: jsonSchema<{ harbour: string }>({ ...SCHEMA }) });
      // Otherwise it uses a tool for models whose names it does not know.
      const providerOptions = { anthropic: { structuredOutputMode: "outputFormat" } } as const;
      const params = { model: createModel(model), maxRetries: 0, prompt, output, providerOptions };
      return isStream ? streamText(params).output : (await generateText(params)).output;
    },
  };
}

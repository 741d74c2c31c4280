import OpenAI from "openai";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat";
import type { Response, ResponseCreateParamsNonStreaming, ResponseInput } from "openai/resources/responses/responses";
import { parsed, textAt } from "../grid/json.ts";
import { PNG, PNG_TYPE, SCHEMA, TOOLS } from "../grid/words.ts";
import { PROMPT, RUN, type Access, type OfficialClient, type Thought } from "./types.ts";

const [WEATHER] = TOOLS;
const IMAGE_URL = `data:${PNG_TYPE};base64,${PNG}`;
const schema = { name: "place", strict: true, schema: { ...SCHEMA } };

export function openaiClients({ url, key }: Access): readonly OfficialClient[] {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  return [chatClient(client), responsesClient(client)];
}

type ChatParams = Omit<ChatCompletionCreateParamsNonStreaming, "stream">;

function chatClient(client: OpenAI): OfficialClient {
  const answer = async (params: ChatParams, isStream: boolean) => {
    const { choices } = isStream
      ? await client.chat.completions.stream(params).finalChatCompletion()
      : await client.chat.completions.parse(params);
    return choices[0]?.message.content ?? "";
  };
  return {
    name: "openai chat",
    tools: (model, isStream) => (isStream ? runStreamedTools(client, model) : runTools(client, model)),
    thinking: (model, isStream) => think(client, model, isStream),
    async image(model, isStream) {
      const content = [
        { type: "text" as const, text: PROMPT },
        { type: "image_url" as const, image_url: { url: IMAGE_URL } },
      ];
      return answer({ model, messages: [{ role: "user", content }] }, isStream);
    },
    async structured(model, isStream, prompt) {
      const messages: ChatCompletionMessageParam[] = [{ role: "user", content: prompt }];
      const response_format = { type: "json_schema" as const, json_schema: schema };
      return parsed(await answer({ model, messages, response_format }, isStream));
    },
  };
}

const QUESTION = { role: "user" as const, content: PROMPT };

/** The client's own loop. */
async function runTools(client: OpenAI, model: string): Promise<string> {
  const tools = [{ type: "function" as const, function: runnable() }];
  return (await client.chat.completions.runTools({ model, messages: [QUESTION], tools }).finalContent()) ?? "";
}

async function runStreamedTools(client: OpenAI, model: string): Promise<string> {
  const tools = [{ type: "function" as const, function: runnable() }];
  const params = { model, messages: [QUESTION], tools, stream: true as const };
  return (await client.chat.completions.runTools(params).finalContent()) ?? "";
}

function runnable(): RunnableToolFunctionWithParse<{ city: string }>["function"] {
  const parse = (args: string) => JSON.parse(args) as { city: string };
  return { ...WEATHER, parameters: { ...WEATHER.parameters, required: ["city"] }, parse, function: RUN };
}

/** The client's own loop drops members that it does not know; this one returns each message unchanged. */
async function think(client: OpenAI, model: string, isStream: boolean): Promise<Thought> {
  const messages: ChatCompletionMessageParam[] = [QUESTION];
  const params: ChatParams = {
    model,
    messages,
    tools: [{ type: "function", function: { ...WEATHER, parameters: { ...WEATHER.parameters } } }],
    reasoning_effort: "low",
    max_completion_tokens: 4000,
  };
  const first = await (isStream ? thinkAloud(client, params) : client.chat.completions.create(params));
  const called = first.choices[0]?.message;
  if (!called) throw new Error("the answer has no choice");
  messages.push(called);
  for (const call of called.tool_calls ?? []) {
    if (call.type !== "function") continue;
    const content = RUN(JSON.parse(call.function.arguments) as { city: string });
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
  const last = await (isStream ? thinkAloud(client, params) : client.chat.completions.create(params));
  return { text: last.choices[0]?.message.content ?? "", thinking: textAt(called, "reasoning_content") };
}

/** The client keeps only the last piece of members that it does not know. */
async function thinkAloud(client: OpenAI, params: ChatParams): Promise<ChatCompletion> {
  let thinking = "";
  const stream = client.chat.completions.stream(params);
  stream.on("chunk", ({ choices: [choice] }) => {
    thinking += textAt(choice, "delta", "reasoning_content");
  });
  const whole = await stream.finalChatCompletion();
  const [choice] = whole.choices;
  if (choice) Object.assign(choice.message, thinking === "" ? {} : { reasoning_content: thinking });
  return whole;
}

function responsesClient(client: OpenAI): OfficialClient {
  const create = async (params: ResponseCreateParamsNonStreaming, isStream: boolean): Promise<Response> =>
    isStream
      ? client.responses.stream({ ...params, stream: true }).finalResponse()
      : client.responses.create({ ...params, stream: false });
  const loop = async (model: string, isStream: boolean): Promise<Thought> => {
    const tools = [{ type: "function" as const, ...WEATHER, strict: false }];
    const input: ResponseInput = [{ role: "user", content: PROMPT }];
    const params: ResponseCreateParamsNonStreaming = {
      model,
      tools,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low", summary: "auto" },
      max_output_tokens: 4000,
    };
    const first = await create({ ...params, input }, isStream);
    for (const item of first.output) {
      input.push(item as ResponseInput[number]);
      if (item.type !== "function_call") continue;
      const output = RUN(JSON.parse(item.arguments) as { city: string });
      input.push({ type: "function_call_output", call_id: item.call_id, output });
    }
    const parts = first.output.flatMap((item) => (item.type === "reasoning" ? item.summary : []));
    return {
      thinking: parts.map((part) => part.text).join(""),
      text: (await create({ ...params, input }, isStream)).output_text,
    };
  };
  return {
    name: "openai responses",
    tools: async (model, isStream) => (await loop(model, isStream)).text,
    thinking: loop,
    async image(model, isStream) {
      const image = { type: "input_image" as const, image_url: IMAGE_URL, detail: "auto" as const };
      const content = [{ type: "input_text" as const, text: PROMPT }, image];
      return (await create({ model, input: [{ role: "user", content }] }, isStream)).output_text;
    },
    async structured(model, isStream, prompt) {
      const format = { type: "json_schema" as const, ...schema };
      return parsed((await create({ model, input: prompt, text: { format } }, isStream)).output_text);
    },
  };
}

import {
  GoogleGenAI,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type Part,
  type PartListUnion,
} from "@google/genai";
import { parsed } from "../grid/json.ts";
import { PNG, PNG_TYPE, SCHEMA, TOOLS } from "../grid/words.ts";
import { PROMPT, RUN, type Access, type OfficialClient, type Thought } from "./types.ts";

const [{ parameters, ...WEATHER }] = TOOLS;

export function googleClient({ url, key }: Access): OfficialClient {
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
  const generate = async (params: GenerateContentParameters, isStream: boolean): Promise<string> =>
    isStream
      ? readText(await Array.fromAsync(await client.models.generateContentStream(params)))
      : ((await client.models.generateContent(params)).text ?? "");
  return {
    name: "google",
    tools: async (model, isStream) => (await runTools(client, model, isStream, false)).text,
    thinking: (model, isStream) => runTools(client, model, isStream, true),
    image(model, isStream) {
      const parts = [{ text: PROMPT }, { inlineData: { mimeType: PNG_TYPE, data: PNG } }];
      return generate({ model, contents: [{ role: "user", parts }] }, isStream);
    },
    async structured(model, isStream, prompt) {
      const config = { responseMimeType: "application/json", responseJsonSchema: SCHEMA };
      return parsed(await generate({ model, contents: prompt, config }, isStream));
    },
  };
}

/** A chat of the client, which stores the history itself. */
async function runTools(client: GoogleGenAI, model: string, isStream: boolean, thinks: boolean): Promise<Thought> {
  const chat = client.chats.create({
    model,
    config: {
      maxOutputTokens: 4000,
      tools: [{ functionDeclarations: [{ ...WEATHER, parametersJsonSchema: parameters }] }],
      ...(thinks && { thinkingConfig: { includeThoughts: true, thinkingBudget: 1280 } }),
    },
  });
  const send = async (message: PartListUnion): Promise<GenerateContentResponse[]> =>
    isStream ? Array.fromAsync(await chat.sendMessageStream({ message })) : [await chat.sendMessage({ message })];
  const first = await send(PROMPT);
  const results = first
    .flatMap((answer) => answer.functionCalls ?? [])
    .map(({ id, name = "", args }): Part => {
      const response = { output: RUN(args as { city: string }) };
      return { functionResponse: { name, response, ...(id !== undefined && { id }) } };
    });
  const parts = first.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
  const thoughts = parts.filter((part) => part.thought === true).map((part) => part.text ?? "");
  return { thinking: thoughts.join(""), text: readText(await send(results)) };
}

function readText(answers: readonly GenerateContentResponse[]): string {
  return answers.map((answer) => answer.text ?? "").join("");
}

import { expect, test } from "vitest";
import { parseFailure, parseSteps, readSteps, type Step } from "./answer.ts";
import { buildTurns, type Answer } from "./conversation.ts";
import { buildRequestBody, NO_SETTINGS } from "./request.ts";

const choice = { model: "gpt-4o-mini", group: "" };
const head = new Response(null, { headers: { "x-oneapi-request-id": "R1" } });

function answer(body: string, init: ResponseInit = {}): Response {
  return new Response(body, { headers: { "x-oneapi-request-id": "R1" }, ...init });
}

async function read(response: Response): Promise<Step[]> {
  const steps: Step[] = [];
  for await (const step of readSteps(response)) steps.push(step);
  return steps;
}

test("only what was set is sent", () => {
  expect(buildRequestBody([{ role: "user", text: "Hi" }], choice, NO_SETTINGS)).toEqual({
    model: "gpt-4o-mini",
    messages: [{ role: "user", content: "Hi" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const settings = { system: " Be short. ", temperature: 0.3, maxTokens: "64", topP: 0.9, seed: "7", isJson: true };
  expect(buildRequestBody([], { model: "m", group: "vip" }, settings)).toMatchObject({
    group: "vip",
    messages: [{ role: "system", content: "Be short." }],
    temperature: 0.3,
    max_tokens: 64,
    top_p: 0.9,
    seed: 7,
    response_format: { type: "json_object" },
  });
  const none = buildRequestBody([], choice, { ...NO_SETTINGS, maxTokens: "0", seed: "x" });
  expect([none.max_tokens, none.seed]).toEqual([undefined, undefined]);
});

test("text, thoughts and usage are read from the stream until it says that it ends", async () => {
  const body = [
    '{"choices":[{"delta":{"role":"assistant","reasoning_content":"hm"}}]}',
    '{"choices":[{"delta":{"content":"Ahoy"}}]}',
    '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
    '{"choices":[{"delta":{"content":"after the end"}}]}',
  ];
  expect(await read(answer(body.map((line) => `data: ${line}\n\n`).join("")))).toEqual([
    { kind: "thought", text: "hm" },
    { kind: "text", text: "Ahoy" },
    { kind: "usage", usage: { input: 3, output: 2 } },
    { kind: "end" },
  ]);
});

test("a stream that breaks off says no end, and one that fails says why", async () => {
  const text = 'data: {"choices":[{"delta":{"content":"Aho"}}]}\n\n';
  expect(await read(answer(text))).toEqual([{ kind: "text", text: "Aho" }]);
  const failed = await read(answer(`${text}data: {"error":{"message":"gone","code":"upstream_error"}}\n\n`));
  expect(failed.at(-1)).toMatchObject({ kind: "failure", failure: { message: "gone", code: "upstream_error" } });
});

test("a refusal is read from the gateway's envelope, and a proxy's page by its status", async () => {
  const refusal = answer('{"error":{"message":"No channel.","type":"x","code":"model_not_found"}}', {
    status: 404,
    headers: { "x-oneapi-request-id": "R2", "retry-after": "9" },
  });
  expect(await read(refusal)).toEqual([
    {
      kind: "failure",
      failure: { status: 404, message: "No channel.", code: "model_not_found", requestId: "R2", retryAfter: 9 },
    },
  ]);
  expect(parseFailure("<html>", answer("", { status: 502, statusText: "Bad Gateway" })).message).toBe("Bad Gateway");
});

test("what is no event of the gateway is skipped", () => {
  expect(
    ["", "{", "7", "null", '{"choices":[null]}', '{"choices":[{"delta":{"content":7}}]}'].flatMap((data) =>
      parseSteps(data, head),
    ),
  ).toEqual([]);
});

test("each column is shown its own answers, a later one those of the first", () => {
  const answer = (text: string) => ({ text }) as Answer;
  const rounds = [
    { id: 1, question: "one", answers: [answer("a1")] },
    { id: 2, question: "two", answers: [answer("a2"), answer("b2")] },
    { id: 3, question: "three", answers: [answer(""), answer("b3")] },
  ];
  const texts = (column: number) => buildTurns(rounds, column).map(({ text }) => text);
  expect(texts(0)).toEqual(["one", "a1", "two", "a2", "three"]);
  expect(texts(1)).toEqual(["one", "a1", "two", "b2", "three", "b3"]);
});

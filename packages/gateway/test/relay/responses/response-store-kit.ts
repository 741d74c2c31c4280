import { createToken, signIn } from "@fairway/testkit";
import { expect } from "vitest";
import type { RelayBench } from "../../kit/relay-app.ts";

export interface Answer {
  readonly id: string;
  readonly status: string;
  readonly store: boolean;
  readonly usage: object;
  readonly output: readonly Readonly<Record<string, unknown>>[];
}

export const TOOLS = [
  { type: "function", name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
];
let serial = 0;

/** Returns calls of the Responses API. */
export function openResponseClient(relay: RelayBench) {
  const send = (body: object, key = relay.key) => relay.gateway.post("/v1/responses", body, key);
  return {
    send,
    /** Returns the response object, including that of a stream. */
    async respond(body: { readonly stream?: boolean; readonly [name: string]: unknown }): Promise<Answer> {
      const answer = await send(body);
      const text = await answer.text();
      expect([answer.status, text]).toEqual([200, text]);
      if (!body.stream) return JSON.parse(text) as Answer;
      const last = text.split("\n\n").findLast((block) => /event: response\.(?:completed|incomplete)/.test(block));
      return (JSON.parse(last?.split("\ndata: ")[1] ?? "{}") as { response: Answer }).response;
    },
    call: (method: string, rest: string, key = relay.key) =>
      fetch(`${relay.gateway.url}/v1/responses/${rest}`, { method, headers: { authorization: `Bearer ${key}` } }),
    async answered<T = unknown>(asked: Promise<Response>): Promise<T> {
      const answer = await asked;
      expect(answer.status).toBe(200);
      return (await answer.json()) as T;
    },
  };
}

/** Returns roles and texts as an upstream of Anthropic's protocol received them. */
export function anthropicMessages(body: object | undefined): [role: string, text: string][] {
  const { messages } = body as { messages: { role: string; content: string | { text: string }[] }[] };
  return messages.map(({ role, content }) => [
    role,
    typeof content === "string" ? content : content.map(({ text }) => text).join(""),
  ]);
}

/** Returns the key of another user without a balance. */
export async function stranger({ gateway }: RelayBench): Promise<string> {
  const name = `stranger${++serial}`;
  const password = "a-long-password";
  await gateway.root.must("POST", "/api/user/", { username: name, password, display_name: name });
  return createToken(await signIn(gateway.url, name, password));
}

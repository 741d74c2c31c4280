import * as z from "zod/mini";
import { readLines } from "../terminal/events.ts";
import { CliError, EXIT } from "../core/exit.ts";
import { jsonIn } from "../core/json.ts";
import type { Answer as Reply } from "./request.ts";
import type { Transport } from "./transport.ts";

/** One turn of a conversation. */
export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface Answer {
  readonly text: string;
  /** Undefined if the model did not report it, or was stopped first. */
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | undefined;
  readonly requestId: string;
  /** True if the user stopped it. */
  readonly isStopped: boolean;
}

export interface Asked {
  readonly transport: Transport;
  readonly server: string;
  readonly key: string;
  readonly model: string;
  readonly messages: readonly Message[];
}

const Usage = z.object({ prompt_tokens: z.number(), completion_tokens: z.number() });
const Chunk = z.object({
  choices: z.optional(z.array(z.object({ delta: z.optional(z.object({ content: z.nullish(z.string()) })) }))),
  usage: z.nullish(Usage),
  error: z.optional(z.unknown()),
});
const Problem = z.object({ error: z.object({ message: z.string() }) });
const Models = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Streams one answer; `onText` gets its pieces. The text before `stop` is the answer. */
export async function streamChat(asked: Asked, onText: (text: string) => void, stop?: AbortSignal): Promise<Answer> {
  const { transport, server, key, model, messages } = asked;
  const body = JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } });
  let text = "";
  let usage: Answer["usage"];
  let requestId = "";
  try {
    const response = await post(transport, `${server}/v1/chat/completions`, { key, body, signal: stop });
    requestId = response.headers.get("x-oneapi-request-id") ?? "";
    for await (const chunk of readChunks(response)) {
      const piece = readChunkText(chunk);
      text += piece;
      if (piece !== "") onText(piece);
      usage = chunk.usage ?? usage;
    }
  } catch (error) {
    if (!stop?.aborted) throw error;
  }
  return { text, usage, requestId, isStopped: stop?.aborted ?? false };
}

function readChunkText({ choices }: z.output<typeof Chunk>): string {
  return choices?.[0]?.delta?.content ?? "";
}

/** Lists the models that a key may call. */
export async function listModels(transport: Transport, server: string, key: string): Promise<string[]> {
  const response = await transport.head(`${server}/v1/models`, { method: "GET", headers: bearer(key) });
  if (response.status >= 300) throw toCliError(await response.text(), response);
  return z.parse(Models, jsonIn(await response.text())).data.map(({ id }) => id);
}

interface Posted {
  readonly key: string;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
}

async function post(transport: Transport, url: string, { key, body, signal }: Posted): Promise<Reply> {
  const headers = { ...bearer(key), "content-type": "application/json" };
  const response = await transport.ask(url, { method: "POST", headers, body, ...(signal ? { signal } : {}) });
  if (response.status >= 300) throw toCliError(await response.text(), response);
  return response;
}

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

/** Returns the events of a stream up to its end; a stream that breaks off is a lost connection. */
async function* readChunks(response: Reply): AsyncGenerator<z.output<typeof Chunk>> {
  const lines = readLines(response.body);
  try {
    for await (const line of lines) {
      const data = line.startsWith("data:") ? line.slice(5).trim() : "";
      if (data === "[DONE]") return;
      if (data === "") continue;
      const parsed = z.safeParse(Chunk, jsonIn(data));
      if (!parsed.success) continue;
      if (parsed.data.error !== undefined) throw toCliError(data, response);
      yield parsed.data;
    }
  } catch (error) {
    throw error instanceof CliError ? error : new CliError("the connection was lost before the end", EXIT.unreachable);
  }
  throw new CliError("the answer broke off before its end", EXIT.unreachable);
}

/** Reads the error of a model call, in OpenAI's or Anthropic's form. */
export function toCliError(text: string, { status, headers }: Reply): CliError {
  const parsed = z.safeParse(Problem, jsonIn(text));
  const message = parsed.success ? parsed.data.error.message : `the gateway answered with status ${status}`;
  const wait = headers.get("retry-after");
  return new CliError(message, toExitCode(status), wait === null ? undefined : `try again in ${wait} s`);
}

/** Same as for the management API; 200 is an error inside a stream. */
function toExitCode(status: number): number {
  if (status === 401 || status === 403) return EXIT.forbidden;
  if (status === 429 || status >= 500 || status === 200) return EXIT.unreachable;
  return status === 404 ? EXIT.notFound : EXIT.usage;
}

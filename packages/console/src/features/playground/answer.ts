import { eventBatches } from "../../lib/server/sse.ts";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";

/** An error reported by the gateway. */
export interface Failure {
  /** HTTP status; 200 if the answer had begun. */
  readonly status: number;
  readonly message: string;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Seconds to wait, if the gateway named them. */
  readonly retryAfter: number | undefined;
}

export interface Usage {
  readonly input: number;
  readonly output: number;
}

/** One step of an answer as it arrives. */
export type Step =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thought"; readonly text: string }
  | { readonly kind: "usage"; readonly usage: Usage }
  | { readonly kind: "failure"; readonly failure: Failure }
  /** The stream reported that it is complete. */
  | { readonly kind: "end" };

function object(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

type Head = Pick<Response, "status" | "statusText" | "headers">;

/** Reads the error envelope of the relay; other bodies are described by their status. */
export function parseFailure(body: string, head: Head): Failure {
  const envelope = parseObject(body);
  const error = object(envelope?.error);
  const wait = Number(head.headers.get("retry-after"));
  return {
    status: head.status,
    message: text(error?.message) || text(envelope?.message) || head.statusText || String(head.status),
    code: text(error?.code) || text(error?.type),
    requestId: head.headers.get("x-oneapi-request-id") ?? undefined,
    retryAfter: wait > 0 ? wait : undefined,
  };
}

function usageSteps(value: unknown): Step[] {
  const usage = object(value);
  if (!usage) return [];
  const count = (name: string) => (typeof usage[name] === "number" ? usage[name] : 0);
  return [{ kind: "usage", usage: { input: count("prompt_tokens"), output: count("completion_tokens") } }];
}

function deltaSteps(choice: unknown): Step[] {
  const delta = object(object(choice)?.delta);
  const thought = text(delta?.reasoning_content) || text(delta?.reasoning);
  const said = text(delta?.content);
  const steps: Step[] = thought === "" ? [] : [{ kind: "thought", text: thought }];
  return said === "" ? steps : [...steps, { kind: "text", text: said }];
}

/** Parses one event of the stream. An empty list of choices ends it, like the done marker. */
export function parseSteps(data: string, head: Head): Step[] {
  if (data === "[DONE]") return [{ kind: "end" }];
  const event = parseObject(data);
  if (!event) return [];
  if (event.error !== undefined) return [{ kind: "failure", failure: parseFailure(data, head) }];
  const choices: unknown = event.choices;
  const usage = usageSteps(event.usage);
  if (!Array.isArray(choices)) return usage;
  return choices.length === 0 ? [...usage, { kind: "end" }] : [...deltaSteps(choices[0]), ...usage];
}

/**
 * The gateway sends a heartbeat every quarter of a minute. A gateway without heartbeats may be silent while a model
 * thinks, so this is many times as long.
 */
const SILENCE_MS = 180_000;

/** Reads an answer step by step. Finishes without an `end` step if the connection ended early. */
export async function* readSteps(response: Response): AsyncGenerator<Step> {
  if (!response.ok || !response.body) {
    yield { kind: "failure", failure: parseFailure(await response.text(), response) };
    return;
  }
  for await (const events of eventBatches(response.body, SILENCE_MS)) {
    for (const { data } of events) {
      const steps = parseSteps(data, response);
      yield* steps;
      if (steps.some(({ kind }) => kind === "end" || kind === "failure")) return;
    }
  }
}

import type { LogExplanation, LogPage } from "@fairway/wire";
import type { RelayBench } from "../../kit/relay-app.ts";

/** The model that clients ask for, on a channel of another protocol than the one that they fall back to. */
export const FIRST = "claude-opus-5";
export const SECOND = "gpt-5.6";

export interface Said {
  readonly status?: number;
  readonly body?: string | Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export const OVERLOADED: Said = {
  status: 529,
  body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
};

export const TOO_LONG: Said = {
  status: 400,
  body: {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 1200000 tokens > 1000000 maximum" },
  },
};

export const REFUSED: Said = {
  body: {
    id: "msg_r",
    type: "message",
    role: "assistant",
    model: FIRST,
    content: [],
    stop_reason: "refusal",
    stop_sequence: null,
    usage: { input_tokens: 20, output_tokens: 0 },
  },
};

export const ANSWER: Said = {
  body: {
    id: "chatcmpl-9",
    object: "chat.completion",
    created: 1_790_000_000,
    model: SECOND,
    choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
  },
};

export const BAD_PARAMETER: Said = {
  status: 400,
  body: { error: { message: "bad param", type: "invalid_request_error", param: "x", code: null } },
};

/** Scripts the answers of both upstreams; returns the bodies that they received, in order. */
export function answer(relay: RelayBench, ofFirst: Said, ofSecond: Said): Record<string, unknown>[] {
  const seen: Record<string, unknown>[] = [];
  const script = (path: string, said: Said) =>
    relay.gateway.upstream.script(path, (request) => {
      seen.push(JSON.parse(request.body.toString()) as Record<string, unknown>);
      return said;
    });
  script("/v1/messages", ofFirst);
  script("/chat/completions", ofSecond);
  return seen;
}

export async function explain(relay: RelayBench, response: Response): Promise<LogExplanation> {
  await response.text();
  await relay.gateway.settled();
  const id = response.headers.get("x-request-id") ?? "";
  const page = (await relay.gateway.root.must("GET", `/api/log/?request_id=${id}`)) as LogPage;
  return (await relay.gateway.root.must("GET", `/api/log/${page.items[0]?.id ?? 0}/explain`)) as LogExplanation;
}

import { request } from "undici";
import { createServiceAgent, type Network } from "./network.ts";

export interface Sending {
  readonly url: string;
  readonly method: "POST" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export interface Sent {
  readonly status: number;
  /** Returns a header of the answer; "" if it is absent. */
  header(name: string): string;
  /** The beginning of the answer. */
  readonly text: string;
}

const LONGEST_ANSWER = 4_096;

/** Sends a body to a service of the operator. Rejects if there is no answer. */
export type Send = (sending: Sending) => Promise<Sent>;

/** Redirects are not followed, because they would send the body elsewhere. */
export function createSend(network: Network): Send {
  const agent = createServiceAgent({ network, guard: {} });
  return async ({ url, method, headers, body, signal }) => {
    const dispatcher = agent.current();
    const answer = await request(url, { method, headers, body, signal, dispatcher });
    let text = "";
    for await (const chunk of answer.body as AsyncIterable<Buffer>)
      if (text.length < LONGEST_ANSWER) text += chunk.toString("utf8");
    const header = (name: string) => String(answer.headers[name] ?? "");
    return { status: answer.statusCode, header, text: text.slice(0, LONGEST_ANSWER) };
  };
}

import { request } from "undici";

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

/**
 * Sends a body to a service of the operator. Redirects are not followed, because they would send the body elsewhere.
 */
export async function send({ url, method, headers, body, signal }: Sending): Promise<Sent> {
  const { statusCode, headers: received, body: answer } = await request(url, { method, headers, body, signal });
  let text = "";
  for await (const chunk of answer as AsyncIterable<Buffer>)
    if (text.length < LONGEST_ANSWER) text += chunk.toString("utf8");
  const header = (name: string) => String(received[name] ?? "");
  return { status: statusCode, header, text: text.slice(0, LONGEST_ANSWER) };
}

import type { UpstreamAnswer } from "./types.ts";

const MAX_BYTES = 64 * 1024 * 1024;

/** Reads the whole body of an answer that must be inspected before it can be passed on. */
export async function wholeBody(answer: UpstreamAnswer, maxBytes = MAX_BYTES): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer.body) {
    size += part.length;
    if (size > maxBytes) throw new Error(`the answer exceeds ${maxBytes} bytes`);
    parts.push(part);
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size);
}

/** Yields the bytes as the body of an answer. */
export async function* createBodyStream(...parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}

export function jsonAnswer(
  json: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): UpstreamAnswer {
  return {
    status,
    headers: { ...headers, "content-type": "application/json" },
    body: createBodyStream(Buffer.from(JSON.stringify(json))),
  };
}

/** An answer whose body was read, and which can still be passed on. */
export interface ReadAnswer {
  readonly answer: UpstreamAnswer;
  readonly bytes: Buffer;
}

/** Returns the bytes of an answer, and the same answer with a body that can be read again. */
export async function readWhole(answer: UpstreamAnswer): Promise<ReadAnswer> {
  const bytes = await wholeBody(answer);
  return { bytes, answer: { ...answer, body: createBodyStream(bytes) } };
}

/** Decides by the content type alone. */
export function isJsonAnswer(answer: UpstreamAnswer): boolean {
  return /^(?:application|text)\/(?:[\w.+-]+\+)?json\b/.test(answer.headers["content-type"] ?? "");
}

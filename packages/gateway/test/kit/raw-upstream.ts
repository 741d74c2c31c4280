// An upstream whose answers are written byte by byte: what the fake upstream of the testkit is too well-mannered for.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeBlock } from "../../src/lib/text/sse.ts";

export type RawAnswer = (response: ServerResponse) => unknown;

export interface RawUpstream {
  readonly url: string;
  /** Calls since the last `answers`. */
  readonly calls: number;
  /** Sets what it answers in turn; the last one again and again. */
  answers(...next: readonly RawAnswer[]): void;
  close(): void;
}

export async function startRawUpstream(): Promise<RawUpstream> {
  let answers: readonly RawAnswer[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume().once("end", () => void answers[Math.min(calls++, answers.length - 1)]?.(response));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get calls() {
      return calls;
    },
    answers(...next) {
      answers = next;
      calls = 0;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Event blocks; those of objects with a `type` get its name where `named` is set. */
export function buildEventBlocks(events: readonly (object | string)[], named = false): string[] {
  return events.map((event) => {
    if (typeof event === "string") return `data: ${event}\n\n`;
    const name = named && "type" in event ? String(event.type) : undefined;
    return encodeBlock(JSON.stringify(event), name);
  });
}

export const EVENTS = { "content-type": "text/event-stream" };

/** Writes each block apart, so that none shares a read of the socket, and then ends as `end` says. */
export function streamed(
  blocks: readonly string[],
  end: RawAnswer = (response) => response.end(),
  { headers = EVENTS, gapMs = 15 }: { readonly headers?: Record<string, string>; readonly gapMs?: number } = {},
): RawAnswer {
  return async (response) => {
    response.writeHead(200, headers);
    for (const block of blocks) {
      response.write(block);
      await sleep(gapMs);
    }
    await end(response);
  };
}

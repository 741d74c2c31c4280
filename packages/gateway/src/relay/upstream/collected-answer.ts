import type { UpstreamAnswer, UpstreamCall } from "../../providers/core/types.ts";
import type { Upstreams, UpstreamTimeouts } from "./upstream.ts";

/** A whole answer of an upstream, up to `maxBytes`. */
export interface CollectedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface SendSettings {
  readonly proxy: string | undefined;
  readonly timeouts: UpstreamTimeouts;
  readonly signal: AbortSignal;
}

/** Sends one call and resolves as soon as the head arrives; the body is read with back-pressure. */
export function sendCall(upstreams: Upstreams, call: UpstreamCall, settings: SendSettings): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    let push: (chunk: Buffer) => boolean = () => true;
    let close: () => void = () => undefined;
    let fail: (error: Error) => void = reject;
    upstreams.dispatch(call, settings.proxy, settings.timeouts, {
      onRequestStart(controller) {
        if (settings.signal.aborted) controller.abort(settings.signal.reason as Error);
        else
          settings.signal.addEventListener("abort", () => controller.abort(settings.signal.reason as Error), {
            once: true,
          });
      },
      onResponseStart(controller, status, headers) {
        const body = new ReadableStream<Buffer>(
          {
            start(stream) {
              push = (chunk) => {
                stream.enqueue(chunk);
                return (stream.desiredSize ?? 0) > 0;
              };
              close = () => stream.close();
              fail = (error) => stream.error(error);
            },
            pull: () => controller.resume(),
            cancel: () => controller.abort(new Error("the answer is not read on")),
          },
          { highWaterMark: 4 },
        );
        resolve({ status, headers: headers as Record<string, string>, body });
      },
      onResponseData(controller, chunk) {
        // A parser that is resumed within a chunk of the body, and has no bytes, says so with an empty piece. If that
        // filled the queue, a quick reader would resume and pause it for ever, and the process would do nothing else.
        if (chunk.length > 0 && !push(chunk)) controller.pause();
      },
      onResponseEnd: () => close(),
      onResponseError: (_controller, error) => fail(error),
    });
  });
}

/** Reads an answer to its end; rejects if it is larger than `maxBytes`. */
export async function collect(answer: UpstreamAnswer, maxBytes: number): Promise<CollectedAnswer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer exceeds ${maxBytes} bytes`);
    parts.push(chunk);
  }
  return { status: answer.status, headers: answer.headers, body: Buffer.concat(parts, size) };
}

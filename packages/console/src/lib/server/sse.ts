import { createParser } from "eventsource-parser";
import { SilentProblem } from "../problems.ts";

interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** Returns the result of a read; throws if nothing arrives for `silenceMs`. */
async function withinSilence<T>(read: Promise<T>, silenceMs: number): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new SilentProblem(silenceMs)), silenceMs);
  try {
    return await Promise.race([read, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Yields the events of a stream with their names, in batches as they arrive. Throws if the server sends nothing for
 * `silenceMs`, not even a heartbeat: a connection that the network dropped never ends by itself.
 */
export async function* eventBatches(
  stream: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<readonly StreamEvent[]> {
  let events: StreamEvent[] = [];
  const parser = createParser({ onEvent: ({ event: name = "message", data }) => events.push({ name, data }) });
  const reader = stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read(), silenceMs);
      if (done) return;
      events = [];
      parser.feed(value);
      if (events.length > 0) yield events;
    }
  } finally {
    // The connection closes too; the result of that does not matter.
    void reader.cancel().catch(() => undefined);
  }
}

import { createParser } from "eventsource-parser";
import { SilentProblem } from "../problems.ts";

interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** What a read gives, or an error when nothing comes for so long. */
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
 * The events of a stream with their names, together as they arrive. A stream whose server says nothing for
 * `silenceMs`, not even that it is there, throws: a connection that a network forgot never ends by itself.
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
    // The connection closes too; how its end fares is of no interest.
    void reader.cancel().catch(() => undefined);
  }
}

import { createParser } from "eventsource-parser";

/** Splits the text of an event stream into the data of its events; pieces may end anywhere. */
export function createEventReader(): (piece: string) => string[] {
  let read: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => data !== "" && read.push(data) });
  return (piece) => {
    read = [];
    parser.feed(piece);
    return read;
  };
}

interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** What a read gives, or an error when nothing comes for so long. */
async function withinSilence<T>(read: Promise<T>, silenceMs: number): Promise<T> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new Error("the stream is silent")), silenceMs);
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

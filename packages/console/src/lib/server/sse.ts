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

/** The events of a stream with their names, together as they arrive. */
export async function* eventBatches(stream: ReadableStream<Uint8Array>): AsyncGenerator<readonly StreamEvent[]> {
  let events: StreamEvent[] = [];
  const parser = createParser({ onEvent: ({ event: name = "message", data }) => events.push({ name, data }) });
  const reader = stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    events = [];
    parser.feed(value);
    if (events.length > 0) yield events;
  }
}

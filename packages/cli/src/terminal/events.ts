/** One server-sent event; `name` is "" for a heartbeat. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Yields the events of a body in order, including heartbeats, until the server ends the stream. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  for await (const block of splitAt(body, "\n\n")) {
    const fields = block.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line));
    const listFieldValues = (field: string) =>
      fields.filter((found) => found?.[1] === field).map((found) => found?.[2] ?? "");
    yield { name: listFieldValues("event").at(-1) ?? "", data: listFieldValues("data").join("\n") };
  }
}

/** Yields the lines of a body; text after the last line end belongs to a line that was cut off. */
export function readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  return splitAt(body, "\n");
}

async function* splitAt(body: AsyncIterable<Uint8Array>, end: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split(end);
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

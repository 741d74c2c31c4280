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

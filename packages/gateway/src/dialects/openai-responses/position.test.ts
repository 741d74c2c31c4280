import { expect, it } from "vitest";
import { encodeBlock } from "../../lib/text/sse.ts";
import { trackResponses } from "./position.ts";

const block = (event: object) => encodeBlock(JSON.stringify(event), "x");
const created = block({ type: "response.created", response: { id: "resp_1" }, sequence_number: 0 });
const delta = (at: number) => block({ type: "response.output_text.delta", delta: "word", sequence_number: at });

it.each([1, 3, 400])("knows the response and the next number, %d events at once", (size) => {
  const position = trackResponses();
  expect(position.options()).toEqual({ sequence: 0, response: undefined });
  const events = [created, ...Array.from({ length: 999 }, (_, at) => delta(at + 1))];
  for (let at = 0; at < events.length; at += size) position.feed(Buffer.from(events.slice(at, at + size).join("")));
  expect(position.options()).toEqual({ sequence: 1000, response: { id: "resp_1" } });
});

it("takes one event that is larger than others together", () => {
  const position = trackResponses();
  position.feed(Buffer.from(created));
  position.feed(Buffer.from(block({ type: "response.output_item.done", item: "x".repeat(9000), sequence_number: 7 })));
  expect(position.options()).toEqual({ sequence: 8, response: { id: "resp_1" } });
});

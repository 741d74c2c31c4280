import { describe, expect, it } from "vitest";
import { createBridgeContext, listEventData, event } from "../../../../test/kit/provider-kit.ts";
import { chatBridge } from "./chat.ts";

const document = { id: "doc:0", title: "Penguins", snippet: "s", url: "https://a.example" };
const citation = {
  start: 4,
  end: 9,
  text: "birds",
  sources: [
    { type: "document", id: "doc:0", document },
    { type: "document", id: "doc:1", document: { id: "doc:1", snippet: "no address" } },
    { type: "tool", id: "look:0", tool_output: { url: "https://b.example" } },
  ],
  type: "TEXT_CONTENT",
};
const annotations = [
  {
    type: "url_citation",
    url_citation: { start_index: 4, end_index: 9, title: "Penguins", url: "https://a.example" },
  },
  { type: "url_citation", url_citation: { start_index: 4, end_index: 9, title: "", url: "https://b.example" } },
];
const content = [{ type: "text", text: "The birds." }];
const answered = (citations: object[]) =>
  chatBridge
    .begin(createBridgeContext())
    .response({ message: { content, citations }, finish_reason: "COMPLETE" } as never);

describe("citations", () => {
  it("are annotations of the message where their sources have an address", () => {
    const answer = answered([citation, { ...citation, type: "PLAN" }]);
    expect(answer["choices"]).toMatchObject([{ message: { content: "The birds.", annotations } }]);
    expect(JSON.stringify(answered([]))).not.toContain("annotations");
  });

  it("stream when they begin", () => {
    const stream = chatBridge.begin(createBridgeContext()).stream();
    const started = (citations: object) =>
      listEventData(
        stream.event(event({ type: "citation-start", index: 0, delta: { message: { citations } } } as never)),
      );
    stream.event(event({ type: "message-start", id: "c" }));
    expect(started(citation)).toMatchObject([{ choices: [{ delta: { annotations } }] }]);
    expect(started({ ...citation, sources: [] })).toEqual([]);
  });
});

import { expect, it } from "vitest";
import { run } from "../../../test/bridge-run.ts";
import type { DialectId, JsonObject } from "../types.ts";

const cited = {
  type: "web_search_result_location",
  url: "https://e.example",
  title: "E",
  encrypted_index: "i",
  cited_text: "sun",
};
const block = (index: number, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block: { type: "text", text: "" } },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const text = (written: string) => ({ type: "text_delta", text: written });
const citation = { type: "citations_delta", citation: cited };
const place = { start_index: 4, end_index: 10, url: "https://e.example", title: "E" };
const streamed = (client: DialectId, before: string, ...deltas: object[]) =>
  run(client, "anthropic-messages", "claude").stream([
    { type: "message_start", message: { id: "msg_1", model: "claude" } },
    ...(before === "" ? [] : block(0, text(before))),
    ...block(1, ...deltas),
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
  ]);

it.each([
  ["before", [citation, text("Sunny"), text(".")]],
  ["after", [text("Sunny"), text("."), citation]],
])("a citation that streams %s its text names the place of it", (_when, deltas) => {
  const chunks = streamed("openai-chat", "Yes ", ...deltas);
  const annotations = chunks.flatMap((chunk) => {
    const [choice] = chunk["choices"] as { delta?: JsonObject }[];
    return (choice?.delta?.["annotations"] as object[] | undefined) ?? [];
  });
  expect(annotations).toEqual([{ type: "url_citation", url_citation: place }]);
});

it("a citation before the first word is not lost on Responses clients", () => {
  const last = streamed("openai-responses", "", citation, text("Sunny.")).at(-1);
  const annotations = [{ type: "url_citation", ...place, start_index: 0, end_index: 6 }];
  expect(last).toMatchObject({ response: { output: [{ content: [{ annotations }] }] } });
});

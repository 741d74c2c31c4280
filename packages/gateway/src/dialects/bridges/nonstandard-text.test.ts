// Text and thinking of chat answers as servers other than the official ones write them.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const CLIENTS: readonly DialectId[] = ["anthropic-messages", "openai-responses", "gemini-generate"];
const chunk = (delta: object, finish: string | null = null) => ({
  id: "1",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const thinkingPart = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
type Said = readonly [thought: string, written: string];
const NOTHING: Said = ["", ""];
const joined = (a: Said, b: Said): Said => [a[0] + b[0], a[1] + b[1]];
const readType = (json: JsonObject) => (typeof json["type"] === "string" ? json["type"] : "");
const isThinking = (json: JsonObject) => json["thought"] === true || /summary|thinking/.test(readType(json));
/** Collects every text of an answer or of its deltas. */
const said = (json: unknown, isThought = false): Said => {
  if (json === null || typeof json !== "object") return NOTHING;
  if (Array.isArray(json)) return json.map((item) => said(item, isThought)).reduce(joined, NOTHING);
  const object = json as JsonObject;
  const inner = isThought || isThinking(object);
  const own = [object["thinking"], object["text"], object["delta"]].find((value) => typeof value === "string");
  if (own !== undefined && own !== "") return inner ? [own, ""] : ["", own];
  return Object.values(object)
    .map((value) => said(value, inner))
    .reduce(joined, NOTHING);
};
/** Returns the deltas of a stream, without the events that repeat them. */
const listDeltas = (client: DialectId, events: JsonObject[]) =>
  client === "openai-responses" ? events.filter((event) => readType(event).endsWith(".delta")) : events;

describe.each(CLIENTS)("%s clients read", (client) => {
  const answer = (message: object) => {
    const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }];
    return said(run(client, "openai-chat", "m").answer({ id: "1", model: "m", choices }));
  };
  const streamed = (...deltas: object[]) =>
    said(
      listDeltas(
        client,
        run(client, "openai-chat", "m").stream([...deltas.map((delta) => chunk(delta)), chunk({}, "stop")]),
      ),
    );

  it("text and thinking that come as parts", () => {
    const parts = [thinkingPart("hm"), { type: "text", text: "Sunny" }];
    expect(answer({ content: parts })).toEqual(["hm", "Sunny"]);
    expect(streamed(...parts.map((part) => ({ content: [part] })))).toEqual(["hm", "Sunny"]);
  });

  it("images next to the words", () => {
    const url = "data:image/png;base64,iVBORw0KGgo=";
    const images = [{ type: "image_url", index: 0, image_url: { url } }];
    const reported = client === "gemini-generate" ? "Here" : `Here![image](${url})`;
    expect(answer({ content: "Here", images })).toEqual(["", reported]);
    expect(streamed({ content: "Here" }, { content: "", images })).toEqual(["", reported]);
    const parts = [{ text: "Here" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }];
    if (client !== "gemini-generate") return;
    const choices = [{ message: { content: "Here", images }, finish_reason: "stop" }];
    expect(run(client, "openai-chat", "m").answer({ choices })).toMatchObject({ candidates: [{ content: { parts } }] });
    const [event] = run(client, "openai-chat", "m").stream([chunk({ content: "Here", images })]);
    expect(event).toMatchObject({ candidates: [{ content: { parts } }] });
  });

  it("thinking whose other name is there and empty", () => {
    expect(answer({ content: "Sunny", reasoning_content: "", reasoning: "hm" })).toEqual(["hm", "Sunny"]);
    expect(streamed({ reasoning_content: "", reasoning: "hm" }, { content: "Sunny" })).toEqual(["hm", "Sunny"]);
  });
});

it("text completions read parts", () => {
  const events = run("openai-completions", "openai-chat", "m").stream([
    chunk({ content: [{ type: "text", text: "Sunny" }] }),
  ]);
  expect(events).toMatchObject([{ choices: [{ text: "Sunny" }] }]);
});

import { expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { DialectId } from "../core/types.ts";

/** The event that Azure sends before the first chunk of an answer. */
const filters = {
  choices: [],
  created: 0,
  id: "",
  model: "",
  object: "",
  prompt_filter_results: [{ prompt_index: 0 }],
};
const chunk = {
  id: "chatcmpl-1",
  model: "gpt-4.1",
  choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }],
};
const usage = { id: "chatcmpl-1", model: "gpt-4.1", choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } };

it.each<[DialectId, string]>([
  ["anthropic-messages", '"model":"gpt-4.1"'],
  ["openai-responses", '"model":"gpt-4.1"'],
  ["gemini-generate", '"modelVersion":"gpt-4.1"'],
])("%s clients: an event before the answer names nothing", (client, named) => {
  const events = run(client, "openai-chat", "gpt-4.1").stream([filters, chunk, usage]);
  expect(JSON.stringify(events[0])).toContain(named);
  expect(JSON.stringify(events)).not.toMatch(/"model(?:Version)?":""/);
});

it.each<[DialectId, string]>([
  ["anthropic-messages", "message_stop"],
  ["openai-responses", "response.completed"],
])("%s clients: a stream without a choice still begins before it ends", (client, last) => {
  const events = run(client, "openai-chat", "gpt-4.1").stream([usage]);
  expect(events[0]?.["type"]).toMatch(/^(message_start|response\.created)$/);
  expect(events.at(-1)?.["type"]).toBe(last);
});

it("instructions of a developer are the system's where a server may not know developers", () => {
  const input = [
    { type: "message", role: "developer", content: "be brief" },
    { role: "user", content: "hi" },
  ];
  const body = run("openai-responses", "openai-chat", "some-model").request({ input });
  expect(body["messages"]).toMatchObject([{ role: "system", content: "be brief" }, { role: "user" }]);
});

it.each<DialectId>(["anthropic-messages", "gemini-generate"])(
  "files retained by OpenAI are out of reach for %s",
  (upstream) => {
    const messages = [{ role: "user", content: [{ type: "file", file: { file_id: "file-abc" } }] }];
    expect(() => run("openai-chat", upstream, "m").request({ messages })).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", param: "file.file_id" }),
    );
  },
);

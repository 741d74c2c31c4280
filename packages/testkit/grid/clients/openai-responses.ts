import { at, countAt, listAt, parsed, textAt } from "../json.ts";
import { NOTHING_SEEN, type GridRequest, type Client, type Finish, type Json, type Seen, type Turn } from "../types.ts";
import { PNG_TYPE, TOOLS } from "../words.ts";

export const openaiResponses: Client = {
  name: "responses",
  hasStopTexts: false,
  request: (asked, model, isStream) => ({
    path: "/v1/responses",
    body: {
      model,
      ...(asked.system !== undefined && { instructions: asked.system }),
      input: asked.turns.flatMap(items),
      ...options(asked),
      max_output_tokens: 4000,
      store: false,
      ...(isStream && { stream: true }),
    },
  }),
  read,
  readStream(events, isWhole) {
    const all = events.flatMap(({ data }) => (data === "[DONE]" ? [] : [data]));
    const failed = all.find((event) => event["type"] === "error");
    const last = all.at(-1);
    const isOver = ["response.completed", "response.incomplete"].includes(textAt(last, "type"));
    const seen = read((isOver ? at(last, "response") : {}) as Json);
    const said = deltas(all, "response.output_text.delta");
    const isOrdered = all.every((event, index) => event["sequence_number"] === index);
    const isNamed = events.every(({ event, data }) => event === textAt(data, "type"));
    const isAgreed = !isOver || (said === seen.text && isOrdered && isNamed);
    return {
      ...seen,
      text: said,
      isComplete: seen.isComplete && isWhole && failed === undefined && isAgreed,
      error: failed && textAt(failed, "message"),
    };
  },
  findErrorMessage: (answer) =>
    textAt(answer, "error", "type") === "" ? undefined : textAt(answer, "error", "message"),
};

function options({ hasTools, schema, thinks, choice }: GridRequest): Json {
  return {
    ...(hasTools && { tools: TOOLS.map((tool) => ({ type: "function", ...tool })) }),
    ...(choice !== undefined && { tool_choice: { type: "function", name: choice } }),
    ...(schema && { text: { format: { type: "json_schema", name: "place", schema } } }),
    ...(thinks && { reasoning: { effort: "low", summary: "auto" }, include: ["reasoning.encrypted_content"] }),
  };
}

function items(turn: Turn): readonly Json[] {
  switch (turn.role) {
    case "echo":
      return turn.turn;
    case "results":
      return turn.results.map(({ call, text }) => ({ type: "function_call_output", call_id: call.id, output: text }));
    case "assistant": {
      const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: turn.text }] };
      const calls = (turn.calls ?? []).map(({ id, name, args }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify(args),
      }));
      return [...(turn.text === "" ? [] : [said]), ...calls];
    }
    case "user": {
      const image = { type: "input_image", image_url: `data:${PNG_TYPE};base64,${turn.image}` };
      const text = { type: "input_text", text: turn.text };
      return [{ role: "user", content: turn.image === undefined ? [text] : [text, image] }];
    }
  }
}

function read(answer: Json): Seen {
  const output = listAt(answer, "output");
  const status = textAt(answer, "status");
  if (status !== "completed" && status !== "incomplete") return NOTHING_SEEN;
  const parts = output.filter((item) => item["type"] === "message").flatMap((item) => listAt(item, "content"));
  const calls = output.filter((item) => item["type"] === "function_call");
  const reasoning = output.filter((item) => item["type"] === "reasoning");
  const usage = at(answer, "usage");
  return {
    text: parts.map((part) => textAt(part, "text")).join(""),
    refusal: parts.map((part) => textAt(part, "refusal")).join(""),
    thinking: reasoning
      .flatMap((item) => [...listAt(item, "summary"), ...listAt(item, "content")])
      .map((part) => textAt(part, "text"))
      .join(""),
    calls: calls.map((call) => ({
      id: textAt(call, "call_id"),
      name: textAt(call, "name"),
      args: parsed(textAt(call, "arguments")),
    })),
    finish: readFinish(answer, calls.length > 0),
    usage: usage
      ? {
          input: countAt(usage, "input_tokens"),
          output: countAt(usage, "output_tokens"),
          cached: countAt(usage, "input_tokens_details", "cached_tokens"),
        }
      : undefined,
    turn: output,
    isComplete: true,
    error: undefined,
  };
}

function readFinish(answer: Json, hasCalls: boolean): Finish {
  const reason = textAt(answer, "incomplete_details", "reason");
  if (reason === "max_output_tokens") return "length";
  if (reason === "content_filter") return "content_filter";
  return hasCalls ? "tool_calls" : "stop";
}

function deltas(events: readonly Json[], type: string): string {
  return events
    .filter((event) => event["type"] === type)
    .map((event) => textAt(event, "delta"))
    .join("");
}

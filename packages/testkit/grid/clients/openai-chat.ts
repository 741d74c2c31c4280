import { at, countAt, listAt, parsed, textAt } from "../json.ts";
import { NOTHING_SEEN, type GridRequest, type Client, type Finish, type Json, type Seen, type Turn } from "../types.ts";
import { PNG_TYPE, TOOLS } from "../words.ts";

export const openaiChat: Client = {
  name: "chat",
  hasStopTexts: true,
  request: (asked, model, isStream) => ({
    path: "/v1/chat/completions",
    body: {
      model,
      messages: [
        ...(asked.system === undefined ? [] : [{ role: "system", content: asked.system }]),
        ...asked.turns.flatMap(messages),
      ],
      ...options(asked),
      max_tokens: 4000,
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    },
  }),
  read,
  readStream(events, isWhole) {
    const chunks = events.flatMap(({ data }) => (data === "[DONE]" ? [] : [data]));
    const failed = chunks.find((chunk) => at(chunk, "error") !== undefined);
    const seen = read(assemble(chunks));
    const isComplete = seen.isComplete && isWhole && events.at(-1)?.data === "[DONE]" && failed === undefined;
    return { ...seen, isComplete, error: failed && textAt(failed, "error", "message") };
  },
  findErrorMessage: (answer) =>
    textAt(answer, "error", "type") === "" ? undefined : textAt(answer, "error", "message"),
};

function options({ hasTools, schema, stop, thinks, choice }: GridRequest): Json {
  return {
    ...(hasTools && { tools: TOOLS.map((tool) => ({ type: "function", function: tool })) }),
    ...(choice !== undefined && { tool_choice: { type: "function", function: { name: choice } } }),
    ...(schema && { response_format: { type: "json_schema", json_schema: { name: "place", schema } } }),
    ...(stop !== undefined && { stop: [stop] }),
    ...(thinks && { reasoning_effort: "low" }),
  };
}

function messages(turn: Turn): readonly Json[] {
  switch (turn.role) {
    case "echo":
      return turn.turn;
    case "results":
      return turn.results.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }));
    case "assistant": {
      const calls = turn.calls?.map(({ id, name, args }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      }));
      return [{ role: "assistant", content: turn.text, ...(calls && { tool_calls: calls }) }];
    }
    case "user": {
      const url = `data:${PNG_TYPE};base64,${turn.image}`;
      const image = { type: "image_url", image_url: { url } };
      return [
        { role: "user", content: turn.image === undefined ? turn.text : [{ type: "text", text: turn.text }, image] },
      ];
    }
  }
}

function read(answer: Json): Seen {
  const message = at(answer, "choices", 0, "message") as Json | undefined;
  if (message === undefined) return NOTHING_SEEN;
  const finish = textAt(answer, "choices", 0, "finish_reason");
  const usage = at(answer, "usage");
  return {
    text: textAt(message, "content"),
    refusal: textAt(message, "refusal"),
    thinking: textAt(message, "reasoning_content"),
    calls: listAt(message, "tool_calls").map((call) => ({
      id: textAt(call, "id"),
      name: textAt(call, "function", "name"),
      args: parsed(textAt(call, "function", "arguments")),
    })),
    finish: finish === "" ? undefined : (finish as Finish),
    usage: usage
      ? {
          input: countAt(usage, "prompt_tokens"),
          output: countAt(usage, "completion_tokens"),
          cached: countAt(usage, "prompt_tokens_details", "cached_tokens"),
        }
      : undefined,
    turn: [message],
    isComplete: finish !== "",
    error: undefined,
  };
}

/** Combines the chunks into the whole answer. */
function assemble(chunks: readonly Json[]): Json {
  const message: Record<string, unknown> = { role: "assistant" };
  const calls: Record<string, unknown>[] = [];
  let finish: unknown;
  let usage: unknown;
  for (const chunk of chunks) {
    usage = at(chunk, "usage") ?? usage;
    finish = at(chunk, "choices", 0, "finish_reason") ?? finish;
    const delta = at(chunk, "choices", 0, "delta") ?? {};
    for (const piece of listAt(delta, "tool_calls")) addCall(calls, piece);
    addMembers(message, delta);
  }
  if (calls.length > 0) message["tool_calls"] = calls;
  return { choices: [{ message, finish_reason: finish ?? null }], usage };
}

/** Joins texts and lists; all other values mean nothing in a delta. */
function addMembers(message: Record<string, unknown>, delta: object): void {
  for (const [name, value] of Object.entries(delta) as [string, unknown][]) {
    if (name === "tool_calls" || name === "role") continue;
    if (Array.isArray(value)) message[name] = [...listAt(message, name), ...listAt(delta, name)];
    else if (typeof value === "string") message[name] = textAt(message, name) + value;
  }
}

function addCall(calls: Record<string, unknown>[], piece: Json): void {
  const index = countAt(piece, "index");
  const before = calls[index];
  const written = textAt(before, "function", "arguments") + textAt(piece, "function", "arguments");
  const name = textAt(before, "function", "name") || textAt(piece, "function", "name");
  calls[index] = {
    id: textAt(before, "id") || textAt(piece, "id"),
    type: "function",
    function: { name, arguments: written },
  };
}

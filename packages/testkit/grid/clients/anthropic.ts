import { at, countAt, listAt, parsed, textAt } from "../json.ts";
import {
  NOTHING_SEEN,
  type GridRequest,
  type Client,
  type Finish,
  type Json,
  type Seen,
  type StreamData,
  type Turn,
} from "../types.ts";
import { PNG_TYPE, TOOLS } from "../words.ts";

const FINISHES: Readonly<Record<string, Finish>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

export const anthropicMessages: Client = {
  name: "messages",
  hasStopTexts: true,
  request: (asked, model, isStream) => ({
    path: "/v1/messages",
    body: {
      model,
      max_tokens: 4000,
      ...(asked.system !== undefined && { system: asked.system }),
      messages: asked.turns.flatMap(messages),
      ...options(asked),
      ...(isStream && { stream: true }),
    },
  }),
  read,
  readStream(events, isWhole) {
    const failed = events.find(({ event }) => event === "error");
    const isNamed = events.every(({ event, data }) => event === textAt(data, "type"));
    const seen = read(assemble(events));
    return {
      ...seen,
      isComplete:
        seen.isComplete && isWhole && isNamed && events.at(-1)?.event === "message_stop" && failed === undefined,
      error: failed && textAt(failed.data, "error", "message"),
    };
  },
  findErrorMessage: (answer) => (answer["type"] === "error" ? textAt(answer, "error", "message") : undefined),
};

function options({ hasTools, schema, stop, thinks, choice }: GridRequest): Json {
  return {
    ...(hasTools && {
      tools: TOOLS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    }),
    ...(choice !== undefined && { tool_choice: { type: "tool", name: choice } }),
    ...(schema && { output_config: { format: { type: "json_schema", schema } } }),
    ...(stop !== undefined && { stop_sequences: [stop] }),
    ...(thinks && { thinking: { type: "enabled", budget_tokens: 1280 } }),
  };
}

function messages(turn: Turn): readonly Json[] {
  switch (turn.role) {
    case "echo":
      return [{ role: "assistant", content: turn.turn }];
    case "results": {
      const blocks = turn.results.map(({ call, text }) => ({
        type: "tool_result",
        tool_use_id: call.id,
        content: text,
      }));
      return [{ role: "user", content: blocks }];
    }
    case "assistant": {
      const text = turn.text === "" ? [] : [{ type: "text", text: turn.text }];
      const calls = (turn.calls ?? []).map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }));
      return [{ role: "assistant", content: [...text, ...calls] }];
    }
    case "user": {
      const source = { type: "base64", media_type: PNG_TYPE, data: turn.image };
      const text = { type: "text", text: turn.text };
      return [{ role: "user", content: turn.image === undefined ? turn.text : [text, { type: "image", source }] }];
    }
  }
}

function read(answer: Json): Seen {
  const content = listAt(answer, "content");
  const reason = textAt(answer, "stop_reason");
  if (answer["type"] !== "message") return NOTHING_SEEN;
  const joinText = (type: string, key: string) =>
    content
      .filter((block) => block["type"] === type)
      .map((block) => textAt(block, key))
      .join("");
  const finish = FINISHES[reason];
  const text = joinText("text", "text");
  const usage = at(answer, "usage");
  const cached = countAt(usage, "cache_read_input_tokens");
  return {
    text: finish === "content_filter" ? "" : text,
    refusal: finish === "content_filter" ? text : "",
    thinking: joinText("thinking", "thinking"),
    calls: content
      .filter((block) => block["type"] === "tool_use")
      .map((block) => ({ id: textAt(block, "id"), name: textAt(block, "name"), args: block["input"] })),
    finish,
    usage: usage
      ? { input: countAt(usage, "input_tokens") + cached, output: countAt(usage, "output_tokens"), cached }
      : undefined,
    turn: content,
    isComplete: finish !== undefined,
    error: undefined,
  };
}

/** Combines the events into the whole answer; blocks must open and close one after the other. */
function assemble(events: readonly StreamData[]): Json {
  let message: Json = {};
  const blocks = new Blocks();
  for (const { data } of events) {
    const type = textAt(data, "type");
    if (type === "message_start") message = at(data, "message") as Json;
    else if (type === "message_delta") {
      const usage = { ...(message["usage"] as Json), ...(at(data, "usage") as Json) };
      message = { ...message, ...(at(data, "delta") as Json), usage };
    } else if (!blocks.take(type, data)) return {};
  }
  return { ...message, content: blocks.all };
}

class Blocks {
  readonly all: Record<string, unknown>[] = [];
  #open: Record<string, unknown> | undefined;
  #json = "";

  /** Returns false if the event is not legal here. */
  take(type: string, data: unknown): boolean {
    switch (type) {
      case "content_block_start":
        return this.#start(data);
      case "content_block_delta":
        return this.#add(at(data, "delta"));
      case "content_block_stop":
        return this.#stop();
      default:
        return true;
    }
  }

  #start(data: unknown): boolean {
    if (this.#open !== undefined || countAt(data, "index") !== this.all.length) return false;
    this.#open = { ...(at(data, "content_block") as Json) };
    this.#json = "";
    return true;
  }

  #add(delta: unknown): boolean {
    if (this.#open === undefined) return false;
    this.#json += textAt(delta, "partial_json");
    for (const key of ["text", "thinking", "signature"])
      if (at(delta, key) !== undefined) this.#open[key] = textAt(this.#open, key) + textAt(delta, key);
    return true;
  }

  #stop(): boolean {
    if (this.#open === undefined) return false;
    this.all.push(this.#json === "" ? this.#open : { ...this.#open, input: parsed(this.#json) });
    this.#open = undefined;
    return true;
  }
}

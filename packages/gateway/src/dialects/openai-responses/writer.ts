import type { JsonObject, StreamEvent } from "../core/types.ts";
import { list, object, objects, text } from "../core/read.ts";

/** Writes the events of one response in their legal order, with consecutive sequence numbers. */
export class ResponseWriter {
  readonly #response: JsonObject;
  readonly #output: JsonObject[] = [];
  #sequence = 0;

  /** `response` holds what every copy of the response object shows: id, model, created_at, the request's settings. */
  constructor(response: JsonObject) {
    this.#response = response;
  }

  /** Finished items, in order. */
  get output(): readonly JsonObject[] {
    return this.#output;
  }

  /** Index of the item that is open or will be opened next. */
  get index(): number {
    return this.#output.length;
  }

  event(type: string, members: JsonObject): StreamEvent {
    return this.numbered(type, { type, ...members });
  }

  /** Builds an event from its own `data` and the next sequence number. */
  numbered(type: string, data: JsonObject): StreamEvent {
    data["sequence_number"] = this.#sequence++;
    return { event: type, data, raw: "" };
  }

  begin(): StreamEvent[] {
    const response = { ...this.#response, status: "in_progress", output: [] };
    return [this.event("response.created", { response }), this.event("response.in_progress", { response })];
  }

  openItem(item: JsonObject): StreamEvent {
    return this.event("response.output_item.added", { output_index: this.index, item });
  }

  closeItem(item: JsonObject): StreamEvent {
    const event = this.event("response.output_item.done", { output_index: this.index, item });
    this.#output.push(item);
    return event;
  }

  /** Ends the response; `outcome` holds usage and other members that are known only now. */
  end(status: "completed" | "incomplete" | "failed", outcome: JsonObject): StreamEvent {
    const response = { ...this.#response, status, output: [...this.#output], ...outcome };
    return this.event(`response.${status}`, { response });
  }
}

/** Converts a whole response to the events of a stream. */
export function toResponseEvents(response: JsonObject): StreamEvent[] {
  const { output: _output, status, usage, error, incomplete_details: details, ...shown } = response;
  const writer = new ResponseWriter(shown);
  const events = writer.begin();
  for (const item of objects(response, "output")) events.push(...writeItemEvents(writer, item));
  const end = status === "incomplete" || status === "failed" ? status : "completed";
  events.push(writer.end(end, { usage, error: error ?? null, incomplete_details: details ?? null }));
  return events;
}

function writeItemEvents(writer: ResponseWriter, item: JsonObject): StreamEvent[] {
  switch (item["type"]) {
    case "message":
      return wrap(writer, item, { content: [] }, messageEvents(writer, item));
    case "function_call":
      return wrap(writer, item, { arguments: "" }, callEvents(writer, item));
    case "reasoning":
      return wrap(writer, item, { summary: [] }, summaryEvents(writer, item));
    default:
      return [writer.openItem(item), writer.closeItem(item)];
  }
}

/** Wraps events in those that open and close an item; `inner` is called between them, as each event takes a number. */
function wrap(writer: ResponseWriter, item: JsonObject, empty: JsonObject, inner: () => StreamEvent[]): StreamEvent[] {
  const opened = writer.openItem({ ...item, status: "in_progress", ...empty });
  const events = inner();
  return [opened, ...events, writer.closeItem(item)];
}

function messageEvents(writer: ResponseWriter, item: JsonObject): () => StreamEvent[] {
  return () =>
    objects(item, "content").flatMap((part, at) => {
      const place = { item_id: item["id"], output_index: writer.index, content_index: at };
      const isText = part["type"] === "output_text";
      const key = isText ? "text" : "refusal";
      const name = isText ? "response.output_text" : "response.refusal";
      const written = text(part, key) ?? "";
      const tokens = isText ? { logprobs: [...list(part, "logprobs")] } : {};
      return [
        writer.event("response.content_part.added", { ...place, part: { ...part, [key]: "" } }),
        ...(written === "" ? [] : [writer.event(`${name}.delta`, { ...place, delta: written, ...tokens })]),
        writer.event(`${name}.done`, { ...place, [key]: written, ...tokens }),
        writer.event("response.content_part.done", { ...place, part }),
      ];
    });
}

function callEvents(writer: ResponseWriter, item: JsonObject): () => StreamEvent[] {
  return () => {
    const place = { item_id: item["id"], output_index: writer.index };
    const written = text(item, "arguments") ?? "";
    return [
      writer.event("response.function_call_arguments.delta", { ...place, delta: written }),
      writer.event("response.function_call_arguments.done", { ...place, name: item["name"], arguments: written }),
    ];
  };
}

function summaryEvents(writer: ResponseWriter, item: JsonObject): () => StreamEvent[] {
  return () =>
    objects(item, "summary").flatMap((part, at) => {
      const place = { item_id: item["id"], output_index: writer.index, summary_index: at };
      const written = text(part, "text") ?? "";
      return [
        writer.event("response.reasoning_summary_part.added", { ...place, part: { ...part, text: "" } }),
        writer.event("response.reasoning_summary_text.delta", { ...place, delta: written }),
        writer.event("response.reasoning_summary_text.done", { ...place, text: written }),
        writer.event("response.reasoning_summary_part.done", { ...place, part }),
      ];
    });
}

/** Returns the response object of a stream's last event; undefined if the stream has not ended. */
export function findFinalResponse(events: readonly JsonObject[]): JsonObject | undefined {
  const last = events.findLast((event) =>
    ["response.completed", "response.incomplete", "response.failed"].includes(text(event, "type") ?? ""),
  );
  return object(last, "response");
}

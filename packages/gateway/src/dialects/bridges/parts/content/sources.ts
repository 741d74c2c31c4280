// Servers that search report their sources next to the choices, as addresses or as search results. Other protocols have
// sources only as annotations of the text, so each source becomes an annotation of the whole text.
import { eachObject } from "../../../core/json-edit.ts";
import { anyText, isObject, list, object, objects, text } from "../../../core/read.ts";
import type { StreamBridge } from "../../../core/bridge.ts";
import type { JsonObject, StreamEvent, Usage } from "../../../core/types.ts";
import { callDeltas } from "../tools/call-sequence.ts";
import { event } from "../answer/chat-answer.ts";
import { formatMessage } from "../answer/finish-words.ts";

/** Converts the sources of a whole answer to annotations of its messages. */
export function withSources(body: JsonObject): JsonObject {
  const sources = new Sources();
  sources.read(body);
  return eachObject(body, "choices", (choice) => {
    const message = object(choice, "message");
    const annotations = objects(message, "annotations");
    const added = sources.besides(annotations, formatMessage(message).length);
    return added.length === 0
      ? choice
      : { ...choice, message: { ...message, annotations: [...annotations, ...added] } };
  });
}

/** The same for a stream: sources are reported at its end, unless it ends with calls and no text is open any more. */
export class SourcedStream implements StreamBridge {
  readonly #inner: StreamBridge;
  readonly #sources = new Sources();
  readonly #annotations: JsonObject[] = [];
  /** The length of the text so far. */
  #length = 0;
  #hasCalls = false;

  constructor(inner: StreamBridge) {
    this.#inner = inner;
  }

  event(given: StreamEvent): StreamEvent[] {
    if (given.data === undefined) return this.#inner.event(given);
    this.#sources.read(given.data);
    const [choice] = list(given.data, "choices");
    const delta = isObject(choice) ? object(choice, "delta") : undefined;
    if (delta !== undefined) {
      this.#length += formatMessage(delta).length;
      this.#hasCalls ||= callDeltas(delta).length > 0;
      this.#annotations.push(...objects(delta, "annotations"));
    }
    return this.#inner.event(given);
  }

  end(counted?: Usage): StreamEvent[] {
    const annotations = this.#hasCalls ? [] : this.#sources.besides(this.#annotations, this.#length);
    if (annotations.length === 0) return this.#inner.end(counted);
    const choice = { index: 0, delta: { annotations }, finish_reason: null };
    return [...this.#inner.event(event({ choices: [choice] })), ...this.#inner.end(counted)];
  }
}

class Sources {
  /** Titles by address; "" if there is none. Some servers repeat the list in every chunk. */
  readonly #titles = new Map<string, string>();

  read(body: JsonObject): void {
    for (const url of list(body, "citations"))
      if (typeof url === "string" && !this.#titles.has(url)) this.#titles.set(url, "");
    for (const result of objects(body, "search_results")) {
      const url = text(result, "url");
      if (url !== undefined) this.#titles.set(url, anyText(result, "title"));
    }
  }

  /** Returns an annotation of the whole text for every source that is not in `annotations`. */
  besides(annotations: readonly JsonObject[], length: number): JsonObject[] {
    if (length === 0) return [];
    const named = new Set(annotations.map((annotation) => text(object(annotation, "url_citation"), "url")));
    return [...this.#titles]
      .filter(([url]) => !named.has(url))
      .map(([url, title]) => ({
        type: "url_citation",
        url_citation: { start_index: 0, end_index: length, title, url },
      }));
  }
}

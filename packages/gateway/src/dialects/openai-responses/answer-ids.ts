import { object, objects, text } from "../core/read.ts";
import type { AnswerIds, JsonObject } from "../core/types.ts";

const EVENTS = ["response.created", "response.output_item.done", "response.completed", "response.incomplete"];

/** The ids of a response, its items, and the containers that they ran in. */
export const responseAnswerIds: AnswerIds = {
  marks: EVENTS,
  mayName: (body, spec) =>
    spec.dialect === "openai-responses" && (body["store"] !== false || spec.hostedTools !== undefined),
  read(answer) {
    const type = text(answer, "type") ?? "";
    if (type === "response.output_item.done") return listItemIds(object(answer, "item"));
    return listResponseIds(EVENTS.includes(type) ? object(answer, "response") : answer);
  },
};

function listResponseIds(response: JsonObject | undefined): string[] {
  return [...listTexts(response, ["id"]), ...objects(response, "output").flatMap(listItemIds)];
}

function listItemIds(item: JsonObject | undefined): string[] {
  return listTexts(item, ["id", "container_id"]);
}

function listTexts(from: JsonObject | undefined, names: readonly string[]): string[] {
  return names.flatMap((name) => text(from, name) ?? []);
}

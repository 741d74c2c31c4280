import { object, text } from "./read.ts";
import type { JsonObject } from "./types.ts";

/** Returns the model that an answer names, in any protocol. */
export function modelIn(answer: JsonObject): string | undefined {
  return text(answer, "model") ?? text(answer, "modelVersion");
}

/** Returns the model in the first object of a stream; some streams wrap their answer. */
export function modelInEvent(event: JsonObject): string | undefined {
  return modelIn(event) ?? modelIn(object(event, "message") ?? object(event, "response") ?? {});
}

/** Dates, revisions and release words at the end of a name; with or without them, it is the same model. */
const RELEASE =
  /(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{4}|\d{3}|latest|preview|exp|experimental|default)|[:@][\w.:-]+)$/;

/** True if both names mean the same model; vendor, snapshot and letter case may differ. */
export function isSameModel(asked: string, answered: string): boolean {
  return asked === answered || bareName(asked) === bareName(answered);
}

function bareName(model: string): string {
  let name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  for (let bare = name.replace(RELEASE, ""); bare !== name && bare !== ""; bare = name.replace(RELEASE, ""))
    name = bare;
  // Cross-region ids of clouds start with region and vendor: `us.anthropic.claude-...`.
  return name.replace(/^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral|cohere|deepseek|openai)\./, "");
}

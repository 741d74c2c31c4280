import { anyText, isObject, object, objects } from "./read.ts";
import type { JsonObject, Texts } from "./types.ts";

/** Returns everything in these texts that a client may show, for the checks of answers. */
export function shownText({ text, ran }: Texts): string {
  return ran === undefined || ran === "" ? text : `${text}\n${ran}\n`;
}

/** Adds code that the vendor ran, if there is any. */
export function withRan(texts: Texts, ran: readonly string[]): Texts {
  const all = ran.filter((part) => part !== "").join("\n");
  return all === "" ? texts : { ...texts, ran: all };
}

/** Returns the code texts in a block of a message; the input of a call is streamed as text of its own. */
export function ranInBlock(block: JsonObject | undefined): string[] {
  const type = anyText(block, "type");
  if (type === "server_tool_use") return [anyText(object(block, "input"), "code", "command")];
  const content = type.endsWith("code_execution_tool_result") ? block?.["content"] : undefined;
  return isObject(content) ? [anyText(content, "stdout"), anyText(content, "stderr")] : [];
}

/** Returns the code texts in an item of a response. */
export function ranInItem(item: JsonObject | undefined): string[] {
  if (item?.["type"] !== "code_interpreter_call") return [];
  return [anyText(item, "code"), ...objects(item, "outputs").map((output) => anyText(output, "logs"))];
}

/** Returns the code texts in a part of a candidate. */
export function ranInPart(part: JsonObject): string[] {
  return [anyText(object(part, "executableCode"), "code"), anyText(object(part, "codeExecutionResult"), "output")];
}

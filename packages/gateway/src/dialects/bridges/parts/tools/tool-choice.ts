import { object, objects, text } from "../../../core/read.ts";
import type { JsonObject, JsonValue } from "../../../core/types.ts";

/** A parsed `tool_choice` of chat completions. */
export type ToolChoice =
  | { readonly mode: "auto" | "none" | "required" }
  | { readonly mode: "named"; readonly name: string }
  | { readonly mode: "allowed"; readonly isForced: boolean; readonly names: readonly string[] };

/** Parses a choice; undefined if the client left it open. */
export function readToolChoice(choice: JsonValue | undefined): ToolChoice | undefined {
  if (choice === "auto" || choice === "none" || choice === "required") return { mode: choice };
  if (choice === "any") return { mode: "required" };
  if (typeof choice !== "object" || choice === null || Array.isArray(choice)) return undefined;
  const name = text(object(choice, "function") ?? object(choice, "custom") ?? choice, "name");
  if (name !== undefined) return { mode: "named", name };
  const allowed = object(choice, "allowed_tools");
  return allowed === undefined
    ? undefined
    : { mode: "allowed", isForced: allowed["mode"] === "required", names: listAllowedNames(allowed) };
}

function listAllowedNames(allowed: JsonObject): string[] {
  return objects(allowed, "tools").flatMap((tool) => text(object(tool, "function") ?? tool, "name") ?? []);
}

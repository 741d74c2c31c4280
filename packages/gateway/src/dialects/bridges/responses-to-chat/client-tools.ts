// Tools that OpenAI defines and the client runs. Upstream they are functions; in the answer they are calls of their own
// kind again.
import { anyText, list, number, object, text } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";

interface ClientTool {
  readonly description: string;
  readonly parameters: JsonObject;
  /** Type of a call; the type of its result has the suffix `_output`. */
  readonly call: string;
  /** Converts the arguments of the function to the members of the native call. */
  said(args: JsonObject): JsonObject;
  args(item: JsonObject): JsonObject;
  /** Returns the text of a result for the model. */
  result(item: JsonObject): string;
}

const TEXT = { type: "string" };
const WHOLE = { type: "integer" };
const TEXTS = { type: "array", items: TEXT };

const shell: ClientTool = {
  description: "Runs commands in the shell of the user's machine, one after the other.",
  parameters: buildObjectSchema({ commands: TEXTS, timeout_ms: WHOLE, max_output_length: WHOLE }, "commands"),
  call: "shell_call",
  said: (args) => ({
    action: {
      commands: listTexts(args, "commands"),
      timeout_ms: number(args, "timeout_ms") ?? null,
      max_output_length: number(args, "max_output_length") ?? null,
    },
    environment: { type: "local" },
  }),
  args: (item) => object(item, "action") ?? {},
  result: (item) => JSON.stringify(item["output"] ?? []),
};

const localShell: ClientTool = {
  description: "Runs a program on the user's machine: its name and its arguments, no shell in between.",
  parameters: buildObjectSchema(
    { command: TEXTS, env: { type: "object" }, timeout_ms: WHOLE, user: TEXT, working_directory: TEXT },
    "command",
  ),
  call: "local_shell_call",
  said: ({ env, ...args }) => ({
    action: { ...args, type: "exec", command: listTexts(args, "command"), env: object({ env }, "env") ?? {} },
  }),
  args(item) {
    const { type: _type, ...args } = object(item, "action") ?? {};
    return args;
  },
  result: (item) => anyText(item, "output"),
};

const applyPatch: ClientTool = {
  description:
    "Creates, updates or deletes one file. `diff` of a new file: every line begins with +. `diff` of an update, without line numbers: each place begins with a line @@ and, where that is needed to find it, the name of its function or class; then come lines of context, which begin with a space, lines to remove with - and lines to add with +.",
  parameters: buildObjectSchema(
    { type: { ...TEXT, enum: ["create_file", "update_file", "delete_file"] }, path: TEXT, diff: TEXT },
    "type",
    "path",
  ),
  call: "apply_patch_call",
  said(args) {
    const type = text(args, "type") ?? "update_file";
    const diff = type === "delete_file" ? {} : { diff: anyText(args, "diff") };
    return { operation: { type, path: anyText(args, "path"), ...diff } };
  },
  args: (item) => object(item, "operation") ?? {},
  result: (item) => [anyText(item, "status"), anyText(item, "output")].filter((line) => line !== "").join("\n"),
};

/** Tools by type, which is also their name upstream. */
const TOOLS: ReadonlyMap<string, ClientTool> = new Map([
  ["shell", shell],
  ["local_shell", localShell],
  ["apply_patch", applyPatch],
]);
const CALLS = new Map([...TOOLS].map(([name, { call }]) => [call, name]));

/** Returns the tool's name; undefined for other tools, and for a shell that runs at the vendor. */
export function findClientTool(tool: JsonObject): string | undefined {
  const type = text(tool, "type") ?? "";
  const place = text(object(tool, "environment"), "type") ?? "local";
  return TOOLS.has(type) && place === "local" ? type : undefined;
}

export function clientFunction(name: string): JsonObject {
  const { description, parameters } = requireClientTool(name);
  return { type: "function", function: { name, description, parameters } };
}

/** Converts a function call to the native kind of call. */
export function clientCall(name: string, args: JsonObject): JsonObject {
  const { call, said } = requireClientTool(name);
  return { type: call, ...said(args) };
}

/** Returns the name of the tool that an item calls; undefined for other items. */
export function calledClientTool(item: JsonObject): string | undefined {
  return CALLS.get(text(item, "type") ?? "");
}

export function clientArguments(name: string, item: JsonObject): string {
  return JSON.stringify(requireClientTool(name).args(item));
}

/** Returns the content of a tool result; undefined for items of other tools. */
export function clientResult(item: JsonObject): string | undefined {
  const type = text(item, "type") ?? "";
  const name = type.endsWith("_output") ? CALLS.get(type.slice(0, -"_output".length)) : undefined;
  return name === undefined ? undefined : requireClientTool(name).result(item);
}

function requireClientTool(name: string): ClientTool {
  const tool = TOOLS.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

function listTexts(args: JsonObject, name: string): string[] {
  const one = text(args, name);
  return one === undefined ? list(args, name).filter((value) => typeof value === "string") : [one];
}

function buildObjectSchema(properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

// Tools that Anthropic defines and the client runs. Anthropic's models know them by type; other models get them as
// functions.
import { compact, number, text } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";

const TEXT = { type: "string" };
const WHOLE = { type: "integer" };
const buildArraySchema = (count: number) => ({ type: "array", items: WHOLE, minItems: count, maxItems: count });
const POINT = buildArraySchema(2);

interface ClientTool {
  readonly description: string;
  readonly input_schema: JsonObject;
}

const FILE_MEMBERS = {
  path: TEXT,
  file_text: TEXT,
  old_str: TEXT,
  new_str: TEXT,
  insert_line: WHOLE,
  insert_text: TEXT,
  view_range: buildArraySchema(2),
};

/** Tools by their type without its date. */
const TOOLS: Readonly<Record<string, (tool: JsonObject) => ClientTool>> = {
  bash: () => ({
    description: "Runs a command in a bash session that lasts; `restart` begins a new one.",
    input_schema: buildObjectSchema({ command: TEXT, restart: { type: "boolean" } }, "command"),
  }),
  text_editor: editor,
  memory: () => ({
    description:
      "Keeps notes in files below /memories, for later conversations too. Look there before you begin. `view` shows a directory or a file (`view_range`: first and last line), `create` writes a file, `str_replace` replaces `old_str` by `new_str`, `insert` puts `insert_text` after line `insert_line`, `delete` removes, `rename` moves `old_path` to `new_path`.",
    input_schema: buildObjectSchema(
      {
        command: buildEnumSchema("view", "create", "str_replace", "insert", "delete", "rename"),
        ...FILE_MEMBERS,
        old_path: TEXT,
        new_path: TEXT,
      },
      "command",
    ),
  }),
  computer,
};

/**
 * Returns the tool with a description and a schema; undefined for unknown tools and those that only the vendor can run.
 */
export function asFunction(tool: JsonObject): JsonObject | undefined {
  const kind = /^([a-z_]+)_\d{8}$/.exec(text(tool, "type") ?? "")?.[1] ?? "";
  const known = Object.hasOwn(TOOLS, kind) ? TOOLS[kind]?.(tool) : undefined;
  return known && { ...tool, ...known };
}

/** Builds the editor tool. Its first versions insert `new_str` and can undo. */
function editor(tool: JsonObject): ClientTool {
  const isEarly = (text(tool, "type") ?? "") < "text_editor_20250429";
  const { insert_text, ...members } = FILE_MEMBERS;
  const commands = ["view", "create", "str_replace", "insert", ...(isEarly ? ["undo_edit"] : [])];
  const inserted = isEarly ? "new_str" : "insert_text";
  return {
    description: `Views, creates and edits text files. \`view\` shows a file (\`view_range\`: first and last line, -1 for the end) or a directory, \`create\` writes \`file_text\`, \`str_replace\` replaces \`old_str\`, which must stand in the file exactly once, by \`new_str\`, \`insert\` puts \`${inserted}\` after line \`insert_line\`${isEarly ? ", `undo_edit` takes the last change back" : ""}.`,
    input_schema: buildObjectSchema(
      {
        command: buildEnumSchema(...commands),
        ...members,
        ...(!isEarly && { insert_text }),
      },
      "command",
    ),
  };
}

const FIRST_ACTIONS = [
  "key",
  "type",
  "mouse_move",
  "left_click",
  "left_click_drag",
  "right_click",
  "middle_click",
  "double_click",
  "screenshot",
  "cursor_position",
];
const LATER_ACTIONS = ["left_mouse_down", "left_mouse_up", "triple_click", "scroll", "hold_key", "wait"];

function computer(tool: JsonObject): ClientTool {
  const isFirst = text(tool, "type") === "computer_20241022";
  const canZoom = tool["enable_zoom"] === true;
  const actions = [...FIRST_ACTIONS, ...(isFirst ? [] : LATER_ACTIONS), ...(canZoom ? ["zoom"] : [])];
  const size = `${number(tool, "display_width_px") ?? 0} x ${number(tool, "display_height_px") ?? 0}`;
  const later = {
    duration: { type: "number", description: "Seconds of `hold_key` and `wait`." },
    scroll_direction: buildEnumSchema("up", "down", "left", "right"),
    scroll_amount: WHOLE,
  };
  return {
    description: `Works with screen, mouse and keyboard of a computer. The screen has ${size} pixels; points are [x, y] from its upper left corner. Take a screenshot to see what an action did.`,
    input_schema: buildObjectSchema(
      compact({
        action: buildEnumSchema(...actions),
        coordinate: POINT,
        start_coordinate: { ...POINT, description: "Where a drag begins." },
        text: { ...TEXT, description: "What to type, or keys to press, such as Return or ctrl+s." },
        ...(!isFirst && later),
        region: canZoom
          ? { ...buildArraySchema(4), description: "Corners to look at closely: [x0, y0, x1, y1]." }
          : undefined,
      }),
      "action",
    ),
  };
}

function buildEnumSchema(...names: readonly string[]): JsonObject {
  return { type: "string", enum: [...names] };
}

function buildObjectSchema(properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

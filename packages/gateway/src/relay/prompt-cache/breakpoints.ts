// Breakpoints of OpenAI's protocols. The vendor caches without them; one after the system text lets conversations with
// other beginnings share it.
import { findItems, findMembers, type Span } from "../../lib/text/json-splice.ts";
import { endOfObject, isBlankText, wrapText, type ByteEdit, type MarkPlaces } from "./byte-edits.ts";

const BREAKPOINT = `"prompt_cache_breakpoint":{"mode":"explicit"}`;
const SYSTEM = /^"(?:system|developer)"$/;

/** Member that holds the conversation, and the type of a text in it. */
const FORMS = {
  "openai-chat": { member: "messages", text: "text" },
  "openai-responses": { member: "input", text: "input_text" },
} as const;

/** Returns the end of the last system or developer part; without an edit if there is none. */
export function placeBreakpoint(bytes: Buffer, dialect: keyof typeof FORMS): MarkPlaces | undefined {
  const form = FORMS[dialect];
  const top = findMembers(bytes, ["tools", "instructions", form.member]);
  const items = top?.spans.get(form.member);
  if (!top || !items) return undefined;
  const turns = findItems(bytes, items.start).map((item) => ({ item, ...readTurn(bytes, item) }));
  const system = turns.filter(({ role }) => SYSTEM.test(role));
  const content = system.at(-1)?.content;
  const edit = content && markContent(bytes, content, form.text);
  const common = [top.spans.get("tools"), top.spans.get("instructions"), ...system.map(({ item }) => item)];
  return {
    edits: edit ? [edit] : [],
    prefixEnd: edit?.end ?? 0,
    shared: common.filter((span) => span !== undefined),
    hasHistory: turns.some(({ role }) => role === '"assistant"'),
  };
}

function readTurn(bytes: Buffer, { start }: Span): { readonly role: string; readonly content: Span | undefined } {
  const found = findMembers(bytes, ["role", "content"], start)?.spans;
  const role = found?.get("role");
  return { role: role ? bytes.toString("utf8", role.start, role.end) : "", content: found?.get("content") };
}

function markContent(bytes: Buffer, content: Span, type: string): ByteEdit | undefined {
  const part = findItems(bytes, content.start).at(-1);
  if (part) return { ...endOfObject(part), text: `,${BREAKPOINT}` };
  return isBlankText(bytes, content) ? undefined : wrapText(bytes, content, BREAKPOINT, type);
}

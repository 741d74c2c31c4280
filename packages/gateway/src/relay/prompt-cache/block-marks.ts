// Marks on blocks of the Messages protocol. Everything before a mark is one prefix: tools, then system, then messages.
import { findItems, findMembers, type Span } from "../../lib/text/json-splice.ts";
import { endOfObject, isBlankText, wrapText, type ByteEdit, type MarkPlaces } from "./byte-edits.ts";

/** Life of a written prefix; the vendor's own word. */
export type MarkLife = "5m" | "1h";

/** Vendors look this many blocks back from a mark for a prefix that they know; a few are left for the next turn. */
const BLOCKS_BETWEEN_MARKS = 18;
const UNMARKABLE = /^"(?:thinking|redacted_thinking)"$/;

/**
 * Returns the places that are worth a mark: the last tool, the last system block, the end of the last turn of the user,
 * and of the turn before if the last one is far from the mark before it. Undefined if the body cannot be marked.
 */
export function placeBlockMarks(bytes: Buffer, life: MarkLife): MarkPlaces | undefined {
  const top = findMembers(bytes, ["tools", "system", "messages"]);
  const messages = top?.spans.get("messages");
  if (!top || !messages) return undefined;
  const [tools, system] = [top.spans.get("tools"), top.spans.get("system")];
  const long = life === "1h" ? `{"type":"ephemeral","ttl":"1h"}` : SHORT;
  const shared = [tools && markTool(bytes, tools, long), system && markSystem(bytes, system, long)];
  const turns = findItems(bytes, messages.start).map((item) => readTurn(bytes, item));
  const edits = [...shared, ...markTurns(bytes, turns)].filter((edit) => edit !== undefined);
  if (edits.length === 0) return undefined;
  return {
    edits,
    prefixEnd: Math.max(...edits.map(({ end }) => end)),
    shared: [tools, system].filter((span) => span !== undefined),
    hasHistory: turns.some(({ role }) => role === '"assistant"'),
  };
}

const SHORT = `{"type":"ephemeral"}`;

function mark(holder: Span, life: string): ByteEdit {
  return { ...endOfObject(holder), text: `,"cache_control":${life}` };
}

/** Tools that are loaded later are not part of the prefix. */
function markTool(bytes: Buffer, tools: Span, life: string): ByteEdit | undefined {
  const isDeferred = ({ start, end }: Span) => bytes.subarray(start, end).includes('"defer_loading"');
  const last = findItems(bytes, tools.start).findLast((tool) => !isDeferred(tool));
  return last && mark(last, life);
}

function markSystem(bytes: Buffer, system: Span, life: string): ByteEdit | undefined {
  const block = findItems(bytes, system.start).at(-1);
  if (block) return markBlock(bytes, block, life);
  return isBlankText(bytes, system) ? undefined : wrapText(bytes, system, `"cache_control":${life}`);
}

interface Turn {
  /** With its quotes. */
  readonly role: string;
  readonly content: Span | undefined;
  readonly blocks: readonly Span[];
}

function readTurn(bytes: Buffer, { start }: Span): Turn {
  const found = findMembers(bytes, ["role", "content"], start)?.spans;
  const [role, content] = [found?.get("role"), found?.get("content")];
  return {
    role: role ? bytes.toString("utf8", role.start, role.end) : "",
    content,
    blocks: content ? findItems(bytes, content.start) : [],
  };
}

function markTurns(bytes: Buffer, turns: readonly Turn[]): (ByteEdit | undefined)[] {
  const ofUser = turns.flatMap((turn, at) => (turn.role === '"user"' ? [at] : []));
  const [last, before] = [ofUser.at(-1), ofUser.at(-2)];
  if (last === undefined) return [];
  const length = turns.slice(0, last + 1).reduce((sum, { blocks }) => sum + Math.max(1, blocks.length), 0);
  const places = length > BLOCKS_BETWEEN_MARKS && before !== undefined ? [before, last] : [last];
  return places.map((at) => markTurn(bytes, turns[at] as Turn));
}

function markTurn(bytes: Buffer, { content, blocks }: Turn): ByteEdit | undefined {
  const block = blocks.at(-1);
  if (block) return markBlock(bytes, block, SHORT);
  return !content || isBlankText(bytes, content) ? undefined : wrapText(bytes, content, `"cache_control":${SHORT}`);
}

function markBlock(bytes: Buffer, block: Span, life: string): ByteEdit | undefined {
  const found = findMembers(bytes, ["type", "text"], block.start)?.spans;
  const [type, text] = [found?.get("type"), found?.get("text")];
  if (!type || UNMARKABLE.test(bytes.toString("utf8", type.start, type.end))) return undefined;
  return text && isBlankText(bytes, text) ? undefined : mark(block, life);
}

// Marks on blocks of the Messages protocol. Everything before a mark is one prefix: tools, then system, then messages.
import { findItems, findMembers, type Span } from "../../lib/text/json-splice.ts";
import { endOfObject, isBlankText, wrapText, type ByteEdit, type MarkPlaces } from "./byte-edits.ts";
import { hasAnswer, pickTurns, readTurns, type Turn } from "./turns.ts";

/** Life of a written prefix; the vendor's own word. */
export type MarkLife = "5m" | "1h";

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
  const turns = readTurns(bytes, messages);
  const edits = [...shared, ...pickTurns(turns).map((turn) => markTurn(bytes, turn))].filter(
    (edit) => edit !== undefined,
  );
  if (edits.length === 0) return undefined;
  return {
    edits,
    prefixEnd: Math.max(...edits.map(({ end }) => end)),
    shared: [tools, system].filter((span) => span !== undefined),
    hasHistory: hasAnswer(turns),
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

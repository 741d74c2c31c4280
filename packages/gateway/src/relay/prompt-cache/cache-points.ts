// Marks that are items of their own: they follow the last tool, the last system text and the last block of a turn.
import { findItems, findMembers, type Span } from "../../lib/text/json-splice.ts";
import type { CachePoints } from "../../providers/core/types.ts";
import type { MarkLife } from "./block-marks.ts";
import { isBlankText, type ByteEdit, type MarkPlaces } from "./byte-edits.ts";
import { hasAnswer, pickTurns, readTurns, type Turn } from "./turns.ts";

/** Returns the places that are worth a mark; undefined if the body cannot be marked. */
export function placeCachePoints(bytes: Buffer, form: CachePoints, life: MarkLife): MarkPlaces | undefined {
  const [outer, inner] = form.toolPath;
  const top = findMembers(bytes, [outer, "system", "messages"]);
  const messages = top?.spans.get("messages");
  if (!top || !messages) return undefined;
  const [config, system] = [top.spans.get(outer), top.spans.get("system")];
  const tools = config && findMembers(bytes, [inner], config.start)?.spans.get(inner);
  const turns = readTurns(bytes, messages);
  const edits = [
    tools && appendTo(findItems(bytes, tools.start), form.item(life)),
    system && appendTo(listSaid(bytes, findItems(bytes, system.start), form), form.item(life)),
    ...pickTurns(turns).map(({ blocks }: Turn) => appendTo(listSaid(bytes, blocks, form), form.item("5m"))),
  ].filter((edit) => edit !== undefined);
  if (edits.length === 0) return undefined;
  return {
    edits,
    prefixEnd: Math.max(...edits.map(({ end }) => end)),
    shared: [tools, system].filter((span) => span !== undefined),
    hasHistory: hasAnswer(turns),
  };
}

/** Returns the blocks, or none if the last one cannot end a prefix: thoughts and blank texts. */
function listSaid(bytes: Buffer, blocks: readonly Span[], { unmarkable }: CachePoints): readonly Span[] {
  const last = blocks.at(-1);
  const found = last && findMembers(bytes, [unmarkable, "text"], last.start)?.spans;
  const text = found?.get("text");
  return !found || found.has(unmarkable) || (text && isBlankText(bytes, text)) ? [] : blocks;
}

function appendTo(items: readonly Span[], item: string): ByteEdit | undefined {
  const last = items.at(-1);
  return last && { start: last.end, end: last.end, text: `,${item}` };
}

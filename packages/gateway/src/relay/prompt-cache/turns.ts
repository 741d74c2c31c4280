import { findItems, findMembers, type Span } from "../../lib/text/json-splice.ts";

/** A turn of a conversation whose content is a text or a list of blocks. */
export interface Turn {
  /** With its quotes. */
  readonly role: string;
  readonly content: Span | undefined;
  readonly blocks: readonly Span[];
}

/** Vendors look this many blocks back from a mark for a prefix that they know; a few are left for the next turn. */
const BLOCKS_BETWEEN_MARKS = 18;

export function readTurns(bytes: Buffer, messages: Span): readonly Turn[] {
  return findItems(bytes, messages.start).map((item) => readTurn(bytes, item));
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

/** True if the prompt has an answer of the model. */
export function hasAnswer(turns: readonly Turn[]): boolean {
  return turns.some(({ role }) => role === '"assistant"');
}

/** Returns the last turn of the user, and the one before if the last one is far from the mark before it. */
export function pickTurns(turns: readonly Turn[]): readonly Turn[] {
  const ofUser = turns.flatMap((turn, at) => (turn.role === '"user"' ? [at] : []));
  const [last, before] = [ofUser.at(-1), ofUser.at(-2)];
  if (last === undefined) return [];
  const length = turns.slice(0, last + 1).reduce((sum, { blocks }) => sum + Math.max(1, blocks.length), 0);
  const places = length > BLOCKS_BETWEEN_MARKS && before !== undefined ? [before, last] : [last];
  return places.map((at) => turns[at] as Turn);
}

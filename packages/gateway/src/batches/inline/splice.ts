import { Readable } from "node:stream";
import type { Spool } from "../../relay/body/spool.ts";
import type { BodyEdit } from "./inline-body.ts";
import type { InlineItems } from "./read-items.ts";

/** A body as it is sent: its length, and its bytes, which can be read once. */
export interface SplicedBody {
  readonly size: number;
  open(): Readable;
}

/**
 * Returns the edits that give each item the name under which the channel's upstream knows its model, with others. They
 * are sorted.
 */
export function renameModels(
  { models, edits }: InlineItems,
  { rename, writeModel }: { readonly rename: (model: string) => string; readonly writeModel: (name: string) => string },
  others: readonly BodyEdit[],
): BodyEdit[] {
  const all = [...others, ...edits];
  for (const [model, { spans }] of models) {
    const name = rename(model);
    if (name === model) continue;
    const json = JSON.stringify(writeModel(name));
    for (let at = 0; at + 1 < spans.length; at += 2) all.push({ start: spans[at] ?? 0, end: spans[at + 1] ?? 0, json });
  }
  return all.toSorted((one, other) => one.start - other.start);
}

/** Replaces ranges of a spooled body; every other byte stays. The edits are sorted and do not overlap. */
export function spliceSpool(spool: Spool, edits: readonly BodyEdit[]): SplicedBody {
  const size = edits.reduce((sum, { start, end, json }) => sum + Buffer.byteLength(json) - (end - start), spool.size);
  return {
    size,
    open: () => Readable.from(pieces(spool, edits), { objectMode: false, highWaterMark: READ_BYTES }),
  };
}

const READ_BYTES = 64 * 1024;

async function* pieces(spool: Spool, edits: readonly BodyEdit[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const { start, end, json } of edits) {
    if (start > at) yield* spool.read(at, start) as AsyncIterable<Buffer>;
    yield Buffer.from(json);
    at = end;
  }
  if (at < spool.size) yield* spool.read(at, spool.size) as AsyncIterable<Buffer>;
}

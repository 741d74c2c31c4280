import { object as readObject, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { textAt, topLevelMembers, type JsonSpan } from "../../lib/text/json-top-level.ts";
import type { PrepareFile } from "../../objects/file-content.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import type { BodyEdit } from "../inline/inline-body.ts";
import { LineSplitter } from "../results/lines.ts";
import { readPieces } from "../results/pieces.ts";

type FileContent = Parameters<PrepareFile>[0]["content"];

/** The names of the model of a file whose lines were renamed. */
export interface RenamedModel {
  /** As the client names it. */
  readonly model: string;
  /** As the lines name it now. */
  readonly upstream: string;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Gives the lines of a file of requests the name under which the channel's upstream knows their model; every other byte
 * stays. A file that names several models stays as it is, because it cannot become a batch.
 */
export const renameFileModels: PrepareFile = async ({ content, account: { channel } }) => {
  if (channel.modelMapping.size === 0) return { content, facts: {} };
  const { models, spans } = await findModels(content);
  const [model = "", other] = [...models];
  const upstream = mapModel(channel.modelMapping, model);
  if (other !== undefined || upstream === model) return { content, facts: {} };
  const json = JSON.stringify(upstream);
  const edits = spans.map((span) => ({ ...span, json }));
  const size = edits.reduce((sum, { start, end }) => sum + Buffer.byteLength(json) - (end - start), content.size);
  const renamed: RenamedModel = { model, upstream };
  return { content: { size, open: () => splice(content, edits) }, facts: { batch: { ...renamed } } };
};

/** Returns the names of a file that was renamed when it was uploaded. */
export function readRenamed(facts: JsonObject): RenamedModel | undefined {
  const batch = readObject(facts, "batch");
  const [model, upstream] = [text(batch, "model"), text(batch, "upstream")];
  return model === undefined || upstream === undefined ? undefined : { model, upstream };
}

async function findModels(content: FileContent): Promise<{
  readonly models: ReadonlySet<string>;
  readonly spans: readonly JsonSpan[];
}> {
  const models = new Set<string>();
  const spans: JsonSpan[] = [];
  let at = 0;
  let line = 0;
  for await (const pieces of readPieces(content.open(), new LineSplitter(MAX_LINE_BYTES)))
    for (const piece of pieces) {
      line += 1;
      if (!piece)
        throw new AppError("batch_line_too_large", { message: `Line ${line} exceeds ${MAX_LINE_BYTES} bytes.` });
      const found = findModel(piece);
      if (found) {
        models.add(found.model);
        spans.push({ start: at + found.span.start, end: at + found.span.end });
      }
      at += piece.length + 1;
    }
  return { models, spans };
}

/** Lines that are no requests are reported when the batch is created. */
function findModel(line: Buffer): { readonly model: string; readonly span: JsonSpan } | undefined {
  const body = topLevelMembers(line, ["body"])?.get("body");
  const inside = body && line.subarray(body.start, body.end);
  const span = inside && topLevelMembers(inside, ["model"])?.get("model");
  const model = span && textAt(inside, span);
  if (!body || !span || model === undefined) return undefined;
  return { model, span: { start: body.start + span.start, end: body.start + span.end } };
}

/** Replaces ranges while the bytes pass. The edits are sorted and do not overlap. */
async function* splice({ open }: FileContent, edits: readonly BodyEdit[]): AsyncGenerator<Buffer> {
  let from = 0;
  let next = 0;
  for await (const chunk of open()) {
    const to = from + chunk.length;
    let at = from;
    for (let edit = edits[next]; edit && edit.start < to; edit = edits[next]) {
      if (edit.start > at) yield chunk.subarray(at - from, edit.start - from);
      // The replacement comes with the first byte of what it replaces.
      if (edit.start >= at) yield Buffer.from(edit.json);
      at = Math.min(edit.end, to);
      if (edit.end > to) break;
      next += 1;
    }
    if (at < to) yield chunk.subarray(at - from);
    from = to;
  }
}

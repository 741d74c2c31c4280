import { text } from "../../dialects/core/read.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { ObjectLibrary } from "../../objects/library.ts";
import type { BatchState } from "../protocols/protocol.ts";
import type { BatchDeps, BatchRow } from "../types.ts";

/** The upstream's ids of the files of a batch; absent until they exist. */
export interface UpstreamFiles {
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
}

export function readUpstreamFiles({ metadata }: Pick<BatchRow, "metadata">): UpstreamFiles {
  const files = parseObject(metadata);
  return { input: text(files, "input"), output: text(files, "output"), error: text(files, "error") };
}

type FilePatch = Pick<BatchRow, "output_file_id" | "error_file_id" | "metadata">;

/** Makes the files that an upstream names for the first time files of the batch's owner; undefined if there are none. */
export async function registerFiles(
  row: BatchRow,
  { outputFileId: output, errorFileId: error }: BatchState,
  { library }: Pick<BatchDeps, "library">,
): Promise<FilePatch | undefined> {
  const hasOutput = output !== undefined && row.output_file_id === "";
  const hasErrors = error !== undefined && row.error_file_id === "";
  if (!hasOutput && !hasErrors) return undefined;
  const files = { ...readUpstreamFiles(row), ...(hasOutput && { output }), ...(hasErrors && { error }) };
  return {
    output_file_id: hasOutput ? await register(row, output, "output", library) : row.output_file_id,
    error_file_id: hasErrors ? await register(row, error, "error", library) : row.error_file_id,
    metadata: JSON.stringify(files),
  };
}

async function register(row: BatchRow, upstreamId: string, kind: string, library: ObjectLibrary): Promise<string> {
  const { id } = await library.register({
    userId: row.user_id,
    tokenId: row.token_id,
    channelId: row.channel_id,
    keyMark: row.key_mark,
    dialect: row.dialect === "gemini" ? "gemini" : "openai",
    upstreamId,
    name: `${row.id}_${kind}.jsonl`,
    mime: "application/jsonl",
    purpose: "batch_output",
    bytes: 0,
    expiresAt: 0,
  });
  return id;
}

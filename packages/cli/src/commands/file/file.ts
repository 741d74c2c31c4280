import {
  fileDelete,
  fileList,
  fileListSelf,
  fileUsage,
  ROLE,
  selfGet,
  type Client,
  type StoredFile,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Reference } from "../../core/arguments.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printDone, type Output, type Shape } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";
import { keyFor } from "../chat/key.ts";
import { doEach } from "../each.ts";
import { printPart, type Part } from "../paging.ts";
import { download, formatBytes, uploadFile, type Caller, type UploadedFile } from "./transfer.ts";

/** How stored files are printed. */
export const FILES: Shape<StoredFile> = {
  kind: "File",
  columns: [
    plain("ID", "id"),
    plain("NAME", "name"),
    plain("PURPOSE", "purpose"),
    { ...number("SIZE", "bytes"), value: ({ bytes }) => formatBytes(bytes) },
    plain("STATE", "state"),
    time("CREATED", "created_at"),
    time("EXPIRES", "expires_at"),
  ],
  wide: [
    number("USER", "user_id"),
    number("TOKEN", "token_id"),
    number("CHANNEL", "channel_id"),
    plain("PROTOCOL", "dialect"),
    plain("MIME", "mime"),
  ],
  name: ({ id }) => `file/${id}`,
};

export interface FileListOptions extends Part {
  readonly mine?: boolean;
  readonly purpose?: string;
  readonly state?: string;
  readonly protocol?: string;
}

export async function listFiles(client: Client, options: FileListOptions, output: Output): Promise<void> {
  const { mine = false, purpose, state, protocol: dialect } = options;
  const isAll = !mine && (await client.call(selfGet, {})).data.role >= ROLE.admin;
  const list = {
    ...FILES,
    toShown: (row: StoredFile) => row,
    empty: "No files. Store one: fairway file upload requests.jsonl",
  };
  const query = { purpose, state, dialect };
  await printPart(output, options, list, (page) =>
    client.call(isAll ? fileList : fileListSelf, { query: { ...query, ...page } }),
  );
  const { data } = await client.call(fileUsage, {});
  output.note(
    `You store ${data.files} of ${data.max_files} files, ${formatBytes(data.bytes)} of ${formatBytes(data.max_bytes)}.`,
  );
}

export interface WithKey {
  readonly key?: Reference;
}

/** Returns the key that calls of models spend: the named one, or the newest usable one. */
export async function createCaller(session: Session, { key }: WithKey, nowSeconds: number): Promise<Caller> {
  const token = await keyFor(session.client, key === undefined ? {} : { token: key }, nowSeconds);
  return { session, key: `sk-${token.key}` };
}

export interface UploadOptions {
  readonly purpose: string;
  readonly model?: string;
}

/** How an uploaded file is printed. */
const UPLOADED: Shape<UploadedFile> = {
  kind: "UploadedFile",
  columns: [plain("ID", "id"), plain("NAME", "filename"), plain("PURPOSE", "purpose"), number("BYTES", "bytes")],
  name: ({ id }) => `file/${id}`,
};

export async function upload(caller: Caller, path: string, options: UploadOptions, output: Output): Promise<void> {
  const file = await uploadFile(caller, { path, ...options });
  await printDone(output, file, `Stored ${path} as ${file.id}, ${formatBytes(file.bytes)}.`, UPLOADED);
}

export async function downloadFile(
  caller: Caller,
  id: string,
  outputFile: string | undefined,
  output: Output,
): Promise<void> {
  const bytes = await download(caller, { ...findContent(id, caller.key), file: outputFile });
  if (outputFile !== undefined) output.note(`Wrote ${formatBytes(bytes)} to ${outputFile}.`);
}

/** Ids say which protocol the file was stored in. */
export function findContent(id: string, key: string) {
  const path = encodeURIComponent(id);
  if (id.startsWith("file-")) return { path: `/v1/files/${path}/content` };
  if (id.startsWith("file_"))
    return { path: `/v1/files/${path}/content`, headers: { "x-api-key": key, "anthropic-version": "2023-06-01" } };
  if (id === "") throw new CliError("there is no such file", EXIT.notFound);
  return { path: `/v1beta/files/${path}:download?alt=media`, headers: { "x-goog-api-key": key } };
}

export async function deleteFiles(
  client: Client,
  ids: readonly string[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  await output.confirm(`Delete file ${ids.join(", ")} here and at its provider`, ids.length, yes);
  const act = async (id: string) => void (await client.call(fileDelete, { params: { id } }));
  await doEach({ noun: "file", done: "deleted", kind: "FileDelete", ids, act }, output);
}

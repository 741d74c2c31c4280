import * as z from "zod/mini";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { randomUUID } from "node:crypto";
import { CliError, EXIT, readErrorCode } from "../../core/exit.ts";
import { jsonIn } from "../../core/json.ts";
import type { RequestStream } from "../../session/request.ts";
import { bearer, toCliError } from "../../session/relay.ts";
import type { Session } from "../../session/session.ts";
import { createProgress, formatBar, type Progress } from "../../terminal/progress.ts";

/** What calls of models need. */
export interface Caller {
  readonly session: Session;
  /** A key with its `sk-`. */
  readonly key: string;
}

const UploadedFile = z.object({ id: z.string(), bytes: z.int(), filename: z.string(), purpose: z.string() });
export type UploadedFile = z.output<typeof UploadedFile>;

interface Upload {
  readonly path: string;
  readonly purpose: string;
  /** A model whose channel stores the file. */
  readonly model?: string | undefined;
}

/** Sends a file while it is read, and shows how much was sent. */
export async function uploadFile({ session, key }: Caller, { path, purpose, model }: Upload): Promise<UploadedFile> {
  const size = await readSize(path);
  const boundary = `fairway-${randomUUID()}`;
  const progress = createProgress();
  const stream = buildForm({ path, purpose, size, boundary }, progress);
  const headers = {
    ...bearer(key),
    "content-type": `multipart/form-data; boundary=${boundary}`,
    ...(model === undefined ? {} : { "x-fairway-model": model }),
  };
  try {
    const answer = await session.transport.ask(`${session.profile.server}/v1/files`, {
      method: "POST",
      headers,
      stream,
    });
    const text = await answer.text();
    if (answer.status >= 300) throw toCliError(text, answer);
    return z.parse(UploadedFile, jsonIn(text));
  } finally {
    progress.end();
  }
}

async function readSize(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${readErrorCode(error)}`, EXIT.usage);
  }
  throw new CliError(`${path} is not a file`, EXIT.usage);
}

interface Form {
  readonly path: string;
  readonly purpose: string;
  readonly size: number;
  readonly boundary: string;
}

/** The purpose comes first, so that the gateway can pass the file on while it arrives. */
function buildForm({ path, purpose, size, boundary }: Form, progress: Progress): RequestStream {
  const name = encodeURIComponent(basename(path)).replaceAll("%20", " ");
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
      `Content-Type: application/octet-stream\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield head;
    let sent = 0;
    // A file that grows meanwhile is sent as it was.
    for await (const piece of createReadStream(path, { end: Math.max(0, size - 1) })) {
      yield piece as Uint8Array;
      sent += (piece as Uint8Array).length;
      progress.show(`${basename(path)} ${formatBar(sent, size)} of ${formatBytes(size)}`);
    }
    yield tail;
  }
  return { size: head.length + size + tail.length, pieces: pieces() };
}

export interface Download {
  /** Below the gateway's address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined = standard output. */
  readonly file: string | undefined;
}

/** Writes an answer as it arrives, to a new file or to standard output; returns its size. */
export async function download({ session, key }: Caller, { path, headers, file }: Download): Promise<number> {
  const sent = { method: "GET", headers: headers ?? bearer(key) };
  const answer = await session.transport.ask(session.profile.server + path, sent);
  if (answer.status >= 300) throw toCliError(await answer.text(), answer);
  return saveStream(answer.body, file, Number(answer.headers.get("content-length") ?? 0));
}

/** Writes a stream to a new file or to standard output; returns its size. `total` is what is expected, 0 = unknown. */
export async function saveStream(
  body: AsyncIterable<Uint8Array>,
  file: string | undefined,
  total: number,
): Promise<number> {
  const progress = createProgress();
  let received = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      received += piece.length;
      if (file !== undefined) progress.show(total > 0 ? formatBar(received, total) : formatBytes(received));
      yield piece;
    }
  }
  try {
    // Standard output stays open for what follows.
    if (file === undefined) await pipeline(counted(), process.stdout, { end: false });
    else await pipeline(counted(), createWriteStream(file, { flags: "wx", mode: 0o600 }));
  } catch (error) {
    if (readErrorCode(error) === "EEXIST")
      throw new CliError(`${file} exists already`, EXIT.conflict, "name another file, or remove it");
    throw error;
  } finally {
    progress.end();
  }
  return received;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1] ?? "B"}`;
}

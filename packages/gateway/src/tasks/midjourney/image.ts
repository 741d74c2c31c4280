import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { throughWorker } from "../../relay/upstream/remote-files.ts";
import type { TaskDeps } from "../types.ts";
import { imageSignature, type DrawingRow } from "./view.ts";

const TYPE = /^(image\/(?!svg)|video\/)[\w.+-]+/i;
const MARKUP = 0x3c;

/** Serves a drawing to requests with the signed address, its owner's key or its owner's console session. */
export async function serveImage(
  request: IncomingMessage,
  response: ServerResponse,
  { id, ip, query }: { readonly id: string; readonly ip: string; readonly query: URLSearchParams },
  deps: TaskDeps,
): Promise<void> {
  const { AllowUnsignedMjImages } = deps.snapshots.current().options;
  const isOpen = AllowUnsignedMjImages || sameText(query.get("s") ?? "", imageSignature(id, deps.sign));
  const owner = isOpen ? undefined : await authenticateReader(request, ip, deps);
  const row = await findRow(id, owner, deps);
  if (!row || row.image_url === "") return sendJson(response, 404, { error: "midjourney_task_not_found" });
  try {
    await send(row, response, deps);
  } catch (error) {
    deps.log.info("a drawing could not be fetched", { id, error });
    if (response.headersSent) response.destroy();
    else sendJson(response, 502, { error: "http_get_image_failed" });
  }
}

/** A page of the console cannot send a key with its image requests; its cookie identifies the user. */
async function authenticateReader(request: IncomingMessage, ip: string, { authenticator }: TaskDeps): Promise<number> {
  const hasKey = request.headers.authorization !== undefined || request.headers["mj-api-secret"] !== undefined;
  if (hasKey || request.headers.cookie === undefined) return (await authenticator.byKey(request, ip)).userId;
  return (await authenticator.bySession(request, ip, { isRead: true })).inGroup(undefined).userId;
}

async function send(row: DrawingRow, response: ServerResponse, deps: TaskDeps): Promise<void> {
  const snapshot = deps.snapshots.current();
  const base = snapshot.channels.get(row.channel_id)?.baseUrl;
  const trustedHost = base !== undefined && URL.canParse(base) ? new URL(base).host : undefined;
  const answer = await deps.fetcher.fetch(throughWorker({ url: row.image_url, trustedHost }, snapshot.options));
  const type = TYPE.exec(answer.headers["content-type"] ?? "image/jpeg")?.[0];
  if (answer.status !== 200 || type === undefined) throw new Error(`the answer is not an image (${answer.status})`);
  const chunks = answer.body[Symbol.asyncIterator]();
  const first = await firstChunk(chunks);
  head(response, type);
  await pipeline(joined(first, chunks), response);
}

function head(response: ServerResponse, type: string): void {
  response.writeHead(200, {
    "content-type": type,
    "cache-control": "private, max-age=3600",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
  });
}

/** The head is sent only when the first bytes are known not to be a page. */
async function firstChunk(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) throw new Error("the answer is empty");
    if (next.value.length === 0) continue;
    if (next.value.find((byte) => byte > 0x20) === MARKUP) throw new Error("the answer is a page");
    return next.value;
  }
}

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function findRow(id: string, userId: number | undefined, { database }: TaskDeps): Promise<DrawingRow | undefined> {
  const rows = database.db.selectFrom("midjourneys").selectAll().where("mj_id", "=", id);
  const own = userId === undefined ? rows : rows.where("user_id", "=", userId);
  return own.orderBy("id", "desc").limit(1).executeTakeFirst();
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

function sameText(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

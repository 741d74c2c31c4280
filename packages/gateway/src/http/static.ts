import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { sendBuildPage } from "./build-page.ts";
import { acceptsEncoding } from "./envelope.ts";

export interface StaticDeps {
  /** Folder of the built console; undefined = the server has none. */
  readonly dir: string | undefined;
  /** File with the progress of a build that runs in a process next to the server; undefined = the folder is complete. */
  readonly progress?: string | undefined;
  /** Returns the content policy of HTML answers; called for each page because options change it. */
  readonly policy: () => string;
}

type Handle = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>;

interface StaticFile {
  readonly type: string;
  readonly etag: string;
  readonly isImmutable: boolean;
  /** Best coding first; the plain file is last. */
  readonly variants: readonly Variant[];
}

interface Variant {
  readonly coding: "br" | "gzip" | undefined;
  readonly file: string;
  readonly size: number;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/**
 * Serves the built console: only files that existed at the start (no path ever reaches the disk), hashed assets for a
 * year, pages never cached, unknown page paths as `index.html`. While a first build runs, pages show
 * its progress. Returns false if the path is neither a file nor a page.
 */
export async function createStatic({ dir, progress, policy }: StaticDeps): Promise<Handle> {
  let files = await scan(dir);
  return async (request, response, path) => {
    if (files.size === 0 && progress !== undefined) files = await scan(dir);
    const file = files.get(path) ?? (isPage(request, path) ? files.get("/index.html") : undefined);
    if (file) await send(request, response, file, policy);
    else if (files.size === 0 && progress !== undefined && isPage(request, path))
      await sendBuildPage(response, progress, policy());
    else return false;
    return true;
  };
}

/** True for a page path: it has no extension, or the browser navigates to it. */
function isPage(request: IncomingMessage, path: string): boolean {
  const last = path.slice(path.lastIndexOf("/") + 1);
  return !last.includes(".") || String(request.headers.accept ?? "").includes("text/html");
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  file: StaticFile,
  policy: () => string,
): Promise<void> {
  response.setHeader("ETag", file.etag);
  response.setHeader("Vary", "Accept-Encoding");
  response.setHeader("Cache-Control", file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (file.type.startsWith("text/html")) response.setHeader("Content-Security-Policy", policy());
  if (matches(request, file.etag)) return void response.writeHead(304).end();
  const variant = file.variants.find(({ coding }) => coding === undefined || acceptsEncoding(request, coding));
  if (!variant) throw new Error("a static file has no plain variant");
  response.setHeader("Content-Type", file.type);
  response.setHeader("Content-Length", variant.size);
  if (variant.coding) response.setHeader("Content-Encoding", variant.coding);
  response.writeHead(200);
  if (request.method === "HEAD") return void response.end();
  try {
    await pipeline(createReadStream(variant.file), response);
  } catch (cause) {
    if (!response.destroyed) throw cause;
  }
}

function matches(request: IncomingMessage, etag: string): boolean {
  return String(request.headers["if-none-match"] ?? "")
    .split(",")
    .some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

async function scan(dir: string | undefined): Promise<Map<string, StaticFile>> {
  if (dir === undefined || !existsSync(dir)) return new Map();
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const known = new Set(paths);
  const plain = paths.filter((path) => !/\.(br|gz)$/.test(path));
  const files = await Promise.all(
    plain.map(async (path) => [toUrlPath(dir, path), await describe(dir, path, known)] as const),
  );
  return new Map(files);
}

async function describe(dir: string, path: string, known: ReadonlySet<string>): Promise<StaticFile> {
  const codings = [
    { coding: "br", file: `${path}.br` },
    { coding: "gzip", file: `${path}.gz` },
    { coding: undefined, file: path },
  ] as const;
  const present = codings.filter(({ file }) => known.has(file));
  const variants = await Promise.all(
    present.map(async (variant) => ({ ...variant, size: (await stat(variant.file)).size })),
  );
  const digest = createHash("sha256")
    .update(await readFile(path))
    .digest("base64url");
  return {
    type: TYPES[extname(path)] ?? "application/octet-stream",
    etag: `"${digest.slice(0, 27)}"`,
    isImmutable: toUrlPath(dir, path).startsWith("/assets/"),
    variants,
  };
}

function toUrlPath(dir: string, path: string): string {
  return `/${relative(dir, path).split(sep).join("/")}`;
}

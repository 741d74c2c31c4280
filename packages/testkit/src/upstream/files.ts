import { createHash } from "node:crypto";
import type { Recorded } from "./recorded.ts";
import type { Json } from "./reply.ts";

/** A file that the fake upstream stores. */
export interface FakeFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly purpose: string;
  readonly bytes: Buffer;
  readonly expiresAt: number | undefined;
}

/** The files of the fake upstream, in the protocols of OpenAI, Anthropic and Google. */
export interface FakeFiles {
  readonly stored: ReadonlyMap<string, FakeFile>;
  /** Stores a file as if the upstream had made it. */
  add(file: {
    readonly name: string;
    readonly purpose: string;
    readonly bytes: Buffer;
    /** Default OpenAI's. */
    readonly protocol?: Protocol;
  }): FakeFile;
  clear(): void;
  /** Undefined for calls that are not about files. */
  answer(request: Recorded): FakeAnswer | undefined;
}

export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body: string | Buffer | Json;
}

type Protocol = "openai" | "anthropic" | "gemini";

interface Session {
  readonly name: string;
  readonly type: string;
  readonly chunks: Buffer[];
  received: number;
  final: string | undefined;
}

const PATH = /\/files(?:\/upload)?(?:\/([^/:]+))?(\/content|:download)?$/;
const CREATED = 1_790_000_000;
const IMAGE_DAYS = 2;

export function createFakeFiles(): FakeFiles {
  const stored = new Map<string, FakeFile>();
  const sessions = new Map<string, Session>();
  let serial = 0;

  const store = (protocol: Protocol, file: Omit<FakeFile, "id">): FakeFile => {
    const prefix = { openai: "file-UP", anthropic: "file_UP", gemini: "up" }[protocol];
    const saved = { ...file, id: `${prefix}${++serial}` };
    stored.set(saved.id, saved);
    return saved;
  };

  const upload = (protocol: Protocol, request: Recorded): FakeAnswer => {
    const form = readForm(request);
    const file = form.get("file");
    if (!file) return refuse(protocol, 400, "The form has no file.");
    const seconds = Number(form.get("expires_after[seconds]")?.value.toString() ?? Number.NaN);
    const saved = store(protocol, {
      name: file.filename ?? "",
      type: file.type,
      purpose: form.get("purpose")?.value.toString() ?? "",
      bytes: file.value,
      expiresAt: Number.isFinite(seconds) ? CREATED + seconds : undefined,
    });
    return { status: 200, body: show(protocol, saved) };
  };

  const begin = (request: Recorded): FakeAnswer => {
    const file = (request.json?.["file"] ?? {}) as { displayName?: string; display_name?: string; mimeType?: string };
    const id = `UPS${++serial}`;
    const type = String(request.headers["x-goog-upload-header-content-type"] ?? file.mimeType ?? "");
    const name = file.displayName ?? file.display_name ?? "";
    sessions.set(id, { name, type, chunks: [], received: 0, final: undefined });
    const url = `http://${request.headers.host}${request.path}?upload_id=${id}&upload_protocol=resumable`;
    return { status: 200, headers: { "x-goog-upload-url": url, "x-goog-upload-status": "active" }, body: "" };
  };

  const uploadRelated = (request: Recorded): FakeAnswer => {
    const [about, content] = readParts(request);
    const { file = {} } = JSON.parse(about?.value.toString() ?? "{}") as { file?: { displayName?: string } };
    const saved = store("gemini", {
      name: file.displayName ?? "",
      type: content?.type ?? "",
      purpose: "",
      bytes: content?.value ?? Buffer.alloc(0),
      expiresAt: undefined,
    });
    return { status: 200, body: { file: show("gemini", saved) } };
  };

  const resume = (session: Session, request: Recorded): FakeAnswer => {
    const command = String(request.headers["x-goog-upload-command"] ?? "");
    const isActive = session.final === undefined;
    const status = { "x-goog-upload-status": isActive ? "active" : "final" };
    const size = { "x-goog-upload-size-received": String(session.received) };
    if (command.includes("query") || !isActive) return { status: 200, headers: { ...status, ...size }, body: "" };
    if (command.includes("upload")) {
      if (Number(request.headers["x-goog-upload-offset"]) !== session.received)
        return {
          ...refuse("gemini", 400, "The offset is not the number of bytes received."),
          headers: { ...status, ...size },
        };
      session.chunks.push(request.body);
      session.received += request.body.length;
    }
    if (!command.includes("finalize")) return { status: 200, headers: { "x-goog-upload-status": "active" }, body: "" };
    const { name, type, chunks } = session;
    const saved = store("gemini", { name, type, purpose: "", bytes: Buffer.concat(chunks), expiresAt: undefined });
    session.final = saved.id;
    return { status: 200, headers: { "x-goog-upload-status": "final" }, body: { file: show("gemini", saved) } };
  };

  return {
    stored,
    add: ({ name, purpose, bytes, protocol = "openai" }) =>
      store(protocol, { name, purpose, bytes, type: "application/jsonl", expiresAt: undefined }),
    clear() {
      stored.clear();
      sessions.clear();
    },
    answer(request) {
      const found = PATH.exec(request.path);
      if (!found) return undefined;
      const protocol = readProtocol(request);
      const session = sessions.get(request.query.get("upload_id") ?? "");
      if (session) return resume(session, request);
      const [, id, rest] = found;
      if (id === undefined) {
        if (request.method !== "POST") return refuse(protocol, 405, "Not a list of yours.");
        if (request.headers["x-goog-upload-protocol"] === "multipart") return uploadRelated(request);
        return protocol === "gemini" ? begin(request) : upload(protocol, request);
      }
      const file = stored.get(decodeURIComponent(id));
      if (!file) return refuse(protocol, 404, `No such File object: ${id}`);
      if (rest !== undefined) return sendBytes(file, request);
      if (request.method === "DELETE") {
        stored.delete(file.id);
        return { status: 200, body: showDeleted(protocol, file.id) };
      }
      return { status: 200, body: show(protocol, file) };
    },
  };
}

function readProtocol({ path, headers }: Recorded): Protocol {
  if (headers["x-goog-api-key"] !== undefined || /\/v1beta\//.test(path)) return "gemini";
  return headers["anthropic-version"] === undefined ? "openai" : "anthropic";
}

function show(protocol: Protocol, { id, name, type, purpose, bytes, expiresAt }: FakeFile): Json {
  switch (protocol) {
    case "openai":
      return {
        id,
        object: "file",
        bytes: bytes.length,
        created_at: CREATED,
        filename: name,
        purpose,
        status: "processed",
        ...(expiresAt !== undefined && { expires_at: expiresAt }),
      };
    case "anthropic":
      return {
        id,
        type: "file",
        filename: name,
        mime_type: type,
        size_bytes: bytes.length,
        created_at: formatTime(CREATED),
        downloadable: false,
        expires_at: null,
      };
    case "gemini":
      return {
        name: `files/${id}`,
        displayName: name,
        mimeType: type,
        sizeBytes: String(bytes.length),
        createTime: formatTime(CREATED),
        updateTime: formatTime(CREATED),
        expirationTime: formatTime(Date.now() / 1_000 + IMAGE_DAYS * 86_400),
        sha256Hash: createHash("sha256").update(bytes).digest("base64"),
        uri: `https://generativelanguage.googleapis.com/v1beta/files/${id}`,
        state: "ACTIVE",
        source: "UPLOADED",
      };
  }
}

function showDeleted(protocol: Protocol, id: string): Json {
  if (protocol === "gemini") return {};
  return protocol === "openai" ? { id, object: "file", deleted: true } : { id, type: "file_deleted" };
}

function sendBytes({ bytes, type, name }: FakeFile, { headers }: Recorded): FakeAnswer {
  const common = {
    "content-type": type === "" ? "application/octet-stream" : type,
    "content-disposition": `inline; filename="${name}"`,
    "x-upstream-secret": "internal",
  };
  const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "");
  if (!range) return { status: 200, headers: { ...common, "content-length": String(bytes.length) }, body: bytes };
  const start = Number(range[1]);
  const end = range[2] === "" ? bytes.length - 1 : Number(range[2]);
  const part = bytes.subarray(start, end + 1);
  return {
    status: 206,
    headers: {
      ...common,
      "content-length": String(part.length),
      "content-range": `bytes ${start}-${start + part.length - 1}/${bytes.length}`,
    },
    body: part,
  };
}

function refuse(protocol: Protocol, status: number, message: string): FakeAnswer {
  if (protocol === "anthropic")
    return {
      status,
      body: { type: "error", error: { type: status === 404 ? "not_found_error" : "invalid_request_error", message } },
    };
  if (protocol === "gemini")
    return {
      status,
      body: { error: { code: status, message, status: status === 404 ? "NOT_FOUND" : "INVALID_ARGUMENT" } },
    };
  return { status, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}

function formatTime(seconds: number): string {
  return new Date(Math.floor(seconds) * 1_000).toISOString().replace(".000Z", "Z");
}

interface Part {
  readonly filename: string | undefined;
  readonly type: string;
  readonly value: Buffer;
}

/** Reads a form the way a simple server does; the body is in memory already. */
export function readForm(request: Recorded): ReadonlyMap<string, Part> {
  return new Map(readParts(request).map((part) => [part.name, part]));
}

function readParts({ headers, body }: Recorded): (Part & { readonly name: string })[] {
  const boundary = /boundary="?([^";]+)"?/.exec(headers["content-type"] ?? "")?.[1] ?? "";
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const whole = Buffer.concat([Buffer.from("\r\n"), body]);
  const parts: (Part & { readonly name: string })[] = [];
  for (let at = whole.indexOf(delimiter); at >= 0;) {
    const next = whole.indexOf(delimiter, at + delimiter.length);
    if (next < 0) break;
    const part = whole.subarray(at + delimiter.length + 2, next);
    const end = part.indexOf("\r\n\r\n");
    const head = part.subarray(0, end).toString("utf8");
    const name = /[; ]name="([^"]*)"/.exec(head)?.[1] ?? "";
    const filename = /filename="([^"]*)"/.exec(head)?.[1];
    const type = /content-type: *([^\r\n;]+)/i.exec(head)?.[1] ?? "";
    parts.push({ name, filename, type, value: Buffer.from(part.subarray(end + 4)) });
    at = next;
  }
  return parts;
}

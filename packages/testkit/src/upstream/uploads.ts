import { readForm, type FakeAnswer, type FakeFiles } from "./files.ts";
import type { Recorded } from "./recorded.ts";
import type { Json } from "./reply.ts";

interface FakeUpload {
  readonly id: string;
  readonly asked: Json;
  readonly parts: Map<string, Buffer>;
  status: "pending" | "completed" | "cancelled";
}

/** OpenAI's uploads in parts of the fake upstream. */
export interface FakeUploads {
  readonly uploads: ReadonlyMap<string, FakeUpload>;
  clear(): void;
  /** Undefined for calls that are not about uploads. */
  answer(request: Recorded): FakeAnswer | undefined;
}

const PATH = /\/v1\/uploads(?:\/([^/]+)\/(parts|complete|cancel))?$/;
const CREATED = 1_790_000_000;
const LIFE_SECONDS = 3_600;

export function createFakeUploads(files: FakeFiles): FakeUploads {
  const uploads = new Map<string, FakeUpload>();
  let serial = 0;

  const complete = (upload: FakeUpload, request: Recorded): FakeAnswer => {
    const ids = (request.json?.["part_ids"] ?? []) as readonly string[];
    const parts = ids.map((id) => upload.parts.get(id));
    if (parts.some((part) => part === undefined)) return refuse(400, "A part does not exist.");
    const bytes = Buffer.concat(parts as Buffer[]);
    if (bytes.length !== upload.asked["bytes"]) return refuse(400, "The parts are not as long as announced.");
    const { filename, purpose } = upload.asked;
    const file = files.add({ name: String(filename), purpose: String(purpose), bytes });
    upload.status = "completed";
    const shown = { id: file.id, object: "file", bytes: bytes.length, created_at: CREATED, filename, purpose };
    return { status: 200, body: { ...show(upload), file: { ...shown, status: "processed" } } };
  };

  return {
    uploads,
    clear: () => uploads.clear(),
    answer(request) {
      const found = PATH.exec(request.path);
      if (!found) return undefined;
      const [, id, action] = found;
      if (id === undefined) {
        const upload: FakeUpload = {
          id: `upload_UP${++serial}`,
          asked: request.json ?? {},
          parts: new Map(),
          status: "pending",
        };
        uploads.set(upload.id, upload);
        return { status: 200, body: show(upload) };
      }
      const upload = uploads.get(id);
      if (upload?.status !== "pending") return refuse(upload ? 400 : 404, `The upload ${id} is not pending.`);
      if (action === "complete") return complete(upload, request);
      if (action === "cancel") {
        upload.status = "cancelled";
        return { status: 200, body: show(upload) };
      }
      const part = `part_UP${++serial}`;
      upload.parts.set(part, readForm(request).get("data")?.value ?? Buffer.alloc(0));
      return { status: 200, body: { id: part, object: "upload.part", created_at: CREATED, upload_id: id } };
    },
  };
}

function show({ id, asked, status }: FakeUpload): Json {
  const { bytes, filename, purpose } = asked;
  const expires = Math.floor(Date.now() / 1_000) + LIFE_SECONDS;
  return { id, object: "upload", bytes, created_at: CREATED, expires_at: expires, filename, purpose, status };
}

function refuse(status: number, message: string): FakeAnswer {
  return { status, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}

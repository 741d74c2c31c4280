import { readKeyText } from "../identity/keys/api-key.ts";
import { AppError } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { isObjectId } from "./ids.ts";
import { isRelated, uploadRelated } from "./related-upload.ts";
import { beginSession, continueSession } from "./sessions.ts";
import type { ObjectDialect } from "../providers/core/types.ts";
import type { ObjectArrival } from "../relay/ingress/route-arrival.ts";
import type { ObjectCall, ObjectDeps } from "./object-call.ts";
import { anthropicFiles } from "./shapes/anthropic.ts";
import { geminiFiles } from "./shapes/gemini.ts";
import { openaiFiles } from "./shapes/openai.ts";
import type { FileShape } from "./shapes/shape.ts";
import { deleteFile, listFiles, sendContent, showFile } from "./stored-files.ts";
import { uploadForm } from "./upload-form.ts";
import { isUploadPath, serveUpload } from "./uploads.ts";
import { whileRunning } from "./while-running.ts";

/** Answers the routes of files; throws AppError. */
export type ObjectHandler = (arrival: ObjectArrival) => Promise<void>;

const SHAPES: Readonly<Record<ObjectDialect, FileShape>> = {
  openai: openaiFiles,
  anthropic: anthropicFiles,
  gemini: geminiFiles,
};

const UPLOAD = /^\/upload\//;
const FILE = /\/files(?:\/([^/:]+))?(\/content|:download)?$/;

export function createObjectHandler(deps: ObjectDeps): ObjectHandler {
  return async (arrival) => {
    const sessionId = arrival.query.get("upload_id");
    if (sessionId !== null && UPLOAD.test(arrival.path)) return serveSession(arrival, sessionId, deps);
    const caller = await deps.authenticator.byKey(arrival.request, arrival.ip);
    try {
      await deps.calls.take(arrival.requestId, caller.userId);
      await whileRunning(arrival, deps, (signal) => serve({ ...arrival, caller, signal }, deps));
    } catch (error) {
      throw AppError.of(error, caller);
    }
  };
}

/** Clients of resumable uploads send no key with the pieces: the id is the proof. A key that is sent must fit it. */
async function serveSession(arrival: ObjectArrival, id: string, deps: ObjectDeps): Promise<void> {
  const { request, ip } = arrival;
  const hasKey = readKeyText(request.headers, request.url ?? "") !== "";
  const caller = hasKey ? await deps.authenticator.byKey(request, ip) : undefined;
  const session = isObjectId(id) ? await deps.store.findUpload(id) : undefined;
  const isExpired = session !== undefined && session.expiresAt <= seconds(deps.clock);
  if (!session || isExpired || session.state !== "sending" || (caller && caller.userId !== session.userId))
    throw new AppError("object_not_found", { values: { kind: "upload", id: id.slice(0, 100) } });
  if (arrival.method !== "POST" && arrival.method !== "PUT")
    throw new AppError("method_not_allowed", { values: { method: arrival.method, path: arrival.path } });
  await deps.calls.take(arrival.requestId, session.userId);
  await whileRunning(arrival, deps, (signal) => continueSession({ ...arrival, signal }, session, deps));
}

async function serve(call: ObjectCall, deps: ObjectDeps): Promise<void> {
  const { method, path, dialect } = call;
  if (isUploadPath(path)) return serveUpload(call, deps);
  const shape = SHAPES[dialect];
  const [, segment, rest] = FILE.exec(path) ?? [];
  const action = findAction({ method, isUpload: UPLOAD.test(path), segment, rest }, dialect);
  if (!action) throw refuse(call, { segment, rest });
  const id = segment ?? "";
  switch (action) {
    case "upload":
      if (dialect !== "gemini") return uploadForm(call, shape, deps);
      return isRelated(call) ? uploadRelated(call, deps) : beginSession(call, deps);
    case "list":
      return listFiles(call, shape, deps);
    case "show":
      return showFile(id, call, shape, deps);
    case "delete":
      return deleteFile(id, call, shape, deps);
    case "content":
      return sendContent(id, call, deps);
  }
}

type Action = "upload" | "list" | "show" | "delete" | "content";

interface Asked {
  readonly method: string;
  readonly isUpload: boolean;
  readonly segment: string | undefined;
  readonly rest: string | undefined;
}

function findAction({ method, isUpload, segment, rest }: Asked, dialect: ObjectDialect): Action | undefined {
  if (segment === undefined) {
    if (method === "GET" && !isUpload) return "list";
    return method === "POST" && isUpload === (dialect === "gemini") ? "upload" : undefined;
  }
  if (rest !== undefined)
    return method === "GET" && (rest === ":download") === (dialect === "gemini") ? "content" : undefined;
  if (method === "GET") return "show";
  return method === "DELETE" ? "delete" : undefined;
}

function refuse({ method, path, response }: ObjectCall, { segment, rest }: Pick<Asked, "segment" | "rest">): AppError {
  const ofOne = rest === undefined ? "GET, DELETE" : "GET";
  response.setHeader("allow", segment === undefined ? "GET, POST" : ofOne);
  return new AppError("method_not_allowed", { values: { method, path: path.slice(0, 200) } });
}

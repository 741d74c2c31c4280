import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../lib/app-error.ts";
import type { ObjectDialect } from "../providers/core/types.ts";
import type { RunningRequest } from "../relay/reservation/running.ts";
import type { ObjectCall, ObjectDeps } from "./object-call.ts";
import { anthropicFiles } from "./shapes/anthropic.ts";
import { geminiFiles } from "./shapes/gemini.ts";
import { openaiFiles } from "./shapes/openai.ts";
import type { FileShape } from "./shapes/shape.ts";
import { deleteFile, listFiles, sendContent, showFile } from "./stored-files.ts";
import { uploadForm } from "./upload-form.ts";

/** One call of a route of files, as the edge passes it on. */
export interface ObjectArrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly dialect: ObjectDialect;
  readonly requestId: string;
  readonly ip: string;
}

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
    const caller = await deps.authenticator.byKey(arrival.request, arrival.ip);
    try {
      await deps.calls.take(arrival.requestId, caller.userId);
      const gone = new AbortController();
      const leave = () => gone.abort(new AppError("client_closed_request"));
      arrival.response.once("close", leave);
      const call: ObjectCall = { ...arrival, caller, signal: gone.signal };
      await whileRunning(gone, deps, () => serve(call, deps));
    } catch (error) {
      throw AppError.of(error, caller);
    }
  };
}

/** A draining process waits for uploads and downloads, and ends those that last too long. */
async function whileRunning(abort: AbortController, { running }: ObjectDeps, work: () => Promise<void>): Promise<void> {
  const handle: RunningRequest = {
    isStream: true,
    renew: () => Promise.resolve(),
    stop: (error) => abort.abort(error),
  };
  running.add(handle);
  try {
    await work();
  } finally {
    running.remove(handle);
  }
}

async function serve(call: ObjectCall, deps: ObjectDeps): Promise<void> {
  const { method, path, dialect } = call;
  const shape = SHAPES[dialect];
  const [, segment, rest] = FILE.exec(path) ?? [];
  const action = findAction({ method, isUpload: UPLOAD.test(path), segment, rest }, dialect);
  if (!action) throw refuse(call, { segment, rest });
  const id = segment ?? "";
  switch (action) {
    case "upload":
      return uploadForm(call, shape, deps);
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

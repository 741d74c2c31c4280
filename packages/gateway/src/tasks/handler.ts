import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../dialects/core/types.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import { AppError } from "../lib/app-error.ts";
import { parseObject } from "../lib/text/json.ts";
import { readQuery, type RouteArrival } from "../relay/ingress/route-arrival.ts";
import type { RunningRequest } from "../relay/reservation/running.ts";
import { readCallTags } from "../relay/tags/read-tags.ts";
import { CallProgress } from "../relay/request/call-progress.ts";
import type { CallTags } from "../relay/request/request.ts";
import { handleDrawing } from "./midjourney/handle.ts";
import { serveImage } from "./midjourney/image.ts";
import { acceptNotification } from "./midjourney/notify.ts";
import { decoded } from "./segment.ts";
import { handleSong } from "./suno/handle.ts";
import { handleVideo } from "./video/handle.ts";
import { traced } from "./trace.ts";
import type { TaskCall, TaskDeps } from "./types.ts";

/** Answers the routes of drawings, songs and videos; throws AppError. */
export type TaskHandler = (arrival: RouteArrival) => Promise<void>;

const DRAWING = /^\/(?:mj-(fast|relax|turbo)\/)?mj\/(.+)$/;
const SONG = /^\/suno\/(.+)$/;
/** Paths that only read, although they are posted. */
const READ = /\/(?:fetch|list-by-condition)$/;
const IMAGE = /^image\/([^/]+)$/;

export function createTaskHandler(deps: TaskDeps): TaskHandler {
  return async (arrival) => {
    const { request, response, method, path, ip } = arrival;
    const [, mode, drawing] = DRAWING.exec(path) ?? [];
    const query = readQuery(request);
    const image = method === "GET" && drawing !== undefined ? IMAGE.exec(drawing)?.[1] : undefined;
    if (image !== undefined) return serveImage(request, response, { id: decoded(image), ip, query }, deps);
    if (drawing === "notify" && method === "POST") {
      await acceptNotification(query, () => readNews(request, deps), deps);
      return void response.writeHead(200).end();
    }
    const answer = await answerKeyedCall(arrival, { drawing, mode }, deps);
    if (!answer) throw new AppError("unknown_url", { values: { method, path: path.slice(0, 200) } });
    if (answer.body === undefined) return;
    const bytes = Buffer.from(JSON.stringify(answer.body));
    response.writeHead(answer.status, { "content-type": "application/json", "content-length": bytes.length });
    response.end(bytes);
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The parts of a drawing's path; undefined for other tasks. */
interface Drawing {
  readonly drawing: string | undefined;
  readonly mode: string | undefined;
}

/** Answers calls that need a key; undefined for paths that do not exist. */
async function answerKeyedCall(arrival: RouteArrival, asked: Drawing, deps: TaskDeps): Promise<Answer | undefined> {
  const { request, ip } = arrival;
  const caller = await deps.authenticator.byKey(request, ip);
  return answerTo(caller, arrival, asked, deps).catch((error: unknown) => {
    throw AppError.of(error, caller);
  });
}

async function answerTo(
  caller: Caller,
  { request, response, method, path, requestId, startedAt }: RouteArrival,
  { drawing, mode }: Drawing,
  deps: TaskDeps,
): Promise<Answer | undefined> {
  const { calls } = deps.admission;
  calls.check(caller.userId);
  // A submission takes its limits together with its reservation.
  const isRead = method !== "POST" || READ.test(path);
  if (isRead) await calls.take(requestId, caller.userId);
  const tags = isRead ? undefined : readTaskTags(request, caller, deps);
  const progress = new CallProgress();
  if (isRead) progress.counted();
  const call: TaskCall = { request, response, requestId, caller, tags, startedAt, progress };
  const submission: RunningRequest = { isStream: false, renew: () => Promise.resolve(), stop: () => undefined };
  if (!isRead) deps.running.add(submission);
  const serve = (its: TaskDeps): Promise<Answer | undefined> => {
    if (drawing !== undefined) return handleDrawing(call, { method, path: drawing, mode }, its);
    const song = SONG.exec(path)?.[1];
    return song === undefined
      ? handleVideo(call, { method, path }, its)
      : handleSong(call, { method, path: song }, its);
  };
  try {
    return await (deps.tracing && !isRead ? traced(deps.tracing, { call, path }, deps, serve) : serve(deps));
  } finally {
    deps.running.remove(submission);
    if (!progress.isCounted) calls.count(requestId, caller.userId);
  }
}

/** Every kind of task has another body, so only headers tell what a task is for. */
function readTaskTags({ headers }: IncomingMessage, caller: Caller, { snapshots }: TaskDeps): CallTags | undefined {
  return readCallTags({ headers, body: {}, caller, settings: snapshots.current().tags });
}

async function readNews(request: IncomingMessage, deps: TaskDeps): Promise<JsonObject> {
  const news = parseObject((await deps.readBody(request)).toString("utf8"));
  if (!news) throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  return news as JsonObject;
}

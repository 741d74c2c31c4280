import { count, isObject, isSet, number, object, objects, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { invalidRequest } from "../../../lib/app-error.ts";
import type { VideoNames, VideoRequest, VideoTasks } from "../../core/video.ts";

const ACTIONS: ReadonlySet<string> = new Set([
  "text2video",
  "image2video",
  "multi-image2video",
  "video-extend",
  "lip-sync",
  "effects",
]);

const STATUSES: Readonly<Record<string, string>> = {
  submitted: "SUBMITTED",
  processing: "IN_PROGRESS",
  succeed: "SUCCESS",
  failed: "FAILURE",
};

/** Modes and durations are priced by name, so another spelling that the vendor understands would have another price. */
const MODES: ReadonlySet<string> = new Set(["std", "pro", "master"]);
const SECONDS = /^[1-9]\d?$/;
const DEFAULTS = { model: "kling-v1", mode: "std", duration: "5" };
/** Actions that build on a finished video and choose no model. */
const WITHOUT_MODEL: ReadonlySet<string> = new Set(["video-extend", "lip-sync"]);
/** Actions whose parameters are in `input`. */
const WITH_INPUT: ReadonlySet<string> = new Set(["lip-sync", "effects"]);
/** Matches a voice that an account made: its id is a number, while voices of every account are words. */
const OWN_VOICE = /^\d+$/;
/** Replaces the vendor's own code if that would blame the client's key. */
const SERVICE_ERROR = 5000;

/** `POST /v1/videos/<action>`, then `GET /v1/videos/<action>/<id>`; both answer `{code, message, request_id, data}`. */
export const klingVideos: VideoTasks = {
  actions: ACTIONS,
  path: (action) => `/v1/videos/${action}`,
  fromGeneral,
  names,
  withModel({ action, body }, model) {
    const input = object(body, "input");
    return WITH_INPUT.has(action) && input
      ? { ...body, input: { ...input, model_name: model } }
      : { ...body, model_name: model };
  },
  accepted(answer) {
    const data = answer["code"] === 0 ? object(answer, "data") : undefined;
    const id = text(data, "task_id");
    return data === undefined || id === undefined || id === "" ? undefined : { id, data };
  },
  news(answer) {
    const data = answer["code"] === 0 ? object(answer, "data") : undefined;
    const status = STATUSES[text(data, "task_status") ?? ""];
    if (data === undefined || status === undefined) return undefined;
    const isOver = status === "SUCCESS" || status === "FAILURE";
    return {
      status,
      progress: status === "SUBMITTED" ? "10%" : "50%",
      data,
      failReason: status === "FAILURE" ? text(data, "task_status_msg") || "The vendor gave no reason." : undefined,
      startTime: status === "SUBMITTED" ? undefined : readSeconds(data, "created_at"),
      finishTime: isOver ? readSeconds(data, "updated_at") : undefined,
    };
  },
  urls: (data) =>
    objects(object(data, "task_result"), "videos")
      .map((video) => text(video, "url") ?? "")
      .filter((url) => url !== ""),
  view({ id, status, failReason, data }, requestId) {
    const isGivenUp = status === "FAILURE" && data["task_status"] !== "failed";
    const end: JsonObject = isGivenUp ? { task_status: "failed", task_status_msg: failReason } : {};
    return { code: 0, message: "SUCCEED", request_id: requestId, data: { task_id: id, ...data, ...end } };
  },
  refusal: ({ code, message, requestId }) => ({
    code: code !== undefined && /^\d+$/.test(code) ? Number(code) : SERVICE_ERROR,
    message,
    request_id: requestId,
  }),
  ids: {
    derived: new Set(["external_task_id"]),
    within: (member, value) => (member === "voice_id" && !OWN_VOICE.test(value) ? [] : [value]),
    made: (report) => {
      const result = isObject(report) ? object(report, "task_result") : undefined;
      return [...objects(result, "videos"), ...objects(result, "images")].map((one) => text(one, "id") ?? "");
    },
  },
};

/**
 * Builds the name `kling-video_<model>_<mode>_<seconds>` from the members that the vendor reads, so that the price is
 * that of the video.
 */
function names({ action, body }: VideoRequest): VideoNames {
  const input = WITH_INPUT.has(action) ? object(body, "input") : body;
  const model = text(input, "model_name") || (WITHOUT_MODEL.has(action) ? action : DEFAULTS.model);
  return { model, priced: ["kling-video", model, readMode(input), secondsIn(input)].join("_") };
}

function readMode(input: JsonObject | undefined): string {
  const mode = input?.["mode"];
  if (!isSet(mode) || mode === "") return DEFAULTS.mode;
  if (typeof mode === "string" && MODES.has(mode)) return mode;
  throw invalidRequest("mode", `mode must be one of ${[...MODES].join(", ")}.`);
}

function secondsIn(input: JsonObject | undefined): string {
  const duration = input?.["duration"];
  if (!isSet(duration) || duration === "") return DEFAULTS.duration;
  const seconds = typeof duration === "number" || typeof duration === "string" ? String(duration) : "";
  if (SECONDS.test(seconds)) return seconds;
  throw invalidRequest("duration", "duration must be a whole number of seconds, such as 5.");
}

function fromGeneral(general: JsonObject): VideoRequest {
  const image = text(general, "image");
  const seconds = number(general, "duration") ?? text(general, "duration") ?? text(general, "seconds");
  const shape = aspectRatio(general);
  const body: JsonObject = {
    model_name: text(general, "model") ?? DEFAULTS.model,
    mode: DEFAULTS.mode,
    duration: String(seconds ?? DEFAULTS.duration),
    ...(isSet(general["prompt"]) ? { prompt: general["prompt"] } : {}),
    ...(image === undefined ? (shape === undefined ? {} : { aspect_ratio: shape }) : { image: bare(image) }),
    ...object(general, "metadata"),
  };
  return { action: image === undefined ? "text2video" : "image2video", body };
}

/** Returns base64 without the start of a data URL. */
function bare(image: string): string {
  return image.replace(/^data:[^,]*;base64,/, "");
}

function aspectRatio(general: JsonObject): string | undefined {
  const [, wide, high] = /^(\d+)[x*](\d+)$/.exec(text(general, "size") ?? "") ?? [];
  const width = count(general, "width") ?? Number(wide ?? 0);
  const height = count(general, "height") ?? Number(high ?? 0);
  if (width === 0 || height === 0) return undefined;
  if (width === height) return "1:1";
  return width > height ? "16:9" : "9:16";
}

/** Reads a time in seconds; the vendor writes milliseconds. */
function readSeconds(data: JsonObject, name: string): number | undefined {
  const milliseconds = count(data, name);
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000);
}

import { isObject, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/text/json.ts";
import { printable } from "../../providers/core/errors/error-body.ts";
import { mask, collectSecrets } from "../../providers/core/mask.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { taskChannels, type TaskTarget } from "../channels.ts";
import { reserveTask, type TaskMoney } from "../money.ts";
import { keepToOwner } from "../own-ids.ts";
import { acceptTask } from "../store.ts";
import { switchOff } from "../switch-off.ts";
import type { TaskCall, TaskDeps } from "../types.ts";
import type { TaskAnswer } from "../upstream.ts";
import { findSong, PLATFORM, songIds } from "./store.ts";

/** A refusal in the words of the protocol. */
export class SongError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.name = "SongError";
    this.code = code;
    this.status = status;
  }
}

/** Lyrics are answered only once they are written. */
const TIMEOUT_MS = { MUSIC: 60_000, LYRICS: 150_000 };
const DEFAULT_VERSION = "chirp-v3-0";
const REFUSED_KEY = 401;
/** After any other failure the song may be in progress, or would be refused elsewhere too. */
const RETRIED: ReadonlySet<number> = new Set([REFUSED_KEY, 403, 429]);
const TIMED_OUT: ReadonlySet<number> = new Set([504, 524]);
const TEXT_FIELDS = ["prompt", "gpt_description_prompt", "title", "tags"];

interface Song {
  /** In upper case. */
  readonly action: "MUSIC" | "LYRICS";
  readonly body: JsonObject;
}

/** Submits a song or lyrics and charges for it once the upstream accepted it. Throws SongError and AppError. */
export async function submitSong(call: TaskCall, action: string, bytes: Buffer, deps: TaskDeps): Promise<unknown> {
  const asked = readSong(action, bytes);
  const checked = await keepToOwner(asked.body, songIds(deps, unknownTask), call.caller.userId, deps);
  const song = { ...asked, body: checked.body };
  const model = `suno_${song.action.toLowerCase()}`;
  const texts = TEXT_FIELDS.map((name) => text(song.body, name) ?? "");
  await deps.judge(call, { kind: "suno", model, texts });
  const targets = checked.keep(await resolveTargets(song, model, call, deps));
  const money = await reserve(call, model, targets, deps);
  try {
    return await tryChannels({ call, song, money }, deps);
  } catch (error) {
    await money.release();
    throw error;
  }
}

function readSong(action: string, bytes: Buffer): Song {
  const name = action.toUpperCase();
  if (name !== "MUSIC" && name !== "LYRICS")
    throw new SongError("invalid_action", 400, `The action ${action.slice(0, 40)} does not exist.`);
  const sent = parseObject(bytes.toString("utf8")) as JsonObject | undefined;
  if (!sent) throw new SongError("invalid_request", 400, "The body is not a JSON object.");
  if (name === "LYRICS" && !text(sent, "prompt")) throw new SongError("invalid_request", 400, "prompt_empty");
  if (text(sent, "continue_clip_id") && !text(sent, "task_id"))
    throw new SongError("invalid_request", 400, "task_id is required with continue_clip_id.");
  const version = name === "MUSIC" && !text(sent, "mv") ? { mv: DEFAULT_VERSION } : {};
  return { action: name, body: { ...sent, ...version, make_instrumental: sent["make_instrumental"] ?? false } };
}

/** Returns the channel of the song that is continued, or every one. */
async function resolveTargets(
  song: Song,
  model: string,
  call: TaskCall,
  deps: TaskDeps,
): Promise<() => readonly TaskTarget[]> {
  const snapshot = deps.snapshots.current();
  const targets = () => taskChannels(snapshot, call.caller, model, deps);
  const origin = text(song.body, "continue_clip_id") ? text(song.body, "task_id") : undefined;
  const row = origin === undefined ? undefined : await findSong(deps, call.caller.userId, origin);
  if (!row) return targets;
  const channel = snapshot.channels.get(row.channel_id);
  if (!channel) throw new SongError("channel_not_found", 400, "The channel of the task does not exist any more.");
  if (channel.status !== 1) throw new SongError("task_channel_disable", 400, "The channel of the task is disabled.");
  return () => [{ channel, group: targets()[0]?.group ?? call.caller.userGroup }];
}

/** The same error for a song, or a clip of one, that is another user's. */
function unknownTask(): SongError {
  return new SongError("task_not_exist", 400, "The task does not exist.");
}

async function reserve(
  call: TaskCall,
  model: string,
  targets: readonly TaskTarget[],
  deps: TaskDeps,
): Promise<TaskMoney> {
  try {
    return await reserveTask(call, { model }, targets, deps);
  } catch (error) {
    const isPoor = error instanceof AppError && error.code?.startsWith("insufficient_") === true;
    throw isPoor ? new SongError("quota_not_enough", 403, error.message) : error;
  }
}

interface SubmitContext {
  readonly call: TaskCall;
  readonly song: Song;
  readonly money: TaskMoney;
}

async function tryChannels({ call, song, money }: SubmitContext, deps: TaskDeps): Promise<unknown> {
  const { options } = deps.snapshots.current();
  const most = call.caller.pinnedChannel === undefined ? options.RetryTimes + 1 : 1;
  let last: SongError | undefined;
  for await (const target of money.channels(most)) {
    const answer = await send(target, song, deps);
    const id = isObject(answer.json) && answer.json["code"] === "success" ? text(answer.json, "data") : undefined;
    if (answer.status === 200 && id !== undefined) {
      await accept({ call, song, target, money, id }, deps);
      return answer.json;
    }
    last = toSongError(answer, target.channel);
    if (answer.status === REFUSED_KEY) await switchOff(target.channel, "the key was refused", deps);
    if (!isRetried(answer.status)) break;
  }
  throw last ?? new AppError("no_available_channel", { values: { model: "suno", group: call.caller.group } });
}

function isRetried(status: number): boolean {
  return RETRIED.has(status) || (status >= 500 && !TIMED_OUT.has(status));
}

async function send({ channel }: TaskTarget, { action, body }: Song, deps: TaskDeps): Promise<TaskAnswer> {
  const request = {
    method: "POST",
    path: `/suno/submit/${action}`,
    body: Buffer.from(JSON.stringify(body)),
    timeoutMs: TIMEOUT_MS[action],
  } as const;
  return deps.upstream(channel, request).catch((cause: unknown) => {
    deps.log.info("a song could not be submitted", { channelId: channel.id, error: cause });
    throw new SongError("do_request_failed", 502, "The upstream could not be reached.");
  });
}

function toSongError({ status, text: body, json }: TaskAnswer, channel: ChannelRecord): SongError {
  const masked = (message: string) => mask(printable(message), collectSecrets(channel, channel.keys.join("\n")));
  if (status !== 200) return new SongError("fail_to_fetch_task", status, masked(body));
  if (!isObject(json))
    return new SongError("unmarshal_response_body_failed", 502, "The upstream's answer could not be read.");
  return new SongError(masked(text(json, "code") ?? "upstream_error"), 502, masked(text(json, "message") ?? ""));
}

interface Accepted {
  readonly call: TaskCall;
  readonly song: Song;
  readonly target: TaskTarget;
  readonly money: TaskMoney;
  readonly id: string;
}

async function accept({ call, song, target, money, id }: Accepted, deps: TaskDeps): Promise<void> {
  const input = text(song.body, "prompt") ?? text(song.body, "gpt_description_prompt") ?? "";
  const task = { platform: PLATFORM, action: song.action, status: "NOT_START", properties: { input }, data: null };
  await acceptTask({ call, target, money, id, ...task }, deps);
}

import { isObject, object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { seconds } from "../../lib/clock.ts";
import { admitModel } from "../../relay/admission/model-access.ts";
import { printable } from "../../providers/core/errors/error-body.ts";
import { mask, maskValue, collectSecrets } from "../../providers/core/mask.ts";
import { providerByType } from "../../providers/registry.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { taskChannels, type TaskTarget } from "../channels.ts";
import { reserveTask, type TaskMoney } from "../money.ts";
import { keepToOwner } from "../own-ids.ts";
import { switchOff } from "../switch-off.ts";
import type { TaskCall, TaskDeps } from "../types.ts";
import type { TaskAnswer } from "../upstream.ts";
import { DrawingError, toActionModel, readSubmission, type Submission } from "./actions.ts";
import { drawingIds } from "./ids.ts";
import { findDrawing, saveDrawing } from "./store.ts";
import type { DrawingRow } from "./view.ts";

export interface DrawingSubmit {
  /** The path after `/mj/`. */
  readonly path: string;
  /** `fast`, `relax`, `turbo`, or undefined. */
  readonly mode: string | undefined;
  readonly bytes: Buffer;
  readonly body: JsonObject;
}

/** The protocol's answer to a submission. */
export interface SubmitAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const TIMEOUT_MS = 60_000;
const REFUSED_KEY = 401;
const NO_ACCOUNT = 3;
const EXISTS = 21;
const QUEUE_FULL = 23;
const ACCOUNT_LIMIT = 30;
const CHARGED: ReadonlySet<number> = new Set([1, 21, 22]);
/** Actions that open a window, which is charged when it is confirmed. */
const NEEDS_MODAL: ReadonlySet<string> = new Set(["INPAINT", "CUSTOM_ZOOM"]);

/** Submits a drawing and charges for it once the upstream accepted it. Throws DrawingError and AppError. */
export async function submitDrawing(call: TaskCall, received: DrawingSubmit, deps: TaskDeps): Promise<SubmitAnswer> {
  const submission = readSubmission(received.path, received.body);
  if (!submission) throw new DrawingError("unknown_relay_action");
  const asked = submission.long ? lengthened(received, submission.long) : received;
  const prompted = { kind: "midjourney", model: toActionModel(submission.action), texts: [submission.prompt] };
  await deps.judge(call, prompted);
  const snapshot = deps.snapshots.current();
  const checked = await keepToOwner(asked.body, drawingIds(deps), call.caller.userId, deps);
  const origin = submission.taskId === undefined ? undefined : await findOrigin(submission, call, deps);
  const model = toActionModel(submission.action);
  const targets = checked.keep(() =>
    origin ? [originTarget(origin, call, deps)] : taskChannels(snapshot, call.caller, model, deps),
  );
  const submit = checked.namesIds ? { ...asked, bytes: Buffer.from(JSON.stringify(asked.body)) } : asked;
  const special = dearest(
    listModes(submit, snapshot).map((mode) => toActionModel(submission.action, `mj_${mode}`)),
    snapshot,
  );
  const money = await reserve(call, { model, special }, targets, deps);
  const prompt = submission.prompt === "" && origin ? origin.prompt : submission.prompt;
  try {
    return await tryChannels({ call, submit, submission: { ...submission, prompt }, money }, deps);
  } catch (error) {
    await money.release();
    throw error;
  }
}

/** A mode inside a prompt, with any dash that editors make from two hyphens. */
const MODE_WORD = /\s*(?:--|[\u2012-\u2015\u2212])\s*(fast|relax|turbo)\b/gi;

/** Returns the modes in which the upstream may draw: that of the path, and that of the prompt if it is sent on. */
function listModes({ mode, body }: DrawingSubmit, { options }: Snapshot): string[] {
  const prompt = options.MjModeClearEnabled ? "" : (text(body, "prompt") ?? "");
  const asked = [...prompt.matchAll(MODE_WORD)].map(([, word = ""]) => word.toLowerCase());
  return mode === undefined ? asked : [mode, ...asked];
}

/** Returns the name with the highest price that the operator has set. */
function dearest(names: readonly string[], { options }: Snapshot): string | undefined {
  const findModelPrice = (name: string) => Number(options.ModelPrice[name] ?? -1);
  return names.toSorted((a, b) => findModelPrice(b) - findModelPrice(a))[0];
}

function lengthened(submit: DrawingSubmit, { path, body }: { path: string; body: JsonObject }): DrawingSubmit {
  return { ...submit, path, body };
}

async function reserve(...asked: Parameters<typeof reserveTask>): Promise<TaskMoney> {
  try {
    return await reserveTask(...asked);
  } catch (error) {
    const isPoor = error instanceof AppError && error.code?.startsWith("insufficient_") === true;
    throw isPoor ? new DrawingError("quota_not_enough") : error;
  }
}

async function findOrigin(
  { action, taskId = "" }: Submission,
  { caller }: TaskCall,
  deps: TaskDeps,
): Promise<DrawingRow | undefined> {
  const row = await findDrawing(deps, caller.userId, taskId);
  if (!row) return undefined;
  const mustBeDone = deps.snapshots.current().options.MjActionCheckSuccessEnabled && action !== "MODAL";
  if (mustBeDone && row.status !== "SUCCESS") throw new DrawingError("task_status_not_success");
  return row;
}

function originTarget(row: DrawingRow, { caller }: TaskCall, deps: TaskDeps): TaskTarget {
  const channel = deps.snapshots.current().channels.get(row.channel_id);
  if (!channel) throw new DrawingError("get_channel_info_failed");
  if (channel.status !== 1) throw new DrawingError("channel_disabled");
  admitModel(caller, { model: toActionModel(row.action) });
  return { channel, group: caller.group === "auto" ? caller.userGroup : caller.group };
}

interface SubmitContext {
  readonly call: TaskCall;
  readonly submit: DrawingSubmit;
  readonly submission: Submission;
  readonly money: TaskMoney;
}

async function tryChannels(context: SubmitContext, deps: TaskDeps): Promise<SubmitAnswer> {
  const { call, money } = context;
  const most = call.caller.pinnedChannel === undefined ? deps.snapshots.current().options.RetryTimes + 1 : 1;
  let refusal: SubmitAnswer = failure(503, "get_channel_info_failed");
  for await (const target of money.channels(most)) {
    const answer = await send(context, target, deps);
    const read = coded(answer.json);
    if (answer.status === REFUSED_KEY) {
      refusal = failure(502, "upstream_auth_error");
      await switchOff(target.channel, "the key was refused", deps);
      continue;
    }
    if (!read) {
      refusal = failure(502, "unmarshal_response_body_failed");
      break;
    }
    const code = read["code"] as number;
    if (answer.status === 200 && isCharged(context.submission, code)) return accept(context, target, read, deps);
    refusal = { status: code === ACCOUNT_LIMIT ? 429 : answer.status, body: masked(read, target.channel) };
    if (isWithoutAccount(context.submission, code)) {
      await switchOff(target.channel, text(read, "description") ?? "no account", deps);
      continue;
    }
    if (code === QUEUE_FULL) continue;
    await saveDrawing(deps, { ...buildRow(context, target, read, deps), fail_reason: text(read, "description") ?? "" });
    break;
  }
  await context.money.release();
  return refusal;
}

/** Returns the upstream's answer without details that belong to the operator. */
function masked(read: JsonObject, channel: ChannelRecord): JsonObject {
  const secrets = collectSecrets(channel, channel.keys.join("\n"));
  const hidden = maskValue(read, secrets);
  const description = text(read, "description");
  return description === undefined ? hidden : { ...hidden, description: mask(printable(description), secrets) };
}

/** For a follow-up, the same code means that the upstream no longer has the task. */
function isWithoutAccount({ taskId }: Submission, code: number): boolean {
  return code === NO_ACCOUNT && taskId === undefined;
}

function coded(json: unknown): JsonObject | undefined {
  return isObject(json) && typeof json["code"] === "number" ? json : undefined;
}

function failure(status: number, description: string): SubmitAnswer {
  return { status, body: { description, type: "upstream_error", code: 4 } };
}

/** A submission whose result is unknown is not sent twice. */
function send({ call, submit }: SubmitContext, { channel }: TaskTarget, deps: TaskDeps): Promise<TaskAnswer> {
  const body = outgoing(submit, channel, call, deps);
  const path = `${forwardsMode(channel) && submit.mode ? `/mj-${submit.mode}` : ""}/mj/${submit.path}`;
  return deps.upstream(channel, { method: "POST", path, body, timeoutMs: TIMEOUT_MS }).catch((cause: unknown) => {
    deps.log.info("a drawing could not be submitted", { channelId: channel.id, error: cause });
    throw new DrawingError("do_request_failed", 502, 5);
  });
}

function isCharged({ action }: Submission, code: number): boolean {
  return action === "SWAP_FACE" ? code === 1 : CHARGED.has(code);
}

/** True if the upstream opened a window for another prompt; the drawing is made and charged when that is confirmed. */
function opensWindow({ action }: Submission, read: JsonObject): boolean {
  if (read["code"] !== EXISTS) return false;
  return NEEDS_MODAL.has(action) || object(read, "properties")?.["remix"] === true;
}

/** The charge is certain before the task is in the table, and final only after that. */
async function accept(
  context: SubmitContext,
  target: TaskTarget,
  read: JsonObject,
  deps: TaskDeps,
): Promise<SubmitAnswer> {
  const { submission, money } = context;
  const row = buildRow(context, target, read, deps);
  if (opensWindow(submission, read) && !NEEDS_MODAL.has(submission.action)) {
    await saveDrawing(deps, row);
    await money.release();
    return { status: 200, body: read };
  }
  const detail = `action ${submission.action}, task ${row.mj_id}`;
  await money.promise(target, detail);
  const quota = money.calculateQuota(target);
  await saveDrawing(deps, { ...row, quota, charged: quota > 0 ? 1 : 0, refunded: 0 });
  await money.settle(target, detail);
  const keepsCode = read["code"] === 1 || opensWindow(submission, read);
  return { status: 200, body: keepsCode ? read : { ...read, code: 1 } };
}

function buildRow({ call, submission }: SubmitContext, { channel }: TaskTarget, read: JsonObject, deps: TaskDeps) {
  const { result } = read;
  return {
    code: read["code"] as number,
    user_id: call.caller.userId,
    action: submission.action,
    mj_id: typeof result === "string" || typeof result === "number" ? String(result).slice(0, 191) : "",
    prompt: submission.prompt,
    prompt_en: "",
    description: text(read, "description") ?? "",
    state: "",
    submit_time: deps.clock.now(),
    start_time: 0,
    finish_time: 0,
    ...beginning(submission, read),
    fail_reason: "",
    channel_id: channel.id,
    quota: 0,
    buttons: "",
    properties: "",
    created_at: seconds(deps.clock),
    token_id: call.caller.tokenId,
    request_id: call.requestId,
  };
}

/** Uploads are finished at once; so are drawings that already exist. */
function beginning({ action }: Submission, read: JsonObject) {
  const properties = isObject(read["properties"]) ? read["properties"] : undefined;
  const image_url = read["code"] === 21 ? (text(properties, "imageUrl") ?? "") : "";
  const isUploaded = action === "UPLOAD" && read["code"] === 1;
  const isDone = isUploaded || (image_url !== "" && text(properties, "status") === "SUCCESS");
  return { image_url, status: isDone ? "SUCCESS" : "", progress: isDone ? "100%" : "0%" };
}

/**
 * Forwards unknown fields, but not what the operator did not allow. Returns the client's own bytes if nothing changes.
 */
function outgoing(submit: DrawingSubmit, channel: ChannelRecord, call: TaskCall, deps: TaskDeps): Buffer {
  const { options } = deps.snapshots.current();
  const { accountFilter, notifyHook, ...rest } = submit.body;
  const body: Record<string, JsonObject[string]> = { ...rest };
  if (accountFilter !== undefined && options.MjAccountFilterEnabled) body["accountFilter"] = accountFilter;
  if (options.MjNotifyEnabled) body["notifyHook"] = notifyUrl(channel, notifyHook, call, deps);
  const { prompt } = body;
  if (options.MjModeClearEnabled && typeof prompt === "string") body["prompt"] = prompt.replaceAll(MODE_WORD, "");
  const isSame =
    body["prompt"] === submit.body["prompt"] && Object.keys(body).length === Object.keys(submit.body).length;
  return isSame && body["notifyHook"] === submit.body["notifyHook"] ? submit.bytes : Buffer.from(JSON.stringify(body));
}

/** The address to which the upstream reports; it grants that right by itself, and contains the client's own hook. */
function notifyUrl(channel: ChannelRecord, hook: unknown, { requestId }: TaskCall, deps: TaskDeps): string {
  const query = new URLSearchParams({
    c: String(channel.id),
    r: requestId,
    h: typeof hook === "string" ? hook : "",
  });
  query.set("t", notifySignature(query, deps));
  return `${deps.publicUrl()}/mj/notify?${query.toString()}`;
}

export function notifySignature(query: URLSearchParams, { sign }: Pick<TaskDeps, "sign">): string {
  return sign(`mj-notify ${query.get("c")} ${query.get("r")} ${query.get("h")}`);
}

function forwardsMode({ type, setting }: ChannelRecord): boolean {
  const wanted = setting["forward_mode"];
  return typeof wanted === "boolean" ? wanted : providerByType(type)?.forwardsMode === true;
}

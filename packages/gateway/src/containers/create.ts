import { toNumber, type Ratio } from "../billing/money/ratio.ts";
import type { LogDetail } from "../billing/ledger/ledger.ts";
import { text } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError, unsupportedParameter } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import type { OpenAccount } from "../objects/account.ts";
import { chooseAccounts } from "../objects/choose-account.ts";
import { deleteAt } from "../objects/library.ts";
import { readSmallJson } from "../objects/small-json.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import { readModel } from "../objects/upload-form.ts";
import { readJson } from "../objects/upstream.ts";
import { servingGroups } from "../relay/admission/model-access.ts";
import type { CallTags } from "../relay/request/request.ts";
import { reserveLong, type LongReservation } from "../relay/reservation/deposit-reservation.ts";
import type { Bill } from "../relay/reservation/reservation.ts";
import { keepRunning } from "../relay/reservation/running.ts";
import { readCallTags } from "../relay/tags/read-tags.ts";
import type { StoredFile } from "../relay/tenancy/stored-files.ts";
import { hasContainers, shownContainerError } from "./find-container.ts";
import { markKey } from "../snapshot/key-marks.ts";
import { findNamedFiles, isSameAccount } from "./own-files.ts";
import { findContainerPrice, nameContainer, priceContainer, readMemory } from "./price.ts";
import { KNOWN_SECONDS, type ContainerCall, type ContainerDeps } from "./types.ts";
import { readContainer } from "./view.ts";

/** Members of a creation; anything else could name what belongs to the account. */
const MEMBERS: ReadonlySet<string> = new Set(["name", "expires_after", "file_ids", "memory_limit", "network_policy"]);

/** A container on its way to an upstream, with its price. */
interface Creation {
  readonly call: ContainerCall;
  readonly asked: JsonObject;
  readonly files: readonly StoredFile[];
  readonly memory: string;
  readonly dollars: Ratio;
  readonly account: OpenAccount;
  readonly group: string;
  readonly tags: CallTags | undefined;
}

/** Creates a container, charges it once and returns it as its upstream shows it. Throws AppError. */
export async function createContainer(call: ContainerCall, deps: ContainerDeps): Promise<JsonObject> {
  const creation = await plan(call, deps);
  const reserved = await reserve(creation, deps);
  // The reservation is renewed while the upstream works.
  const handle = { isStream: false, renew: () => reserved.reservation.renew(), stop: () => undefined };
  return keepRunning(deps.running, handle, async () => {
    const answer = await send(creation, deps).catch(async (error: unknown) => {
      await reserved.release();
      throw shownContainerError(error, "");
    });
    return book(creation, { answer, reserved }, deps);
  });
}

async function plan(call: ContainerCall, deps: ContainerDeps): Promise<Creation> {
  const { request, caller } = call;
  const asked = await readSmallJson(request);
  for (const name of Object.keys(asked))
    if (!MEMBERS.has(name)) throw unsupportedParameter(name.slice(0, 100), "Create the container without it.");
  const snapshot = deps.snapshots.current();
  const memory = readMemory(asked["memory_limit"]);
  const files = await findNamedFiles(asked["file_ids"], "file_ids", call, deps);
  const account = pickAccount(call, files[0], deps);
  const groups = servingGroups(caller, snapshot);
  return {
    call,
    asked,
    files,
    memory,
    dollars: findContainerPrice(memory, snapshot),
    account,
    group: groups.find((one) => account.channel.groups.includes(one)) ?? groups[0] ?? "default",
    tags: readCallTags({ headers: request.headers, body: asked, caller, settings: snapshot.tags }),
  };
}

/** Picks an account that has containers: the one that stores the files that the container begins with. */
function pickAccount(call: ContainerCall, file: StoredFile | undefined, deps: ContainerDeps): OpenAccount {
  const { caller } = call;
  const wish = { caller, dialect: "openai", model: readModel(call) } as const;
  const able = chooseAccounts(wish, deps.snapshots.current(), deps.selection).filter(hasContainers);
  if (!file) {
    const [first] = able;
    if (first) return first;
    throw new AppError("unsupported_by_channel", { message: "No channel of your groups has containers." });
  }
  const near = able.find(({ channel }) => channel.id === file.channelId);
  if (!near || file.keyIndex === undefined)
    throw new AppError("file_unavailable", { param: "file_ids", values: { id: file.id } });
  return isSameAccount({ channelId: near.channel.id, keyIndex: near.keyIndex }, file)
    ? near
    : { ...near, keyIndex: file.keyIndex };
}

function reserve(creation: Creation, deps: ContainerDeps): Promise<LongReservation> {
  const { call, memory, dollars, group, tags } = creation;
  return reserveLong(
    {
      id: call.requestId,
      caller: call.caller,
      model: nameContainer(memory),
      tags,
      target: toTarget(creation),
      amount: priceContainer(dollars, group, deps.snapshots.current()),
    },
    deps,
  );
}

/** Returns where budgets count the container. */
function toTarget({ account: { channel }, group }: Creation) {
  return { channel: { id: channel.id }, group };
}

const MAX_CREATION_MS = 100_000;

/** The call is made once, and not ended by its client: the vendor charges a container that no one knows too. */
async function send({ asked, files, account }: Creation, deps: ContainerDeps): Promise<JsonObject> {
  const body = files.length === 0 ? asked : { ...asked, file_ids: files.map(({ sent }) => sent) };
  const answer = await deps.call(account, {
    method: "POST",
    isContainer: true,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(body)),
    signal: AbortSignal.timeout(MAX_CREATION_MS),
  });
  return (await readJson(answer)) as JsonObject;
}

interface Answered {
  readonly answer: JsonObject;
  readonly reserved: LongReservation;
}

/** Books the container; if it cannot be booked, the upstream's container is deleted again. */
async function book(creation: Creation, { answer, reserved }: Answered, deps: ContainerDeps): Promise<JsonObject> {
  let object: StoredObject | undefined;
  let bill: Bill;
  try {
    object = buildObject(creation, answer, deps);
    bill = buildBill(creation, object, deps);
    // From here on, the container is charged even if this process dies.
    await reserved.reservation.renew(bill);
    await deps.store.create(object);
  } catch (error) {
    await reserved.release();
    if (object)
      await deleteAt(creation.account, object, { call: deps.call, signal: AbortSignal.timeout(DELETE_MS) }).catch(
        () => undefined,
      );
    throw error;
  }
  await reserved.reservation.settle(() => bill);
  return answer;
}

const DELETE_MS = 10_000;

function buildObject(
  { call: { caller }, asked, account: { channel, keyIndex } }: Creation,
  answer: JsonObject,
  { clock, hashKey }: ContainerDeps,
): StoredObject {
  const { id, facts } = readContainer(answer);
  const createdAt = seconds(clock);
  const expiresAt = createdAt + KNOWN_SECONDS;
  return {
    id,
    userId: caller.userId,
    tokenId: caller.tokenId,
    kind: "container",
    dialect: "openai",
    channelId: channel.id,
    keyMark: markKey(channel.keys[keyIndex] ?? "", hashKey),
    upstreamId: id,
    name: text(answer, "name") ?? text(asked, "name") ?? "",
    mime: "",
    purpose: "",
    bytes: 0,
    state: "ready",
    facts,
    createdAt,
    expiresAt,
    nextCheckAt: expiresAt,
  };
}

function buildBill(creation: Creation, { id }: StoredObject, deps: ContainerDeps): Bill {
  const snapshot = deps.snapshots.current();
  const { dollars, group } = creation;
  return {
    quota: priceContainer(dollars, group, snapshot),
    target: toTarget(creation),
    log: snapshot.options.LogConsumeEnabled
      ? buildLog(creation, id, Number(snapshot.prices.groupRatio(group)))
      : undefined,
  };
}

/** `frt` of calls that have no first token. */
const NO_FIRST_TOKEN = -1000;

function buildLog(creation: Creation, id: string, groupRatio: number): LogDetail {
  const { call, memory, dollars, account, group, tags } = creation;
  const { caller, startedAt } = call;
  return {
    username: caller.username,
    tokenName: caller.tokenName,
    modelName: nameContainer(memory),
    channelId: account.channel.id,
    group,
    promptTokens: 0,
    completionTokens: 0,
    useTimeSeconds: Math.floor((performance.now() - startedAt) / 1_000),
    isStream: false,
    ip: "",
    content: `Container ${id} created with ${memory} of memory`,
    other: JSON.stringify({
      container: { id, memory },
      model_ratio: 0,
      completion_ratio: 0,
      group_ratio: groupRatio,
      model_price: toNumber(dollars),
      frt: NO_FIRST_TOKEN,
      end_reason: "stop",
      admin_info: { use_channel: [String(account.channel.id)] },
    }),
    ...(tags && tags.text !== "" && { tags: tags.text }),
    ...(tags && tags.endUser !== "" && { endUser: tags.endUser }),
    ...(caller.team && { actor: caller.team.actor }),
  };
}

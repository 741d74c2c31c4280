import type { OptionValues } from "@fairway/wire";
import { isOwnResponse } from "../../dialects/bridges/responses-to-chat/own-ids.ts";
import { list, text } from "../../dialects/core/read.ts";
import type { Body, JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { parseObject } from "../../lib/text/json.ts";
import type { Vault } from "../../storage/secrets/secrets.ts";
import type { Bound, TtlStore, Entry } from "../ttl-store/ttl-store.ts";

/** The output that a stored response adds to its request. */
export interface StoredOutput {
  /** The response that it continues. */
  readonly previous: string | undefined;
  readonly output: readonly JsonValue[];
  /** Size of its items, including those of its request if they were read. */
  readonly bytes: number;
}

/** A response that was made here, with the request that it answers. */
export interface StoredResponse extends StoredOutput {
  /** Items of its own request, as the client sent them. */
  readonly input: readonly JsonValue[];
  /** Returns the response as the client got it. */
  response(): JsonObject;
}

/** The stored form of an answer. */
export interface MadeResponse {
  readonly input: readonly JsonValue[];
  readonly response: JsonObject;
}

/** Stores responses of conversions, whose upstreams store nothing. Finds only a user's own. */
export interface ResponseStore {
  /** False while storing is off, and for requests that are too long. */
  takes(body: Body): boolean;
  /** Not awaited; a response that cannot be stored is lost. */
  keep(made: MadeResponse, userId: number): void;
  /** This and the following methods reject with `responses_unavailable` while the store is unavailable. */
  find(id: string, userId: number): Promise<StoredResponse | undefined>;
  output(id: string, userId: number): Promise<StoredOutput | undefined>;
  forget(id: string, userId: number): Promise<void>;
}

export interface ResponseStoreDeps {
  /**
   * Two stores, because some clients send the whole conversation with every request, which must not push out the
   * outputs that they name by id.
   */
  readonly outputs: TtlStore<Entry>;
  readonly requests: TtlStore<Entry>;
  readonly vault: Pick<Vault, "hashKey">;
  readonly options: () => Pick<OptionValues, "KeptResponsesHours" | "KeptResponsesMegabytes">;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const HOUR_MS = 3_600_000;
const MEGABYTE = 1024 * 1024;
/** A longer request would push out too many others. */
const LONGEST_REQUEST = 8 * MEGABYTE;
const RETRY_MS = 1_000;

export function createResponseStore({ outputs, requests, vault, options, now }: ResponseStoreDeps): ResponseStore {
  const buildKey = (id: string, userId: number) => vault.hashKey(JSON.stringify(["stored-response 1", userId, id]));
  const read = async (entries: TtlStore<Entry>, id: string, userId: number): Promise<Buffer | undefined> => {
    const { keepMs } = calculateBound(options());
    if (keepMs === 0 || !isOwnResponse(id)) return undefined;
    const entry = await reachable(() => entries.find(buildKey(id, userId)));
    return entry && entry.storedAt + keepMs > now() ? entry.body : undefined;
  };
  const output = async (id: string, userId: number) => {
    const body = await read(outputs, id, userId);
    return body && outputIn(body);
  };
  return {
    takes({ bytes }) {
      const { keepMs, maxBytes } = calculateBound(options());
      return keepMs > 0 && bytes.length <= Math.min(LONGEST_REQUEST, maxBytes / 4);
    },
    keep({ input, response }, userId) {
      const { output: items, ...shown } = response;
      const key = buildKey(text(response, "id") ?? "", userId);
      const bound = calculateBound(options());
      const storedAt = now();
      const said = JSON.stringify({ previous: shown["previous_response_id"], output: items });
      outputs.keep(key, { body: Buffer.from(said), storedAt }, bound);
      const asked = `${JSON.stringify({ input })}\n${JSON.stringify(shown)}`;
      requests.keep(key, { body: Buffer.from(asked), storedAt }, bound);
    },
    output,
    async find(id, userId) {
      const [said, asked] = await Promise.all([output(id, userId), read(requests, id, userId)]);
      if (!said || !asked) return undefined;
      const end = asked.indexOf("\n");
      const input = list(parseObject(asked.toString("utf8", 0, end)), "input");
      const response = () => ({ ...parseObject(asked.toString("utf8", end)), output: [...said.output] });
      return { ...said, bytes: said.bytes + end, input, response };
    },
    async forget(id, userId) {
      const key = buildKey(id, userId);
      await reachable(() => Promise.all([outputs.forget(key), requests.forget(key)]));
    },
  };
}

/** Each of the two stores has half of the space. */
function calculateBound({
  KeptResponsesHours,
  KeptResponsesMegabytes,
}: ReturnType<ResponseStoreDeps["options"]>): Bound {
  return { keepMs: KeptResponsesHours * HOUR_MS, maxBytes: (KeptResponsesMegabytes * MEGABYTE) / 2 };
}

async function reachable<T>(ask: () => Promise<T> | T): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw new AppError("responses_unavailable", { cause, retryAfterMs: RETRY_MS });
  }
}

function outputIn(body: Buffer): StoredOutput | undefined {
  const json = parseObject(body.toString("utf8"));
  return json && { previous: text(json, "previous"), output: list(json, "output"), bytes: body.length };
}

import type { Recorded } from "../recorded.ts";
import type { ScriptedAnswer } from "../scripted-answer.ts";

/** How an item of a batch ends. */
export type ItemEnd = "succeeded" | "errored" | "canceled" | "expired";

/** What is wrong with the results of a batch. */
export interface ResultFaults {
  /** Only this many lines are sent, then the connection ends as if all were. */
  readonly linesSent?: number;
  /** Ids whose line is sent twice. */
  readonly duplicates?: readonly string[];
  /** Further lines of ids that the batch does not have. */
  readonly unknownIds?: readonly string[];
  readonly hasUnreadableLine?: boolean;
  /** Reads of the results that fail first. */
  readonly missingReads?: number;
  /** The next reads after those send half of the results, and then nothing. */
  readonly stalledReads?: number;
  /** Reads of the batch itself that get no answer first. */
  readonly hangingPolls?: number;
}

export interface FakeBatch {
  readonly id: string;
  readonly customIds: readonly string[];
  readonly createdAt: string;
  ends: ReadonlyMap<string, ItemEnd>;
  status: "in_progress" | "canceling" | "ended";
  faults: ResultFaults;
  resultReads: number;
  polls: number;
}

type Silence = "lost" | "hanging";

/** The batch APIs of the fake upstream. */
export interface BatchServer {
  readonly batches: ReadonlyMap<string, FakeBatch>;
  /** Ends a batch; items that are not named succeed. */
  end(id: string, ends?: Readonly<Record<string, ItemEnd>>, faults?: ResultFaults): void;
  /** Answers the next calls that are not creations with this status. */
  failNext(status: number, times?: number): void;
  /** The next creation is carried out, but its connection ends without an answer. */
  loseNextAnswer(): void;
  /** The next creation is carried out, but its answer never comes. */
  holdNextAnswer(): void;
  /** Undefined for a path that is no batch API; `lost` = the connection ends, `hanging` = it stays open. */
  answer(request: Recorded): ScriptedAnswer | Silence | undefined;
  reset(): void;
}

const ROUTE = /\/messages\/batches(?:\/([^/]+)(\/cancel|\/results)?)?$/;
const USAGE = { input_tokens: 100, output_tokens: 50, service_tier: "batch" };

export function createBatchServer(): BatchServer {
  const batches = new Map<string, FakeBatch>();
  let failing = { status: 0, times: 0 };
  let next: Silence | undefined;
  let serial = 0;

  const create = (request: Recorded): ScriptedAnswer | Silence => {
    const requests = (request.json?.["requests"] ?? []) as readonly { custom_id: string }[];
    serial += 1;
    const batch: FakeBatch = {
      id: `msgbatch_UP${serial}`,
      customIds: requests.map(({ custom_id: id }) => id),
      createdAt: new Date().toISOString(),
      ends: new Map(),
      status: "in_progress",
      faults: {},
      resultReads: 0,
      polls: 0,
    };
    batches.set(batch.id, batch);
    const silence = next;
    next = undefined;
    return silence ?? { body: show(batch) };
  };

  const act = (request: Recorded, batch: FakeBatch, rest: string): ScriptedAnswer | Silence => {
    if (rest === "" && request.method === "GET" && ++batch.polls <= (batch.faults.hangingPolls ?? 0)) return "hanging";
    if (rest === "/results") return readResults(batch);
    if (rest === "/cancel" && batch.status === "in_progress") batch.status = "canceling";
    if (request.method !== "DELETE") return { body: show(batch) };
    batches.delete(batch.id);
    return { body: { id: batch.id, type: "message_batch_deleted" } };
  };

  return {
    batches,
    end(id, ends = {}, faults = {}) {
      const batch = batches.get(id);
      if (!batch) throw new Error(`the fake upstream has no batch ${id}`);
      batch.ends = new Map(Object.entries(ends));
      batch.faults = faults;
      batch.polls = 0;
      batch.status = "ended";
    },
    failNext(status, times = 1) {
      failing = { status, times };
    },
    loseNextAnswer() {
      next = "lost";
    },
    holdNextAnswer() {
      next = "hanging";
    },
    answer(request) {
      const found = ROUTE.exec(request.path);
      if (!found) return undefined;
      const [, id, rest = ""] = found;
      if (id === undefined && request.method === "POST") return create(request);
      if (failing.times > 0) {
        failing.times -= 1;
        return refuse(failing.status);
      }
      if (id === undefined) return { body: { data: [...batches.values()].map(show), has_more: false } };
      const batch = batches.get(id);
      return batch ? act(request, batch, rest) : refuse(404);
    },
    reset() {
      batches.clear();
      failing = { status: 0, times: 0 };
      next = undefined;
    },
  };
}

function refuse(status: number): ScriptedAnswer {
  const error = {
    type: status === 404 ? "not_found_error" : "api_error",
    message: `The fake upstream answers ${status}.`,
  };
  return { status, body: { type: "error", error } };
}

function show(batch: FakeBatch): Record<string, unknown> {
  const isEnded = batch.status === "ended";
  const count = (end: ItemEnd) => (isEnded ? batch.customIds.filter((id) => findEnd(batch, id) === end).length : 0);
  return {
    id: batch.id,
    type: "message_batch",
    processing_status: batch.status,
    request_counts: {
      processing: isEnded ? 0 : batch.customIds.length,
      succeeded: count("succeeded"),
      errored: count("errored"),
      canceled: count("canceled"),
      expired: count("expired"),
    },
    created_at: batch.createdAt,
    expires_at: new Date(Date.parse(batch.createdAt) + 86_400_000).toISOString(),
    ended_at: isEnded ? new Date().toISOString() : null,
    archived_at: null,
    cancel_initiated_at: batch.status === "canceling" ? batch.createdAt : null,
    results_url: isEnded ? `https://upstream.invalid/v1/messages/batches/${batch.id}/results` : null,
  };
}

function findEnd(batch: FakeBatch, customId: string): ItemEnd {
  return batch.ends.get(customId) ?? "succeeded";
}

function readResults(batch: FakeBatch): ScriptedAnswer {
  batch.resultReads += 1;
  const { duplicates = [], unknownIds = [], hasUnreadableLine = false, missingReads = 0, linesSent } = batch.faults;
  const { stalledReads = 0 } = batch.faults;
  if (batch.status !== "ended" || batch.resultReads <= missingReads) return refuse(404);
  const lines = [
    // Results come in any order.
    ...[...batch.customIds].toReversed().map((id) => buildLine(id, findEnd(batch, id))),
    ...duplicates.map((id) => buildLine(id, findEnd(batch, id))),
    ...unknownIds.map((id) => buildLine(id, "succeeded")),
    ...(hasUnreadableLine ? ['{"custom_id":"'] : []),
  ];
  const body = lines
    .slice(0, linesSent)
    .map((line) => `${line}\n`)
    .join("");
  const isStalled = batch.resultReads <= missingReads + stalledReads;
  const headers = { "content-type": "application/x-jsonl" };
  return { headers, body, ...(isStalled && { stallsAfter: Math.floor(body.length / 2) }) };
}

function buildLine(customId: string, end: ItemEnd): string {
  return JSON.stringify({ custom_id: customId, result: buildResult(customId, end) });
}

function buildResult(customId: string, end: ItemEnd): Record<string, unknown> {
  switch (end) {
    case "succeeded":
      return {
        type: end,
        message: {
          id: `msg_${customId}`,
          type: "message",
          role: "assistant",
          model: "fake",
          content: [{ type: "text", text: `The answer to ${customId}.` }],
          stop_reason: "end_turn",
          stop_sequence: null,
          usage: USAGE,
        },
      };
    case "errored":
      return { type: end, error: { type: "error", error: { type: "invalid_request_error", message: "bad" } } };
    default:
      return { type: end };
  }
}

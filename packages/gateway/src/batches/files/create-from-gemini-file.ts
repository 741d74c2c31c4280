import { Readable } from "node:stream";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { object as readObject, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { seconds } from "../../lib/clock.ts";
import type { StoredObject } from "../../objects/stored-object.ts";
import type { CallTags } from "../../relay/request/request.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import type { OpenAccount } from "../accounts.ts";
import type { BatchTarget } from "../choose-channel.ts";
import { takeDeposit } from "../deposit.ts";
import { requireFileRoom } from "../channel-room.ts";
import { estimateBatch, isCapMissing, sumPrompts, type BatchEstimate } from "../estimate-batch.ts";
import { insertOnce } from "../idempotency.ts";
import type { InlineBody } from "../inline/inline-body.ts";
import { buildNewRow } from "../new-row.ts";
import { createMark } from "../protocols/gemini.ts";
import type { InlineProtocol } from "../protocols/protocol.ts";
import { submitBatch } from "../submit.ts";
import type { BatchCall, BatchDeps, BatchRow } from "../types.ts";
import { findInput, readInputLines, requireFileAccount, requireServed, type InputFile } from "./input-file.ts";
import { LineFault, type LineErrors } from "./line-errors.ts";
import { createGeminiForm } from "./line-forms.ts";
import type { FileLines } from "./read-lines.ts";

/** A creation of Google's protocol whose requests are in a file. */
export interface GeminiFileCreation {
  readonly call: BatchCall;
  readonly protocol: InlineProtocol;
  /** The model of the path. */
  readonly model: string;
  readonly key: string | undefined;
  readonly tags: CallTags | undefined;
  readonly body: InlineBody;
  readonly fileId: string;
}

interface Opened extends GeminiFileCreation {
  readonly file: InputFile;
  readonly object: StoredObject;
  readonly account: OpenAccount;
  readonly target: BatchTarget;
}

/** The code of an argument that is not valid, as operations name it. */
const INVALID_ARGUMENT = 3;

/** Creates a batch from a file that the upstream stores. Faults of lines become an operation that has failed. */
export async function createFromGeminiFile(creation: GeminiFileCreation, deps: BatchDeps): Promise<BatchRow> {
  const { call, model, fileId, protocol } = creation;
  const file = { id: fileId, protocol: protocol.id, param: "batch.inputConfig.fileName" };
  const object = await findInput(file, call, deps);
  const account = requireFileAccount(object, file, deps);
  const target = requireServed(file, { model, channel: account.channel }, call, deps);
  const opened = { ...creation, file, object, account, target };
  const form = createGeminiForm(model, mapModel(account.channel.modelMapping, model) !== model);
  const rules = { operation: protocol.operation, dialect: protocol.itemDialect, form };
  const lines = await readInputLines(opened, rules, call, deps);
  return lines.errors.isEmpty ? createFromLines(opened, lines, deps) : refuseLines(opened, lines.errors, deps);
}

async function createFromLines(opened: Opened, { specs, customIds, errors }: FileLines, deps: BatchDeps) {
  const { call, protocol, model, account, target } = opened;
  const estimate = estimateBatch(
    { models: new Map([[model, { first: 0, specs, spans: [] }]]), operation: protocol.operation },
    {
      group: target.group,
      caller: call.caller,
      rename: (name) => mapModel(account.channel.modelMapping, name),
      place: (item) => protocol.placeModel(item),
    },
    deps,
  );
  if (isCapMissing(estimate, call.caller, deps)) {
    const cap = "generationConfig.maxOutputTokens";
    errors.add(new LineFault("missing_required_parameter", `Every request needs ${cap} here.`, cap), null);
    return refuseLines(opened, errors, deps);
  }
  await requireFileRoom(account.channel, sumPrompts(specs), deps);
  const row = buildRow(opened, { estimate, total: specs.length }, deps);
  const repeated = await insertOnce(row, customIds, deps);
  if (repeated) return repeated;
  await takeDeposit({ row, call, target, model: listedName(model) }, deps);
  const body = buildUpstreamBody(opened, row);
  return submitBatch({ row, account, protocol, body, headers: call.request.headers }, deps);
}

function buildRow(
  opened: Opened,
  { estimate, total }: { readonly estimate: BatchEstimate; readonly total: number },
  deps: BatchDeps,
): BatchRow {
  return {
    ...startRow(opened, deps),
    models: JSON.stringify(estimate.models),
    total,
    deposit: estimate.amount,
    terms: JSON.stringify(estimate.terms),
  };
}

function startRow({ call, protocol, account, target, object, key, tags, body }: Opened, deps: BatchDeps): BatchRow {
  return {
    ...buildNewRow({ call, protocol, account, group: target.group, endpoint: protocol.endpoint, tags }, deps),
    input_file_id: object.id,
    metadata: JSON.stringify({ input: object.upstreamId }),
    idempotency_key: key ?? null,
    body_hash: body.hash,
  };
}

/** Stores the operation that has failed, so that the client finds it again. Nothing was sent, no money was moved. */
async function refuseLines(opened: Opened, errors: LineErrors, deps: BatchDeps): Promise<BatchRow> {
  const now = seconds(deps.clock);
  const time = new Date(now * 1_000).toISOString().replace(".000Z", "Z");
  const metadata = {
    "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
    model: opened.protocol.writeModel(opened.model),
    displayName: readDisplayName(opened),
    createTime: time,
    updateTime: time,
    endTime: time,
    state: "BATCH_STATE_FAILED",
  };
  const row: BatchRow = {
    ...startRow(opened, deps),
    phase: "refused",
    error: "line_errors",
    wire: JSON.stringify({ metadata, done: true, error: { code: INVALID_ARGUMENT, message: errors.describe() } }),
    ended_at: now,
  };
  return (await insertOnce(row, undefined, deps)) ?? row;
}

function readDisplayName({ body: { frame } }: GeminiFileCreation): string {
  const batch = readObject(frame, "batch");
  return text(batch, "displayName") ?? text(batch, "display_name") ?? "";
}

/** Names the file and the batch as the upstream knows them; the name of the batch ends with a mark. */
function buildUpstreamBody(opened: Opened, row: BatchRow) {
  const { body, object, protocol, account, model } = opened;
  const { display_name: _name, input_config: _config, ...batch } = readObject(body.frame, "batch") ?? {};
  const named = batch["model"] !== undefined && {
    model: protocol.writeModel(mapModel(account.channel.modelMapping, model)),
  };
  const sent: JsonObject = {
    ...body.frame,
    batch: {
      ...batch,
      ...named,
      displayName: `${readDisplayName(opened)} ${createMark(row.id)}`.trimStart(),
      inputConfig: { fileName: `files/${object.upstreamId}` },
    },
  };
  const bytes = Buffer.from(JSON.stringify(sent));
  return { size: bytes.length, open: () => Readable.from([bytes]) };
}

import * as z from "zod/mini";
import { batchGet, type Batch, type Client } from "@fairway/wire";
import { setTimeout } from "node:timers/promises";
import { CliError, EXIT, Said } from "../../core/exit.ts";
import { jsonIn } from "../../core/json.ts";
import { plain } from "../../print/columns.ts";
import { printDone, type Output, type Shape } from "../../print/output.ts";
import { bearer, toCliError } from "../../session/relay.ts";
import { createProgress, formatBar } from "../../terminal/progress.ts";
import { findContent } from "../file/file.ts";
import { download, formatBytes, uploadFile, type Caller } from "../file/transfer.ts";
import { BATCHES, countDone, formatState } from "./batch.ts";

const Created = z.object({
  id: z.string(),
  status: z.string(),
  input_file_id: z.string(),
  errors: z.optional(
    z.nullable(
      z.object({ data: z.array(z.object({ code: z.string(), line: z.nullable(z.int()), message: z.string() })) }),
    ),
  ),
});
type Created = z.output<typeof Created>;

const CREATED: Shape<Created> = {
  kind: "CreatedBatch",
  columns: [plain("ID", "id"), plain("STATUS", "status"), plain("INPUT", "input_file_id")],
  name: ({ id }) => `batch/${id}`,
};

export interface CreateOptions {
  readonly endpoint: string;
  readonly model?: string;
}

/** Uploads a file of requests and creates a batch of them. */
export async function createBatch(caller: Caller, path: string, options: CreateOptions, output: Output): Promise<void> {
  const { session, key } = caller;
  const file = await uploadFile(caller, { path, purpose: "batch", model: options.model });
  const body = JSON.stringify({ input_file_id: file.id, endpoint: options.endpoint, completion_window: "24h" });
  const headers = { ...bearer(key), "content-type": "application/json" };
  const sent = { method: "POST", headers, body };
  const answer = await session.transport.ask(`${session.profile.server}/v1/batches`, sent);
  const text = await answer.text();
  if (answer.status >= 300) throw toCliError(text, answer);
  const batch = z.parse(Created, jsonIn(text));
  const faults = batch.errors?.data ?? [];
  for (const { line, code, message } of faults)
    output.note(`${line === null ? "the file" : `line ${line}`}: ${code}: ${message}`);
  if (batch.status === "failed") throw new CliError(`the batch ${batch.id} was refused for its lines`, EXIT.usage);
  const sentence = `Created batch ${batch.id} of ${file.id}. Follow it: fairway batch watch ${batch.id}`;
  await printDone(output, batch, sentence, CREATED);
}

/** Scripts read from the exit code whether the batch completed; the number is that of the batch commands. */
const NOT_COMPLETED = 3;
const ENDS: readonly Batch["phase"][] = ["settled", "refused", "stuck"];

/** Follows a batch until it is booked. Exits with 3 if it did not complete. */
export async function watchBatch(
  client: Client,
  id: string,
  { interval }: { readonly interval: number },
  output: Output,
): Promise<void> {
  const progress = createProgress();
  let before = "";
  try {
    for (;;) {
      const { data } = await client.call(batchGet, { params: { id } });
      const state = `${id} ${formatState(data)}, ${countDone(data)} of ${data.total} requests`;
      if (ENDS.includes(data.phase)) {
        progress.end();
        return await tellEnd(data, state, output);
      }
      if (process.stderr.isTTY) progress.show(`${state} ${formatBar(countDone(data), data.total)}`);
      else if (state !== before) output.note(state);
      before = state;
      await setTimeout(interval * 1000);
    }
  } finally {
    progress.end();
  }
}

async function tellEnd(batch: Batch, state: string, output: Output): Promise<void> {
  await printDone(output, batch, `${state}.`, BATCHES);
  if (batch.phase === "stuck")
    throw new CliError(
      `batch ${batch.id} is stuck: ${batch.error}`,
      EXIT.failure,
      "an administrator settles or abandons it",
    );
  if (batch.outcome !== "completed") throw new Said(NOT_COMPLETED);
}

export interface ResultOptions {
  readonly errors?: boolean;
  readonly outputFile?: string;
}

/** Writes the results of a batch, or the requests that failed. */
export async function printResults(caller: Caller, id: string, options: ResultOptions, output: Output): Promise<void> {
  const { data } = await caller.session.client.call(batchGet, { params: { id } });
  const bytes = await download(caller, { ...findResults(data, options, caller.key), file: options.outputFile });
  if (options.outputFile !== undefined) output.note(`Wrote ${formatBytes(bytes)} to ${options.outputFile}.`);
}

function findResults({ id, dialect, output_file_id, error_file_id }: Batch, { errors }: ResultOptions, key: string) {
  const file = errors === true ? error_file_id : output_file_id;
  if (file !== "") return findContent(file, key);
  if (dialect === "anthropic") {
    const headers = { "x-api-key": key, "anthropic-version": "2023-06-01" };
    return { path: `/v1/messages/batches/${encodeURIComponent(id)}/results`, headers };
  }
  throw new CliError(
    `batch ${id} has no file with ${errors === true ? "errors" : "answers"}`,
    EXIT.notFound,
    errors === true ? undefined : "`fairway batch watch` waits for its end; --errors prints the requests that failed",
  );
}

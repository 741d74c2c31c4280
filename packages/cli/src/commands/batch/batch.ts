import {
  batchAbandon,
  batchCancel,
  batchGet,
  batchList,
  batchListSelf,
  batchSettle,
  formatTime,
  ROLE,
  selfGet,
  type Batch,
  type BatchDetail,
  type Client,
} from "@fairway/wire";
import { money } from "../../print/sheet.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { isForPeople, printDone, printOne, type Output, type Shape } from "../../print/output.ts";
import { printPart, type Part } from "../paging.ts";

/** How batches are printed. */
export const BATCHES: Shape<Batch> = {
  kind: "Batch",
  columns: [
    plain("ID", "id"),
    { title: "STATE", field: "phase", value: formatState },
    { title: "DONE", value: formatDone },
    { title: "MODELS", field: "models", value: ({ models }) => Object.keys(models).join(",") },
    quota("DEPOSIT", "deposit"),
    quota("CHARGED", "charged"),
    quota("SAVED", "saved"),
    time("CREATED", "created_at"),
  ],
  wide: [
    number("USER", "user_id"),
    number("TOKEN", "token_id"),
    number("CHANNEL", "channel_id"),
    plain("ENDPOINT", "endpoint"),
    plain("ERROR", "error"),
    time("ENDED", "ended_at"),
    time("SETTLED", "settled_at"),
  ],
  name: ({ id }) => `batch/${id}`,
};

/** Returns the outcome of a batch that has ended, and the phase of others. */
export function formatState({ phase, outcome }: Pick<Batch, "phase" | "outcome">): string {
  if (outcome === "") return phase;
  return phase === "ended" ? `${outcome}, not booked yet` : outcome;
}

/** Returns how many requests have an end. */
export function countDone({ succeeded, failed, expired, cancelled }: Batch): number {
  return succeeded + failed + expired + cancelled;
}

function formatDone(batch: Batch): string {
  return `${countDone(batch)}/${batch.total}`;
}

export interface BatchListOptions extends Part {
  readonly mine?: boolean;
  readonly phase?: string;
  readonly model?: string;
  readonly user?: number;
  readonly token?: number;
  readonly channel?: number;
}

export async function listBatches(client: Client, options: BatchListOptions, output: Output): Promise<void> {
  const { mine = false, phase, model, user: user_id, token: token_id, channel: channel_id } = options;
  const isAll = !mine && (await client.call(selfGet, {})).data.role >= ROLE.admin;
  const empty = "No batches. Create one: fairway batch create requests.jsonl";
  const list = { ...BATCHES, toShown: (row: Batch) => row, empty };
  const query = { phase, model, user_id, token_id, channel_id };
  await printPart(output, options, list, (page) =>
    client.call(isAll ? batchList : batchListSelf, { query: { ...query, ...page } }),
  );
}

export async function getBatch(client: Client, id: string, output: Output): Promise<void> {
  const { data } = await client.call(batchGet, { params: { id } });
  if (!isForPeople(output)) return printOne(output, data, { shape: BATCHES });
  await printOne(output, data, { words: await describe(data, output) });
  for (const { line, code, message } of data.errors)
    output.out(`${line === null ? "the file" : `line ${line}`}  ${code}  ${message}`);
}

async function describe(batch: BatchDetail, output: Output): Promise<Record<string, unknown>> {
  const perUnit = await output.quotaPerUnit();
  const amount = (units: number) => money(units, 2, perUnit);
  const at = (seconds: number) => (seconds > 0 ? formatTime(seconds) : "-");
  const { succeeded, failed, expired, cancelled, total } = batch;
  const words = {
    id: batch.id,
    state: formatState(batch),
    requests: `${total}: ${succeeded} succeeded, ${failed} failed, ${expired} expired, ${cancelled} cancelled`,
    endpoint: batch.endpoint,
    deposit: amount(batch.deposit),
    charged: `${amount(batch.charged)}, ${amount(batch.saved)} saved`,
    created: at(batch.created_at),
    "ended, settled": `${at(batch.ended_at)}, ${at(batch.settled_at)}`,
    input: batch.input_file_id || "-",
    output: batch.output_file_id || "-",
    errors: batch.error_file_id || "-",
    ...(batch.error !== "" && { error: batch.error }),
  };
  const prices = batch.prices.map((price) => {
    const factors = Object.entries(price).filter(([name]) => name !== "model" && name !== "formula");
    return [price.model, `${price.formula}; ${factors.map(([name, value]) => `${name} ${value}`).join(", ")}`];
  });
  return { ...words, ...(Object.fromEntries(prices) as Record<string, string>) };
}

export async function cancelBatch(client: Client, id: string, output: Output): Promise<void> {
  const { data } = await client.call(batchCancel, { params: { id } });
  await printDone(output, data, `Asked the provider to end batch ${id}; what has finished is charged.`, BATCHES);
}

export async function settleBatch(client: Client, id: string, output: Output): Promise<void> {
  const { data } = await client.call(batchSettle, { params: { id } });
  await printDone(output, data, `The results of batch ${id} are read again within seconds.`, BATCHES);
}

export async function abandonBatch(
  client: Client,
  id: string,
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  await output.confirm(`Abandon batch ${id}: nothing is charged, and its deposit is returned`, 1, yes);
  const { data } = await client.call(batchAbandon, { params: { id } });
  await printDone(output, data, `Abandoned batch ${id} and returned its deposit.`, BATCHES);
}

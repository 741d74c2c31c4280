import {
  formatTime,
  pauseCreate,
  pauseList,
  pauseResume,
  type CallInput,
  type ChannelPause,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printDone, printList, type Output, type Shape } from "../../print/output.ts";
import { resolveChannelType } from "./channel.ts";

export interface PauseOptions {
  readonly provider?: string;
  readonly tag?: string;
  readonly group?: string;
  readonly model?: string;
  readonly for?: number;
  readonly untilTests?: boolean;
  readonly reason?: string;
}

function countHeld({ channels }: ChannelPause): string {
  return String(channels.filter(({ paused }) => paused).length);
}

function formatEnd({ until, until_tests: isTested, end, ended_at: endedAt }: ChannelPause): string {
  if (endedAt > 0) return `${formatTime(endedAt)} (${end})`;
  const at = until === 0 ? "" : formatTime(until);
  if (isTested) return at === "" ? "when tests pass" : `when tests pass, from ${at}`;
  return at === "" ? "when resumed" : at;
}

/** How pauses are printed. */
const PAUSES: Shape<ChannelPause> = {
  kind: "Pause",
  columns: [
    number("ID", "id"),
    { title: "CHANNELS", value: ({ channels }) => channels.map(({ name }) => name).join(", ") },
    { title: "PAUSED", value: countHeld, isNumber: true },
    { title: "UNTIL", value: formatEnd },
    plain("REASON", "reason"),
  ],
  wide: [plain("BY", "created_by"), time("SINCE", "created_at")],
  name: ({ id }) => `pause/${id}`,
};

function usage(): CliError {
  return new CliError(
    "which channels?",
    EXIT.usage,
    "name ids of `fairway channel list`, or --provider NAME, --tag NAME, --group NAME or --model NAME",
  );
}

/** Switches channels off together; the gateway remembers which ones. */
export async function pauseChannels(
  client: Client,
  { ids, provider, tag, group, model, ...options }: PauseOptions & { readonly ids: readonly number[] },
  output: Output,
): Promise<void> {
  const isFiltered = [provider, tag, group, model].some((one) => one !== undefined);
  if (isFiltered === ids.length > 0) throw usage();
  const filter = {
    ...(provider !== undefined && { type: [await resolveChannelType(client, provider)] }),
    ...(tag !== undefined && { tag }),
    ...(group !== undefined && { group }),
    ...(model !== undefined && { model }),
  };
  const body: CallInput<typeof pauseCreate>["body"] = {
    ...(isFiltered ? { filter } : { ids: [...ids] }),
    ...(options.for !== undefined && { for_seconds: options.for }),
    ...(options.untilTests && { until_tests: true }),
    ...(options.reason !== undefined && { reason: options.reason }),
  };
  const { data } = await client.call(pauseCreate, { body });
  const names = data.channels.map(({ name }) => name).join(", ");
  await printDone(
    output,
    data,
    `Paused ${names}, until ${formatEnd(data)}. Back with \`fairway channel resume ${data.id}\`.`,
    PAUSES,
  );
}

export async function listPauses(client: Client, output: Output): Promise<void> {
  const { data } = await client.call(pauseList, {});
  await printList(output, { ...PAUSES, rows: data, empty: "No channel was paused." });
}

/** Switches the channels of a pause on again; without an id, those of the only one that lasts. */
export async function resumeChannels(client: Client, id: number | undefined, output: Output): Promise<void> {
  const wanted = id ?? (await findOnlyPause(client));
  const { data } = await client.call(pauseResume, { params: { id: wanted } });
  const names = data.channels.map(({ name }) => name).join(", ");
  await printDone(output, data, `Pause ${data.id} has ended: ${names}.`, PAUSES);
}

async function findOnlyPause(client: Client): Promise<number> {
  const { data } = await client.call(pauseList, {});
  const running = data.filter(({ ended_at: endedAt }) => endedAt === 0);
  const [only] = running;
  if (only && running.length === 1) return only.id;
  if (!only) throw new CliError("no pause lasts", EXIT.notFound, "see `fairway channel pauses`");
  const found = running.map((one) => `${one.id} (${one.channels.length} channels)`).join(", ");
  throw new CliError(`several pauses last: ${found}`, EXIT.usage, "name one of them");
}

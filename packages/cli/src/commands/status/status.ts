import { formatTime, LOG_TYPE, logList, systemReplicas, type Client, type LogRow, type Replica } from "@fairway/wire";
import type { Io } from "../../core/io.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { unlessMissing } from "../../core/problem.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";
import { loadOverview, rateText, type Overview } from "./overview.ts";

export interface StatusOptions {
  readonly watch?: boolean;
  readonly interval: number;
}

/** Prints the state once, or draws a screen that follows it. */
export async function showStatus(
  { client, profile }: Session,
  options: StatusOptions,
  output: Output,
  { isTerminal }: Io,
): Promise<void> {
  if (options.watch) {
    if (!isForPeople(output))
      throw new CliError(`a screen has no -o ${output.format}`, EXIT.usage, "leave out --watch for one sample");
    if (!isTerminal)
      throw new CliError("--watch needs a terminal", EXIT.usage, "use `fairway status -o json` in scripts");
    return (await import("./status-screen.tsx")).showStatus({
      client,
      server: profile.server,
      intervalMs: options.interval * 1000,
    });
  }
  const overview = await loadOverview(client, profile.server, new AbortController().signal);
  const { channels } = overview;
  // Users see neither channels nor these details.
  const inside = channels ? await loadAdminDetails(client) : {};
  const words = {
    server: `${overview.server} (${overview.name} ${overview.version}, since ${formatTime(overview.startedAt)})`,
    user: `${overview.user}, balance ${overview.balance}`,
    "last minute": rateText(overview),
    ...(channels
      ? {
          channels: `${channels.enabled} enabled, ${channels.disabled} disabled, ${channels.autoDisabled} auto-disabled`,
        }
      : {}),
    ...insideWords(inside),
  };
  await printOne(output, { ...buildStatusFacts(overview), ...inside }, { words });
}

/** Returns raw numbers, and names as in the API, for programs. */
function buildStatusFacts({
  server,
  name,
  version,
  startedAt,
  user,
  role,
  quota,
  rpm,
  tpm,
  channels,
}: Overview): object {
  return {
    server,
    name,
    version,
    started_at: startedAt,
    user,
    role,
    quota,
    rpm,
    tpm,
    ...(channels && {
      channels: { enabled: channels.enabled, disabled: channels.disabled, auto_disabled: channels.autoDisabled },
    }),
  };
}

type Failure = Pick<LogRow, "created_at" | "model_name" | "channel_name" | "request_id" | "content">;

interface Inside {
  /** Absent if a compatible gateway does not report them. */
  readonly replicas?: readonly Replica[];
  readonly latest_errors?: readonly Failure[];
}

const LATEST = 3;

async function loadAdminDetails(client: Client): Promise<Inside> {
  const [replicas, { data: log }] = await Promise.all([
    unlessMissing(client.call(systemReplicas, {})),
    client.call(logList, { query: { type: LOG_TYPE.error, page_size: LATEST } }),
  ]);
  // A compatible gateway may list rows of every type.
  const failed = log.items.filter(({ type }) => type === LOG_TYPE.error).slice(0, LATEST);
  const latest_errors = failed.map((row): Failure => {
    const { created_at, model_name, channel_name, request_id, content } = row;
    return { created_at, model_name, channel_name, request_id, content };
  });
  return { ...(replicas && { replicas: replicas.data }), latest_errors };
}

function insideWords({ replicas, latest_errors: errors = [] }: Inside): Record<string, string> {
  const failures = errors.map(({ created_at: at, model_name: model, channel_name: channel, content }) => [
    `failed ${formatTime(at)}`,
    `${model} by ${channel || "no channel"}: ${content.split("\n", 1)[0] ?? ""}`,
  ]);
  return { ...(replicas && { replicas: replicasText(replicas) }), ...(Object.fromEntries(failures) as object) };
}

function replicasText(replicas: readonly Replica[]): string {
  const leader = replicas.find(({ is_leader: leads, is_lost: lost }) => leads && !lost)?.instance;
  const lost = replicas.filter(({ is_lost: gone }) => gone).length;
  const parts = [String(replicas.length - lost), leader === undefined ? "without a leader" : `led by ${leader}`];
  return [...parts, ...(lost > 0 ? [`${lost} lost`] : [])].join(", ");
}

// Every client protocol with every kind of upstream, feature by feature, through one gateway process.
import { afterAll, beforeAll, expect, test } from "vitest";
import { CASES, type Case, type Cell } from "../grid/cases.ts";
import { anthropicMessages } from "../grid/clients/anthropic.ts";
import { geminiGenerate } from "../grid/clients/gemini.ts";
import { openaiChat } from "../grid/clients/openai-chat.ts";
import { openaiResponses } from "../grid/clients/openai-responses.ts";
import { printGrid, type Verdict } from "../grid/report.ts";
import { runCell, type Gate } from "../grid/run.ts";
import { UPSTREAMS } from "../grid/upstreams.ts";
import {
  createToken,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  UPSTREAM_KEY,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "../src/index.ts";

const CLIENTS = [openaiChat, openaiResponses, anthropicMessages, geminiGenerate];
const verdicts: Verdict[] = [];

let upstream: Upstream;
let gateway: GatewayProcess;
let gate: Gate;

beforeAll(async () => {
  [upstream, gateway] = await Promise.all([startUpstream(), startGateway()]);
  const root = await signIn(gateway.url);
  await setOptions(root, { SelfUseModeEnabled: "true" });
  await openChannels(root);
  gate = { url: gateway.url, key: await createToken(root), requests: () => upstream.requests };
});
afterAll(async () => {
  process.stdout.write(`\n${printGrid(verdicts)}`);
  await gateway?.stop();
  await upstream?.stop();
});

/**
 * Creates one channel per kind of upstream, and one for every cell whose upstream fails, because faults rest a channel.
 */
async function openChannels(root: Session): Promise<void> {
  for (const kind of UPSTREAMS) {
    const sound = CASES.filter((row) => !row.isFault).map((row) => `${kind.model}+${row.words}`);
    await openChannel(root, kind.name, kind.type, [...new Set(sound)]);
  }
  for (const row of CASES.filter(({ isFault }) => isFault))
    for (const cell of buildCells(row)) {
      const model = buildModelName(row, cell);
      await openChannel(root, model, cell.upstream.type, [model]);
    }
}

async function openChannel(root: Session, name: string, type: number, models: readonly string[]): Promise<void> {
  const shared = { key: UPSTREAM_KEY, group: "default", base_url: upstream.url, auto_ban: 0 };
  await root.must("POST", "/api/channel/", { ...shared, name, type, models: models.join(",") });
}

function buildCells(row: Case): Cell[] {
  return [false, true].flatMap((isStream) =>
    CLIENTS.flatMap((client) =>
      UPSTREAMS.map((kind) => {
        const marker = `cell ${row.name} ${client.name} ${kind.name} ${isStream ? "stream" : "plain"};`;
        return { client, upstream: kind, isStream, marker };
      }),
    ),
  );
}

/** The fake upstream ignores unknown words, so cells with faults can have names of their own. */
function buildModelName(row: Case, { client, upstream: kind, isStream }: Cell): string {
  const own = row.isFault ? `+${client.name}-${isStream ? "stream" : "plain"}` : "";
  return `${kind.model}+${row.words}${own}`;
}

test.each(CASES)("$name", async (row) => {
  const done = await Promise.all(buildCells(row).map((cell) => judged(row, cell)));
  verdicts.push(...done);
  const failed = done.filter(({ problems }) => problems.length > 0);
  const lines = failed.map(({ cell, problems }) => `${cell.marker} ${problems.join("; ")}`);
  expect(lines).toEqual([]);
});

async function judged(row: Case, cell: Cell): Promise<Verdict> {
  const reason = row.impossible?.(cell);
  if (reason !== undefined) return { row: row.name, cell, problems: [], reason, partly: undefined };
  return { row: row.name, cell, reason, ...(await runCell(gate, row, cell, buildModelName(row, cell))) };
}

// Checks every converted answer, whole and event by event, against the types of the official clients.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Documents } from "../grid/answer-types.ts";
import { anthropicMessages } from "../grid/clients/anthropic.ts";
import { openaiChat } from "../grid/clients/openai-chat.ts";
import { openaiResponses } from "../grid/clients/openai-responses.ts";
import type { GridRequest, Client } from "../grid/types.ts";
import { UPSTREAMS } from "../grid/upstreams.ts";
import {
  createChannel,
  createToken,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";

const CLIENTS = [openaiChat, openaiResponses, anthropicMessages];
const WORDS = ["plain", "spoken+two-tools", "reasoning+tools", "refusal", "filtered", "length", "cached-8", "no-usage"];
/** The others use the protocol of one of these clients. */
const CONVERTED = [
  ["chat", "anthropic"],
  ["chat", "gemini"],
  ["responses", "compatible"],
  ["responses", "anthropic"],
  ["responses", "gemini"],
  ["messages", "openai"],
  ["messages", "compatible"],
  ["messages", "gemini"],
] as const;
const ASKED: GridRequest = { turns: [{ role: "user", text: "What is the weather in Paris?" }], hasTools: true };
const TSC = join(import.meta.dirname, "../../../node_modules/typescript/bin/tsc");
const TYPES = join(import.meta.dirname, "../grid/answer-types.ts");
const FLAGS =
  "--ignoreConfig --noEmit --strict --skipLibCheck --target esnext --module nodenext --allowImportingTsExtensions";

let upstream: Upstream;
let gateway: GatewayProcess;
let key: string;
let folder: string;

beforeAll(async () => {
  [upstream, gateway, folder] = await Promise.all([
    startUpstream(),
    startGateway(),
    mkdtemp(join(tmpdir(), "fairway-answers-")),
  ]);
  const root = await signIn(gateway.url);
  await setOptions(root, { SelfUseModeEnabled: "true" });
  for (const { name, type, model } of UPSTREAMS) {
    const models = WORDS.map((words) => `${model}+${words}`).join(",");
    await createChannel(root, { name, type, base_url: upstream.url, models, auto_ban: 0 });
  }
  key = await createToken(root);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each(CONVERTED)("%s clients on an upstream that speaks %s", async (clientName, upstreamName) => {
  const client = CLIENTS.find(({ name }) => name === clientName) as Client;
  const model = UPSTREAMS.find(({ name }) => name === upstreamName)?.model ?? "";
  const cells = WORDS.flatMap((words) => [false, true].map((isStream) => ({ words, isStream })));
  const lines = await Promise.all(
    cells.map(async ({ words, isStream }) => {
      const documents = await fetchDocuments(client, `${model}+${words}`, isStream);
      const kind = `${clientName} ${isStream ? "stream" : "plain"}` as const;
      return documents.map((json) => buildCheck(kind, json));
    }),
  );
  const file = join(folder, `${clientName}-${upstreamName}.ts`);
  const head = `import type { Documents, Mutable } from ${JSON.stringify(TYPES)};\n`;
  await writeFile(file, head + lines.flat().join("\n"));
  expect(lines.flat().length).toBeGreaterThan(60);
  expect(await complaintsAbout(file)).toBe("");
});

/** Returns the JSON documents of an answer: one, or one for each event. */
async function fetchDocuments(client: Client, model: string, isStream: boolean): Promise<string[]> {
  const { path, body } = client.request(ASKED, model, isStream);
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  const text = await response.text();
  const data = text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice("data: ".length)] : []));
  return isStream ? data : [text];
}

function buildCheck(kind: keyof Documents, json: string): string {
  return `{ const it = ${json} as const; const read: Documents[${JSON.stringify(kind)}] = it as Mutable<typeof it>; }`;
}

async function complaintsAbout(file: string): Promise<string> {
  const args = [TSC, ...FLAGS.split(" "), file];
  return promisify(execFile)(process.execPath, args).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

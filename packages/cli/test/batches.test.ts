// Files are stored and batches are run to their end in the terminal.
import { channelCreate, channelDelete, channelList, tokenCreate, type Client } from "@fairway/wire";
import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { UPSTREAM_KEY } from "@fairway/testkit";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";

const MODEL = "gpt-5.6";
const WAIT = { timeout: 45_000, interval: 500 };

let rig: Rig;
let requests: string;

beforeAll(async () => {
  rig = await startRig();
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  await addChannel(rig.client);
  requests = join(rig.home, "requests.jsonl");
  await writeFile(requests, ["a", "b"].map(formatLine).join(""));
}, 60_000);
afterAll(() => rig?.stop());

async function addChannel(client: Client): Promise<number> {
  const body = {
    name: "openai",
    type: 1,
    key: UPSTREAM_KEY,
    models: MODEL,
    group: "default",
    base_url: rig.upstream.url,
  };
  await client.call(channelCreate, { body });
  return (await client.call(channelList, {})).data[0]?.id ?? 0;
}

function formatLine(customId: string): string {
  const body = { model: MODEL, max_completion_tokens: 100, messages: [{ role: "user", content: "x" }] };
  return `${JSON.stringify({ custom_id: customId, method: "POST", url: "/v1/chat/completions", body })}\n`;
}

/** Creates a batch; returns its id and the upstream's. */
async function create(): Promise<{ readonly id: string; readonly upstreamId: string }> {
  const made = await rig.fairway(`batch create ${requests} --key ci -o name`);
  expect(made, made.err).toMatchObject({ code: 0, out: expect.stringMatching(/^batch\/batch_\w{34}\n$/) as string });
  expect(made.err).toContain("Follow it: fairway batch watch batch_");
  return { id: made.out.trim(), upstreamId: [...rig.upstream.fileBatches.batches.keys()].at(-1) ?? "" };
}

test("a file is uploaded, listed, read back and deleted", async () => {
  const path = join(rig.home, "report.bin");
  const bytes = randomBytes(3_000_000);
  await writeFile(path, bytes);
  const stored = await rig.fairway(`file upload ${path} --key ci`);
  expect(stored.code, stored.err).toBe(0);
  const [, id = ""] = /as (file-\w{34}), 2\.9 MiB\.$/m.exec(stored.err) ?? [];
  const listed = await rig.fairway("file list --mine -o jsonl");
  expect(parseRows(listed)).toMatchObject([{ id, name: "report.bin", purpose: "user_data", bytes: 3_000_000 }]);
  expect(listed.err).toContain("You store 1 of 10000 files, 2.9 MiB of 10.0 GiB.");
  const copy = join(rig.home, "copy.bin");
  const read = await rig.fairway(`file download file/${id} --key ci --output-file ${copy}`);
  expect(read.code, read.err).toBe(0);
  expect((await readFile(copy)).equals(bytes)).toBe(true);
  expect((await stat(copy)).mode & 0o777).toBe(0o600);
  const again = await rig.fairway(`file download ${id} --key ci --output-file ${copy}`);
  expect(again).toMatchObject({ code: 5, err: expect.stringContaining("exists already") as string });
  expect((await rig.fairway(`file delete ${id}`)).code).toBe(2);
  expect((await rig.fairway(`file delete ${id} --yes`)).out).toBe(`ok    file ${id}  deleted\n`);
  expect((await rig.fairway(`file download ${id} --key ci`)).code).toBe(3);
});

test("a batch is created, watched to its end, and its answers are printed", async () => {
  const { id, upstreamId } = await create();
  rig.upstream.fileBatches.end(upstreamId, { failed: ["b"] });
  const watched = await rig.fairway(`batch watch ${id} --interval 1 -o json`);
  expect(watched.code, watched.err).toBe(0);
  expect(parseJsonOutput(watched)).toMatchObject({ phase: "settled", outcome: "completed", succeeded: 1, failed: 1 });
  expect(watched.err).toMatch(/completed, 2 of 2 requests\.$/m);
  const answers = await rig.fairway(`batch results ${id} --key ci`);
  expect(
    answers.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([{ custom_id: "a" }]);
  const faults = await rig.fairway(`batch results ${id} --errors --key ci`);
  expect(faults.out).toContain('"custom_id":"b"');
  const shown = await rig.fairway(`batch get ${id}`);
  expect(shown.out).toMatch(/^requests +2: 1 succeeded, 1 failed, 0 expired, 0 cancelled$/m);
  expect(shown.out).toMatch(/^gpt-5\.6 +.*input_ratio 0\.5/m);
  expect(parseRows(await rig.fairway(`batch list --model ${MODEL} --token ci -o jsonl`))).toHaveLength(1);
  expect(parseRows(await rig.fairway("batch list --phase open -o jsonl"))).toEqual([]);
}, 120_000);

test("a batch that expired, or whose lines are refused, exits with 3 and 2", async () => {
  const { id, upstreamId } = await create();
  rig.upstream.fileBatches.end(upstreamId, { status: "expired", unfinished: ["b"] });
  expect((await rig.fairway(`batch watch ${id} --interval 1`)).code).toBe(3);
  const broken = join(rig.home, "broken.jsonl");
  await writeFile(broken, `${formatLine("a")}{"custom_id":\n`);
  const refused = await rig.fairway(`batch create ${broken} --key ci`);
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/^line 2: invalid_json_line: /m);
}, 120_000);

test("people cancel a batch, have its results read again, and abandon it", async () => {
  const { id, upstreamId } = await create();
  expect((await rig.fairway(`batch cancel ${id}`)).err).toContain("Asked the provider to end");
  rig.upstream.fileBatches.end(upstreamId, { isLate: true });
  await expect
    .poll(async () => parseJsonOutput(await rig.fairway(`batch get ${id} -o json`))["phase"], WAIT)
    .toBe("ended");
  expect((await rig.fairway(`batch settle ${id}`)).err).toContain("read again within seconds");
  const other = await create();
  for (const { id: channel } of (await rig.client.call(channelList, {})).data)
    await rig.client.call(channelDelete, { params: { id: channel }, query: { force: true } });
  await expect
    .poll(async () => parseJsonOutput(await rig.fairway(`batch get ${other.id} -o json`))["phase"], WAIT)
    .toBe("stuck");
  const watched = await rig.fairway(`batch watch ${other.id}`);
  expect(watched).toMatchObject({ code: 1, err: expect.stringContaining("is stuck: channel_deleted") as string });
  const abandoned = await rig.fairway(`batch abandon ${other.id} --yes -o json`);
  expect(parseJsonOutput(abandoned)).toMatchObject({ phase: "settled", charged: 0 });
  await addChannel(rig.client);
}, 120_000);

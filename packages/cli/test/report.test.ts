// `fairway report` has the sums of the log, compared with SQL over random rows.
import { runSql, type SqlRow } from "@fairway/testkit";
import { tokenCreate, userCreate } from "@fairway/wire";
import { join } from "node:path";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseRows, signIn, startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";

const HOUR = 3_600;
const DAYS = 9;
/** More models than one answer of the gateway lists. */
const RARE_MODELS = 2_100;
const SEED = Math.floor(Math.random() * 2 ** 31);
const END = Math.floor(Date.now() / 1000 / HOUR) * HOUR;
const BEGIN = END - DAYS * 24 * HOUR;

let folder: string;
let url: string;
let rig: Rig;
let ann: { FAIRWAY_CONFIG: string };

/** Returns numbers below a bound; the same seed gives the same numbers. */
function createDice(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const COLUMNS =
  'user_id, username, created_at, type, model_name, token_name, token_id, "group", channel_id, quota, prompt_tokens, completion_tokens, use_time, is_stream, content, ip, request_id, other';

function drawRow(dice: (bound: number) => number): string {
  const [user, key, isFailed] = [1 + dice(3), dice(4), dice(5) === 0];
  // A key has one owner.
  const token = key === 0 ? 0 : 10 * user + key;
  const name = ["root", "ann", "bob"][user - 1];
  const numbers = isFailed ? "0, 0, 0" : `${dice(1_000_000)}, ${dice(10_000)}, ${dice(2_000)}`;
  const outcome = ["upstream_error", "client_error", "timeout"][dice(3)];
  const type = isFailed ? 5 : [1, 2, 2, 2][dice(4)];
  const other = isFailed ? `{"outcome":"${outcome}"}` : "";
  const at = BEGIN + dice(DAYS * 24 * HOUR);
  return `(${user}, '${name}', ${at}, ${type}, 'model-${dice(4)}', 'key-${token}', ${token}, '${["default", "vip"][dice(2)]}', ${dice(3)}, ${numbers}, 1, 0, '', '', '', '${other}')`;
}

async function insertRows(rows: readonly string[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 500)
    await runSql(url, `insert into logs (${COLUMNS}) values ${rows.slice(at, at + 500).join(", ")}`);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairway-report-"));
  url = `sqlite:${join(folder, "fairway.db")}`;
  rig = await startRig({ FAIRWAY_DATABASE_URL: url });
  const dice = createDice(SEED);
  const rows = Array.from({ length: 600 }, () => drawRow(dice));
  const rare = Array.from(
    { length: RARE_MODELS },
    (_one, at) =>
      `(2, 'ann', ${BEGIN - 2 * HOUR + dice(HOUR)}, 2, 'rare-${at}', 'key-21', 21, 'vip', 1, ${dice(50)}, 1, 1, 1, 0, '', '', '', '')`,
  );
  await insertRows([...rows, ...rare]);
  await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  await rig.client.call(userCreate, { body: { username: "ann", password: "ann's-password", display_name: "ann" } });
  ann = { FAIRWAY_CONFIG: join(rig.home, "ann.json") };
  await signIn(rig.gateway.url, ann, { username: "ann", password: "ann's-password" });
}, 60_000);
afterAll(async () => {
  await rig?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the leader adds rows of the log to the sums within a minute", { timeout: 120_000 }, async () => {
  const [all] = await runSql(url, "select count(*) as calls from logs where type in (2, 5)");
  const countCalls = async () => {
    const rows = parseRows(await rig.fairway("report usage --by user --since 11d -o jsonl"));
    return rows.reduce((sum, { calls }) => sum + Number(calls), 0);
  };
  await expect.poll(countCalls, { timeout: 110_000, interval: 2_000 }).toBe(all?.["calls"]);
});

const FAILED = `type = 5 and other not like '%client_error%'`;
const COUNTED = "type in (2, 5)";

interface Period {
  readonly from: number;
  readonly before: number;
}

const formatTime = (at: number) => new Date(at * 1000).toISOString().slice(0, 19) + "Z";
const writeFlags = ({ from, before }: Period) => `--since ${formatTime(from)} --until ${formatTime(before)}`;

/** Returns the sums of the rows of the log, by the values of a column. */
async function sumRows(key: string, { from, before }: Period, more = "1 = 1"): Promise<readonly SqlRow[]> {
  return runSql(
    url,
    `select cast(${key} as text) as subject, count(*) as calls, sum(${FAILED}) as errors, sum(quota) as quota,
       sum(prompt_tokens) as input_tokens, sum(completion_tokens) as output_tokens
     from logs where ${COUNTED} and created_at >= ${from} and created_at < ${before} and ${more}
     group by 1 order by 1`,
  );
}

const bySubject = (rows: readonly SqlRow[]) =>
  rows
    .map(({ subject, calls, errors, quota, input_tokens, output_tokens }) => ({
      subject: String(subject),
      calls,
      errors,
      quota,
      input_tokens,
      output_tokens,
    }))
    .toSorted((a, b) => (a.subject < b.subject ? -1 : 1));

const report = async (flags: string, env: Record<string, string> = rig.env) => {
  const done = await run(`report ${flags}`.split(" "), env);
  expect(done.code, `${flags}\n${done.err}`).toBe(0);
  return done;
};

const KEYS = {
  user: ["user_id", "1 = 1"],
  group: ['"group"', "1 = 1"],
  model: ["model_name", "1 = 1"],
  token: ["token_id", "token_id > 0"],
  channel: ["channel_id", "channel_id > 0"],
} as const;

test.each(Object.keys(KEYS) as (keyof typeof KEYS)[])("by %s it has the sums of the log", async (by) => {
  const dice = createDice(SEED + by.length);
  const [key, more] = KEYS[by];
  const whole = { from: BEGIN, before: END };
  const first = BEGIN + dice(100) * HOUR;
  const periods: Period[] = [whole, { from: first, before: first + (1 + dice(100)) * HOUR }];
  for (const period of periods) {
    const wanted = bySubject(await sumRows(key, period, more));
    const done = await report(`--by ${by} ${writeFlags(period)} -o jsonl`);
    expect(bySubject(parseRows(done)), `seed ${SEED}`).toEqual(wanted);
    const quotas = parseRows(done).map(({ quota }) => Number(quota));
    expect(quotas).toEqual(quotas.toSorted((a, b) => b - a));
  }
});

test("points of days and hours, sheets and documents have the same sums", async () => {
  const period = { from: BEGIN + 5 * HOUR, before: END - 3 * HOUR };
  const wanted = bySubject(await sumRows("model_name", period));
  for (const interval of ["day", "hour"]) {
    const rows = parseRows(await report(`--by model ${writeFlags(period)} --interval ${interval} -o jsonl`));
    const sums = new Map<string, number>();
    for (const { subject, quota } of rows) sums.set(String(subject), (sums.get(String(subject)) ?? 0) + Number(quota));
    expect(Object.fromEntries(sums), `seed ${SEED}`).toEqual(
      Object.fromEntries(wanted.map(({ subject, quota }) => [subject, quota])),
    );
    expect(rows.every(({ start }) => Number(start) >= period.from - 24 * HOUR)).toBe(true);
  }
  const csv = await report(`--by model ${writeFlags(period)} -o csv --columns name,quota,calls --no-headers`);
  const lines = csv.out.trim().split("\n").toSorted();
  expect(lines).toEqual(wanted.map(({ subject, quota, calls }) => `${subject},${String(quota)},${String(calls)}`));
  const json = JSON.parse((await report(`--by model ${writeFlags(period)} -o json`)).out) as { kind: string };
  expect(json).toMatchObject({ kind: "ReportList", items: { length: wanted.length } });
  const [all] = await sumRows("1", period);
  const table = await report(`--by model ${writeFlags(period)}`);
  expect(table.err).toContain(`${String(all?.["calls"])} calls, ${String(all?.["errors"])} failed, $`);
  expect(table.err).toContain(`(${String(all?.["quota"])} quota) from `);
});

test("more subjects than one answer has are all there, and a limit says that it cuts", async () => {
  const period = { from: BEGIN - 3 * HOUR, before: END };
  const wanted = bySubject(await sumRows("model_name", period));
  expect(wanted.length).toBeGreaterThan(RARE_MODELS);
  const done = await report(`--by model ${writeFlags(period)} -o jsonl`);
  expect(bySubject(parseRows(done)), `seed ${SEED}`).toEqual(wanted);
  const cut = await report(`--by model ${writeFlags(period)} -o jsonl --limit 3`);
  expect(parseRows(cut)).toEqual(parseRows(done).slice(0, 3));
  expect(cut.err).toContain(`3 of ${wanted.length} rows are listed`);
});

test("several fields and filters have the sums of the rows of the log", async () => {
  const period = { from: BEGIN, before: END };
  await runSql(url, "update logs set tags = 'app=shop|env=prod' where quota % 3 = 0");
  await runSql(url, "update logs set tags = 'app=crm' where quota % 3 = 1");
  // Rows never change but here: the sums that were written before have no tags.
  await runSql(url, "delete from revisions where topic = 'report-sums'");
  const rows = await runSql(
    url,
    `select case quota % 3 when 0 then 'shop' when 1 then 'crm' else '' end as app, model_name, count(*) as calls,
       sum(quota) as quota from logs where ${COUNTED} and created_at >= ${BEGIN} and created_at < ${END} group by 1, 2`,
  );
  const format = (app: unknown, model: unknown, ...figures: unknown[]) => [app, model, ...figures].join(" ");
  const wanted = rows.map((one) => format(one["app"], one["model_name"], one["calls"], one["quota"]));
  const done = parseRows(await report(`--by tag:app,model ${writeFlags(period)} -o jsonl`));
  const shown = done.map((one) => format(one["tag:app"], one["model"], one["calls"], one["quota"]));
  expect(new Set(shown), `seed ${SEED}`).toEqual(new Set(wanted));
  const filtered = parseRows(await report(`--by user --tag env=prod --user ann ${writeFlags(period)} -o jsonl`));
  const [ofAnn] = await sumRows("user_id", period, "user_id = 2 and quota % 3 = 0");
  expect(filtered).toMatchObject([{ user: "ann", quota: ofAnn?.["quota"], calls: ofAnn?.["calls"] }]);
  const own = parseRows(await report(`--by tag:env ${writeFlags(period)} -o jsonl`, ann));
  expect(new Set(own.map((one) => one["tag:env"]))).toEqual(new Set(["", "prod"]));
});

test("a user's report has the own calls alone, and an administrator may ask for it", async () => {
  const period = { from: BEGIN, before: END };
  const wanted = bySubject(await sumRows("model_name", period, "user_id = 2"));
  expect(bySubject(parseRows(await report(`--by model --user ann ${writeFlags(period)} -o jsonl`)))).toEqual(wanted);
  expect(bySubject(parseRows(await report(`--by model ${writeFlags(period)} -o jsonl`, ann)))).toEqual(wanted);
  const refused = await run(["report", "--by", "channel"], ann);
  expect(refused).toMatchObject({ code: 6, out: "" });
  expect((await run(["report", "--by", "model", "--user", "root"], ann)).code).toBe(6);
});

test("a report is saved as the gateway writes it, and a refusal saves nothing", async () => {
  const period = writeFlags({ from: BEGIN, before: END });
  const [csv, parquet] = [join(folder, "report.csv"), join(folder, "report.parquet")];
  const done = await report(`--by model,user ${period} --output-file ${csv}`);
  expect([done.out, done.err]).toEqual(["", expect.stringMatching(/^Wrote [\d.]+ (B|KiB) to /)]);
  const lines = (await readFile(csv, "utf8")).trimEnd().split("\r\n");
  expect(lines[0]).toBe("start,model,user_id,user,calls,errors,input_tokens,output_tokens,quota,cost_usd");
  expect(lines).toHaveLength(1 + parseRows(await report(`--by model,user ${period} -o jsonl`)).length);
  await report(`--by model ${period} --format parquet --output-file ${parquet}`);
  const bytes = await readFile(parquet);
  expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(["PAR1", "PAR1"]);
  const again = await run(`report --by model ${period} --output-file ${csv}`.split(" "), rig.env);
  expect([again.code, again.err]).toEqual([5, expect.stringContaining("exists already")]);
  const absent = join(folder, "absent.csv");
  const refused = await run(
    `report --by model ${period} --time-zone Mars/Base --output-file ${absent}`.split(" "),
    rig.env,
  );
  expect([refused.code === 0, refused.err]).toEqual([false, expect.stringContaining("time_zone")]);
  await expect(readFile(absent)).rejects.toThrow("ENOENT");
});

test("a report that cannot be is refused in words", async () => {
  const refuse = async (flags: string) => {
    const { code, out, err } = await rig.fairway(`report ${flags}`);
    expect({ code, out }, flags).toEqual({ code: 2, out: "" });
    return err;
  };
  expect(await refuse("--by weather")).toContain("--by does not know weather");
  expect(await refuse("--by model --since 1d --until 2d")).toContain("--until is before --since");
  expect(await refuse("--by model --since 500d")).toContain("at most 400 days");
});

// Reports over calls that were really made, and who may read them.
import { signIn } from "@fairway/testkit";
import type { UsageReport } from "@fairway/wire";
import { tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;

beforeAll(async () => {
  gateway = await startRelayApp();
  await gateway.channel("report-model,other-model");
  await gateway.option("TagPolicy", JSON.stringify({ keys: { app: {} } }));
  const key = await gateway.token({ name: "reported" });
  for (const [app, model, user] of [
    ["shop", "report-model", "1"],
    ["shop", "report-model", "2"],
    ["=evil", "other-model", "1"],
    ["crm", "other-model", "=2+2"],
  ] as const) {
    const body = chat(model, { metadata: { app }, user });
    await (await gateway.post("/v1/chat/completions", body, key)).text();
  }
  await gateway.settled();
});

afterAll(() => gateway.close());

const toText = (value: unknown) => String(value as string | number | bigint);
const read = (query: string) => gateway.root.must<UsageReport>("GET", `/api/report/usage?${query}`);

it("adds up to the charges of the ledger, by every combination of fields", async () => {
  const [charges] = await gateway.database.raw.rows<{ sum: number }>(
    "select 0 - sum(quota) as sum from ledger where kind = 'consume'",
    [],
  );
  for (const by of ["", "user", "tag:app", "tag:app,model", "tag:app,end_user,token", "channel,group", "team,actor"]) {
    const report = await read(`by=${by}`);
    expect([by, report.total.quota, report.total.calls]).toEqual([by, Number(charges?.sum), 4]);
    expect(report.rows.reduce((all, { quota }) => all + quota, 0)).toBe(report.total.quota);
    expect([report.bounded, report.other_groups]).toEqual([false, 0]);
  }
});

it("names what it groups by, and filters by tags and end users", async () => {
  const report = await read("by=tag:app,model&tags=app%3Dshop");
  expect(report.columns.slice(0, 3)).toEqual(["start", "tag:app", "model"]);
  expect(report.rows).toMatchObject([{ "tag:app": "shop", model: "report-model", calls: 2 }]);
  expect((await read("by=token&end_user=1")).rows).toMatchObject([{ token: "reported", calls: 2 }]);
  expect((await read("by=channel&interval=day")).rows[0]).toMatchObject({ channel: expect.any(String) as string });
});

it("is a file whose cells no spreadsheet runs", async () => {
  const answer = await fetch(`${gateway.url}/api/report/usage?by=end_user&format=csv&bom=1`, {
    headers: gateway.root.headers,
  });
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const text = Buffer.from(await answer.arrayBuffer()).toString("utf8");
  expect(text.startsWith("\uFEFFstart,end_user,calls")).toBe(true);
  expect(text).toContain(",'=2+2,1,0,");
});

it("is a Parquet file with the values of the answer", async () => {
  const end = Math.floor(Date.now() / 1000) + 10;
  const asked = `by=tag:app,end_user,channel&start=${end - 3_600}&end=${end}`;
  const { columns, rows } = await read(asked);
  const answer = await fetch(`${gateway.url}/api/report/usage?${asked}&format=parquet`, {
    headers: gateway.root.headers,
  });
  expect(answer.headers.get("content-type")).toBe("application/vnd.apache.parquet");
  expect(answer.headers.get("content-disposition")).toBe('attachment; filename="report.parquet"');
  const table = tableFromIPC(readParquet(new Uint8Array(await answer.arrayBuffer())).intoIPCStream());
  expect(table.schema.fields.map(({ name }) => name)).toEqual(columns);
  const shown = table.toArray().map((row) => columns.map((name) => toText((row as Record<string, unknown>)[name])));
  expect(shown).toEqual(
    rows.map((row) => columns.map((name) => toText(name === "start" ? row.start * 1000 : row[name]))),
  );
});

it.each(["", "even", "shop=2"])("shares the cost of a value among the others, by %j, to the unit", async (split) => {
  const end = Math.floor(Date.now() / 1000) + 10;
  const asked = `by=tag:app,model&start=${end - 3_600}&end=${end}`;
  const plain = await read(asked);
  const more = `${asked}&shared=${encodeURIComponent("app=crm")}&split=${encodeURIComponent(split)}`;
  const report = await read(more);
  const sum = (name: string) => report.rows.reduce((all, row) => all + Number(row[name]), 0);
  expect([sum("quota"), sum("shared"), sum("total")]).toEqual([plain.total.quota, 0, plain.total.quota]);
  const crm = report.rows.find((row) => row["tag:app"] === "crm");
  expect([crm?.["total"], crm?.["shared"]]).toEqual([0, -(crm?.quota ?? 0)]);
  expect(crm?.quota).toBeGreaterThan(0);
  const sql = "select 0 - sum(quota) as sum from ledger where kind = 'consume'";
  const [charges] = await gateway.database.raw.rows<{ sum: number }>(sql, []);
  expect(sum("total")).toBe(Number(charges?.sum));
  const [csv, parquet] = await Promise.all(
    ["csv", "parquet"].map(async (format) => {
      const answer = await fetch(`${gateway.url}/api/report/usage?${more}&format=${format}`, {
        headers: gateway.root.headers,
      });
      return Buffer.from(await answer.arrayBuffer());
    }),
  );
  const table = tableFromIPC(readParquet(new Uint8Array(parquet ?? Buffer.alloc(0))).intoIPCStream());
  const inParquet = table.toArray().map((one) => Number((one as Record<string, unknown>)["total"]));
  const [head = "", ...lines] = (csv ?? Buffer.alloc(0)).toString("utf8").trim().split("\r\n");
  expect(head.endsWith(",quota,cost_usd,shared,total,total_usd")).toBe(true);
  const inCsv = lines.map((line) => Number(line.split(",").at(-2)));
  expect([inCsv, inParquet]).toEqual([report.rows, report.rows].map((rows) => rows.map((row) => row["total"])));
  const without = `/api/report/usage?by=model&shared=${encodeURIComponent("app=crm")}`;
  expect(await gateway.root.call("GET", without)).toMatchObject({ success: false });
});

it("tells callers their own calls only, and nothing about channels and others", async () => {
  await gateway.root.must("POST", "/api/user/", { username: "reader", password: "a good password" });
  const reader = await signIn(gateway.url, "reader", "a good password");
  expect((await reader.must<UsageReport>("GET", "/api/report/self/usage?by=model")).total.calls).toBe(0);
  expect((await gateway.root.must<UsageReport>("GET", "/api/report/self/usage?by=model")).total.calls).toBe(4);
  for (const by of ["channel", "user", "team"])
    expect(await reader.call("GET", `/api/report/self/usage?by=${by}`)).toMatchObject({ success: false });
  expect((await reader.call("GET", "/api/report/usage")).success).toBe(false);
});

it.each([
  ["by=nothing", "by"],
  ["by=tag:APP", "by"],
  ["by=user,model,token,group", "by"],
  ["start=100&end=100", "end"],
  ["start=1&end=1000000000", "start"],
  ["interval=year", "interval"],
  ["interval=hour&start=1000000&end=9000000", "interval"],
  ["time_zone=Mars/Base", "time_zone"],
  ["format=pdf", "format"],
])("%s is refused and named", async (query, field) => {
  const answer = await gateway.root.call("GET", `/api/report/usage?${query}`);
  expect([answer.success, answer.message]).toEqual([false, expect.stringContaining(field)]);
});

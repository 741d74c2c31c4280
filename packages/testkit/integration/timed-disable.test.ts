// A timed disable whose replica dies before the time is over.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase } from "../src/databases.ts";
import { createChannel, ROOT_PASSWORD, signIn, startGateway, type GatewayProcess } from "../src/index.ts";

interface Row {
  readonly status: number;
  readonly other_info: string;
}

let replicas: GatewayProcess[];

beforeAll(async () => {
  const database = await createDatabase("mariadb");
  const first = await startGateway({ database });
  replicas = [first, await startGateway({ database })];
});
afterAll(() => Promise.all((replicas ?? []).map((replica) => replica.stop())));

const isLeader = async ({ adminUrl }: GatewayProcess) =>
  /^fairway_leader 1$/m.test(await (await fetch(`${adminUrl}/metrics`)).text());

test("the next leader ends it at its time, once", async () => {
  await expect.poll(async () => (await Promise.all(replicas.map(isLeader))).includes(true)).toBe(true);
  const leads = await Promise.all(replicas.map(isLeader));
  const leader = replicas[leads.indexOf(true)];
  const other = replicas[leads.indexOf(false)];
  if (!leader || !other) throw new Error("one of two replicas has to lead");
  const root = await signIn(other.url, "root", ROOT_PASSWORD);
  const id = await createChannel(root, { base_url: "http://127.0.0.1:9", models: "harbour" });
  const form = { id, status: 2, disable_seconds: 20, status_reason: "dredging" };
  const { other_info: info } = await root.must<Row>("PUT", "/api/channel/", form);
  const { status_until: until } = JSON.parse(info) as { status_until: number };
  await leader.kill();
  const read = () => root.must<Row>("GET", `/api/channel/${id}`);
  expect((await read()).status).toBe(2);
  await expect.poll(async () => (await read()).status, { timeout: 90_000, interval: 500 }).toBe(1);
  const { status_time: at } = JSON.parse((await read()).other_info) as { status_time: number };
  expect(at).toBeGreaterThanOrEqual(until);
  const rows = await root.must<{ username: string; action: string }[]>("GET", `/api/audit?target=channel%20${id}`);
  expect(rows.filter(({ username }) => username === "system")).toMatchObject([{ action: "channelSetStatus" }]);
});

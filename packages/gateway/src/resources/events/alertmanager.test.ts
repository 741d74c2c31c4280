import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";

const TOKEN = "a-token-of-alertmanager";

eachDatabase("alerts of an Alertmanager", (open) => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.db.deleteFrom("events").execute();
    await setOptions(members.root, { AlertmanagerToken: TOKEN });
  });

  const alert = (more: object = {}) => ({
    status: "firing",
    labels: { alertname: "FairwayDown", severity: "critical", instance: "10.0.0.7:3000" },
    annotations: { summary: "No replica answers. 林" },
    startsAt: "2026-11-29T12:00:00.000Z",
    endsAt: "0001-01-01T00:00:00Z",
    generatorURL: "http://prometheus:9090/graph",
    fingerprint: "5ef1a3b2c4d5e6f7",
    ...more,
  });
  const send = (body: unknown, authorization = `Bearer ${TOKEN}`) =>
    app.anonymous().call("POST", "/api/event/alertmanager", { body: JSON.stringify(body), headers: { authorization } });
  const message = (...alerts: object[]) => ({ version: "4", status: "firing", receiver: "fairway", alerts });
  const listEvents = () => app.database.db.selectFrom("events").selectAll().orderBy("id").execute();

  test("an alert makes one event when it begins and one when it ends, however often it is repeated", async () => {
    for (let n = 0; n < 3; n++) expect((await send(message(alert()))).status).toBe(200);
    await send(message(alert({ status: "resolved" })));
    await send(message(alert({ startsAt: "2026-11-29T13:00:00.000Z", labels: { alertname: "Slow" } })));
    const rows = await listEvents();
    expect(rows.map(({ type, severity, user_id }) => [type, severity, user_id])).toEqual([
      ["alert.firing", "critical", 0],
      ["alert.resolved", "info", 0],
      ["alert.firing", "warning", 0],
    ]);
    expect(JSON.parse(rows[0]?.data ?? "")).toMatchObject({
      name: "FairwayDown",
      summary: "No replica answers. 林",
      starts_at: 1_795_953_600,
    });
  });

  const whole = () => message(alert());
  test.each([
    ["another token", { body: whole(), authorization: "Bearer other", status: 401, code: "WH12" }],
    ["no token", { body: whole(), authorization: "", status: 401, code: "WH12" }],
    ["another version", { body: { version: "3", alerts: [] }, status: 400, code: "WH13" }],
    ["no JSON object", { body: [1], status: 400, code: "WH13" }],
    ["too many alerts", { body: message(...Array.from({ length: 501 }, () => alert())), status: 400, code: "WH13" }],
  ])("%s: refused, and nothing is written", async (_, { body, status, code, ...more }) => {
    const answer = await send(body, "authorization" in more ? more.authorization : undefined);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(code);
    expect(await listEvents()).toEqual([]);
  });

  test("without the option no alert is accepted", async () => {
    await setOptions(members.root, { AlertmanagerToken: "" });
    expect(await send(message(alert()), "Bearer ")).toMatchObject({ status: 403, body: { code: "WH11" } });
  });
});

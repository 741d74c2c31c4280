import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { keyHint, type LeakVerdict, type Token } from "@fairway/wire";
import { eachDatabase } from "@fairway/testkit/databases";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";

const SECRET = `whsec_${Buffer.from("a secret of the scanner").toString("base64")}`;

eachDatabase("reports of leaked keys", (open) => {
  let app: ManagementApp;
  let members: Members;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    for (const table of ["options", "events", "token_keys"] as const) await app.database.db.deleteFrom(table).execute();
    await setOptions(members.root, { LeakReports: "hmac", LeakSecret: SECRET });
    app.clock.move(61);
  });

  const create = (name: string) => members.user.data<Token>(members.user.post("/api/token/", { name }));
  const read = (id: number) => members.user.data<Token>(members.user.get(`/api/token/${id}`));
  const post = (body: string, headers: Record<string, string> = {}) =>
    app.anonymous().call("POST", "/api/leak", { body, headers });
  const item = (token: string) => ({ token, type: "fairway_key", url: "https://example.com/x.env", source: "content" });

  /** Signs with the library of the standard. */
  function signed(body: string, { secret = SECRET, at = app.clock.now() } = {}): Record<string, string> {
    const signature = new Webhook(secret).sign("msg_1", new Date(at), body);
    return {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(at / 1000)),
      "webhook-signature": signature,
    };
  }
  async function report(...tokens: string[]): Promise<LeakVerdict[]> {
    const body = JSON.stringify(tokens.map(item));
    const answer = await post(body, signed(body));
    expect(answer.status).toBe(200);
    return JSON.parse(answer.text) as LeakVerdict[];
  }
  const listEvents = () =>
    app.database.db.selectFrom("events").selectAll().where("type", "=", "token.leaked").execute();

  test("a leaked key ends at once, and the token has another", async () => {
    const token = await create("leaked");
    const [verdict] = await report(`sk-${token.key}`);
    const token_hash = createHash("sha256").update(`sk-${token.key}`).digest("hex");
    expect(verdict).toEqual({ token_hash, token_type: "fairway_key", label: "true_positive" });
    const after = await read(token.id);
    expect(after).toMatchObject({ status: 1, old_keys_until: 0 });
    expect(after.key).not.toBe(token.key);
    const [event, ...others] = await listEvents();
    expect(others).toEqual([]);
    const data = JSON.parse(event?.data ?? "") as Record<string, unknown>;
    expect(data).toMatchObject({
      id: token.id,
      name: "leaked",
      hint: keyHint(token.key),
      url: "https://example.com/x.env",
    });
    expect(event).toMatchObject({ user_id: token.user_id, severity: "critical" });
  });

  test("the key itself is in no row of events and audit", async () => {
    const token = await create("hidden");
    await report(`sk-${token.key}`);
    for (const table of ["events", "audit_log"] as const) {
      const rows = await app.database.db.selectFrom(table).selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain(token.key);
    }
    const audited = app.database.db.selectFrom("audit_log").selectAll().where("action", "=", "leakReport");
    expect(await audited.where("target", "=", `token ${token.id}`).execute()).toHaveLength(1);
  });

  test("a second report of the same key changes nothing and is no second event", async () => {
    const token = await create("twice");
    await report(token.key);
    const { key } = await read(token.id);
    expect((await report(token.key))[0]?.label).toBe("true_positive");
    expect((await read(token.id)).key).toBe(key);
    expect(await listEvents()).toHaveLength(1);
  });

  test("with rotate the key works for an hour more, with notify it stays", async () => {
    await setOptions(members.root, { LeakAction: "rotate" });
    const rotated = await create("rotated");
    await report(rotated.key);
    const now = Math.floor(app.clock.now() / 1000);
    expect(await read(rotated.id)).toMatchObject({ old_keys_until: now + 3600 });

    await setOptions(members.root, { LeakAction: "notify" });
    const notified = await create("notified");
    await report(notified.key);
    expect((await read(notified.id)).key).toBe(notified.key);
    expect(await listEvents()).toHaveLength(2);
  });

  test("of a replaced key only that one ends", async () => {
    const token = await create("old one");
    await members.user.data(members.user.post(`/api/token/${token.id}/rotate`, {}));
    const { key } = await read(token.id);
    await report(token.key);
    expect(await read(token.id)).toMatchObject({ key, old_keys_until: 0 });
  });

  test("texts that are no key of this gateway are false positives", async () => {
    const verdicts = await report(`sk-${"x".repeat(48)}`, "ghp_1234", "");
    expect(verdicts.map(({ label }) => label)).toEqual(Array(3).fill("false_positive"));
  });

  test("forged, old, altered and unsigned reports are refused", async () => {
    const token = await create("safe");
    const body = JSON.stringify([item(token.key)]);
    const other = `whsec_${Buffer.from("another secret").toString("base64")}`;
    const forgeries = [
      signed(body, { secret: other }),
      signed(body, { at: app.clock.now() - 301_000 }),
      signed(body, { at: app.clock.now() + 301_000 }),
      signed(`${body} `),
      { ...signed(body), "webhook-id": "msg_2" },
      { ...signed(body), "webhook-signature": "v1," },
      {},
    ];
    for (const headers of forgeries) expect(await readCode(post(body, headers))).toBe("LK2");
    expect((await read(token.id)).key).toBe(token.key);
  });

  test("what is no report is refused", async () => {
    for (const body of ["", "{}", "[]", '[{"token":1,"type":"x"}]', JSON.stringify(Array(1001).fill(item("x")))])
      expect(await readCode(post(body, signed(body)))).toBe("LK3");
  });

  test("nothing is accepted while reports are off, or have no secret", async () => {
    await setOptions(members.root, { LeakReports: "off" });
    expect(await readCode(post("[]", signed("[]")))).toBe("LK1");
    await setOptions(members.root, { LeakReports: "hmac", LeakSecret: "" });
    expect(await readCode(post("[]"))).toBe("LK1");
  });

  test("more than sixty reports a minute are refused", async () => {
    for (let i = 0; i < 60; i++) expect(await readCode(post("[]"))).toBe("LK2");
    expect(await readCode(post("[]"))).toBe("G3");
  });

  describe("of GitHub", () => {
    let api: Server;
    let calls = 0;
    const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const identifiers = ["first"];

    beforeAll(async () => {
      api = createServer((request, response) => {
        calls += 1;
        const key = own.publicKey.export({ type: "spki", format: "pem" });
        const public_keys = identifiers.map((key_identifier) => ({ key_identifier, key, is_current: true }));
        response.statusCode = request.url === "/meta/public_keys/secret_scanning" ? 200 : 404;
        response.end(JSON.stringify({ public_keys }));
      });
      await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
    });
    afterAll(async () => {
      api.closeAllConnections();
      await new Promise<void>((resolve) => api.close(() => resolve()));
    });
    beforeEach(async () => {
      const LeakGithubUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
      await setOptions(members.root, { LeakReports: "github", LeakGithubUrl });
    });

    const byGithub = (body: string, { key = own.privateKey, identifier = "first" } = {}) => ({
      "github-public-key-identifier": identifier,
      "github-public-key-signature": sign("sha256", Buffer.from(body), key).toString("base64"),
    });

    test("the signature of a known key counts, and the keys are read once an hour", async () => {
      calls = 0;
      const token = await create("published");
      const body = JSON.stringify([item(`sk-${token.key}`)]);
      for (let i = 0; i < 3; i++) expect((await post(body, byGithub(body))).status).toBe(200);
      expect(calls).toBeLessThanOrEqual(1);
      expect((await read(token.id)).key).not.toBe(token.key);
    });

    test("another key, another body and no signature are refused", async () => {
      const body = JSON.stringify([item("x")]);
      const forgeries = [
        byGithub(body, { key: foreign.privateKey }),
        byGithub(`${body} `),
        { ...byGithub(body), "github-public-key-signature": "AAAA" },
        { ...byGithub(body), "github-public-key-signature": "" },
        signed(body),
      ];
      for (const headers of forgeries) expect(await readCode(post(body, headers))).toBe("LK2");
    });

    test("an unknown identifier makes the keys be read once more, not at each report", async () => {
      const body = JSON.stringify([item("x")]);
      calls = 0;
      for (let i = 0; i < 5; i++)
        expect(await readCode(post(body, byGithub(body, { identifier: "next" })))).toBe("LK2");
      expect(calls).toBeLessThanOrEqual(1);
      identifiers.push("next");
      app.clock.move(61);
      expect((await post(body, byGithub(body, { identifier: "next" }))).status).toBe(200);
    });
  });
});

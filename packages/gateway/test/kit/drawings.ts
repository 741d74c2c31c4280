import { createToken, signIn, type Session } from "@fairway/testkit";
import type { RelayApp } from "./relay-app.ts";

export const DRAWING_MODELS =
  "mj_imagine,mj_upscale,mj_inpaint,mj_modal,mj_upload,swap_face,mj_describe,mj_blend,mj_shorten,mj_variation,mj_reroll";
const PASSWORD = "a-long-password";

/** Drawings at the upstream of a gateway, called with a key of root. */
export class Drawings {
  readonly #gateway: RelayApp;
  readonly #key: string;
  #serial = 0;

  constructor(gateway: RelayApp, key: string) {
    this.#gateway = gateway;
    this.#key = key;
  }

  /** The only channel that is on. */
  async channel(more: object = {}): Promise<number> {
    await this.closeAll();
    return this.#gateway.channel(DRAWING_MODELS, { type: 2, key: "mj-secret-1", ...more });
  }

  async closeAll(): Promise<void> {
    const { database, root } = this.#gateway;
    const rows = await database.raw.rows<{ id: number }>("select id from channels where status = 1", []);
    for (const { id } of rows) await root.must("PUT", "/api/channel/", { id, status: 2 });
  }

  /** Sets the upstream's answer to submissions. */
  answers(body: object, status = 200): void {
    for (const path of ["imagine", "change", "simple-change", "action", "modal", "upload-discord-images"])
      this.#gateway.upstream.script(`/mj/submit/${path}`, () => ({ status, body: { ...body } }));
    this.#gateway.upstream.script("/mj/insight-face/swap", () => ({ status, body: { ...body } }));
  }

  accepted(id: string, code = 1) {
    return { code, description: "Submit success", result: id, properties: {} };
  }

  nextId(): string {
    return `17330000000${String(++this.#serial).padStart(5, "0")}`;
  }

  async call(path: string, body?: object, key = this.#key): Promise<{ status: number; json: Record<string, unknown> }> {
    const response = await fetch(this.#gateway.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
  }

  /** Everything that a task moves. */
  async money() {
    await this.#gateway.settled();
    const readRow = async (sql: string) => (await this.#gateway.database.raw.rows<Record<string, number>>(sql, []))[0];
    return {
      user: await readRow("select quota, used_quota, held from users where id = 1"),
      token: await readRow(
        "select remain_quota, used_quota, held from tokens where unlimited_quota = 0 order by id limit 1",
      ),
      channels: await readRow("select sum(used_quota) as used from channels"),
    };
  }

  async row(id: string) {
    const rows = await this.#gateway.database.db
      .selectFrom("midjourneys")
      .selectAll()
      .where("mj_id", "=", id)
      .orderBy("id", "desc")
      .execute();
    return rows[0];
  }

  /** A session of a new user. */
  async newUser(): Promise<Session> {
    const name = `painter${++this.#serial}`;
    await this.#gateway.root.must("POST", "/api/user/", { username: name, password: PASSWORD, display_name: name });
    return signIn(this.#gateway.url, name, PASSWORD);
  }

  /** The key of a new user. */
  async stranger(): Promise<string> {
    return createToken(await this.newUser());
  }

  /** Reports through the address that the upstream was given. */
  async report(news: object): Promise<number> {
    const hook = new URL(
      String(this.#gateway.upstream.requests.findLast((seen) => seen.json?.["notifyHook"])?.json?.["notifyHook"]),
    );
    const url = this.#gateway.url + hook.pathname + hook.search;
    return (await fetch(url, { method: "POST", body: JSON.stringify(news) })).status;
  }
}

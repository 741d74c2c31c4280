import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../test/kit/store-kit.ts";

const LEASE_MS = 1_200;
const script = fileURLToPath(new URL("../../test/processes/leader-process.ts", import.meta.url));

// An SQLite file belongs to one process.
describe.each(["mariadb", "postgres"] as const)("a leader whose process is paused, on %s", (kind) => {
  let kit: StoreKit;
  let url: string;
  const replicas: Replica[] = [];

  beforeAll(async () => {
    url = await createDatabase(kind);
    kit = await openStoreKit(url);
  });
  afterAll(() => kit.database.close());
  afterEach(() => {
    for (const { child } of replicas.splice(0)) child.kill("SIGKILL");
  });

  const start = (name: string) => {
    const replica = new Replica(
      fork(script, [url, name, String(LEASE_MS)], { stdio: ["ignore", "ignore", "inherit", "ipc"] }),
    );
    replicas.push(replica);
    return replica;
  };
  const booked = async () =>
    (await kit.database.raw.rows<{ username: string }>("select username from audit_log order by id", [])).map(
      ({ username }) => username,
    );

  test("books nothing after another replica took over, at any point of its run", async () => {
    const first = start("first");
    await first.hears("running");
    first.child.send("go");
    await first.hears("booked");
    // The next run has begun and leads.
    await first.hears("running");
    first.child.kill("SIGSTOP");

    const second = start("second");
    await second.hears("running");
    second.child.send("go");
    await second.hears("booked");

    first.child.kill("SIGCONT");
    first.child.send("go");
    await first.hears("refused");
    expect(await booked()).toEqual(["first", "second"]);

    await second.hears("running");
    second.child.kill("SIGSTOP");
    // The refused process knows that it does not lead, and may take over again.
    await first.hears("running");
    first.child.send("go");
    await first.hears("booked");
    second.child.kill("SIGCONT");
    second.child.send("go");
    await second.hears("refused");
    expect(await booked()).toEqual(["first", "second", "first"]);
    const [lease] = await kit.database.raw.rows("select holder, term from leases where name = 'leader'", []);
    expect(lease).toEqual({ holder: "first", term: 3 });
  }, 60_000);
});

class Replica {
  readonly child: ChildProcess;
  readonly #heard: unknown[] = [];

  constructor(child: ChildProcess) {
    this.child = child;
    child.on("message", (message) => this.#heard.push(message));
  }

  /** Waits for the next message and expects it to be this one. */
  async hears(text: string): Promise<void> {
    if (this.#heard.length === 0) await once(this.child, "message", { signal: AbortSignal.timeout(30_000) });
    expect(this.#heard.shift()).toBe(text);
  }
}

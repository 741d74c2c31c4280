import { createToken, signIn, type Session } from "@fairway/testkit";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { startRelayApp, type RelayApp } from "./relay-app.ts";

const PASSWORD = "a-long-password";
let serial = 0;

/** A user with a key and a session. */
export interface Member {
  readonly key: string;
  readonly session: Session;
}

/** A user of its own with money; answers one of its keys. */
export async function createTenant(app: RelayApp, quota?: number): Promise<string> {
  return (await createMember(app, quota)).key;
}

/** The same with the session. */
export async function createMember({ root, url }: RelayApp, quota = 100_000_000): Promise<Member> {
  const username = `tenant${++serial}`;
  await root.must("POST", "/api/user/", { username, password: PASSWORD, display_name: username });
  const [found] = await root.must<{ id: number }[]>("GET", `/api/user/search?keyword=${username}`);
  await root.must("PUT", "/api/user/", { id: found?.id, username, quota, group: "default" });
  const session = await signIn(url, username, PASSWORD);
  return { session, key: await createToken(session) };
}

/** One gateway, and the keys of two users that share its upstream accounts. */
interface Tenants {
  readonly gateway: RelayApp;
  readonly mine: string;
  readonly theirs: string;
}

/** Registers the hooks of a test file; the fields can be read inside of tests. */
export function useTenants(env: Readonly<Record<string, string>> = {}): Tenants {
  let gateway: RelayApp | undefined;
  const keys = { mine: "", theirs: "" };
  const running = () => {
    if (!gateway) throw new Error("the gateway is not started yet");
    return gateway;
  };
  beforeAll(async () => {
    gateway = await startRelayApp(env);
    keys.mine = await createTenant(gateway);
    keys.theirs = await createTenant(gateway);
  }, 60_000);
  afterAll(() => gateway?.close());
  beforeEach(() => running().upstream.reset());
  return {
    get gateway() {
      return running();
    },
    get mine() {
      return keys.mine;
    },
    get theirs() {
      return keys.theirs;
    },
  };
}

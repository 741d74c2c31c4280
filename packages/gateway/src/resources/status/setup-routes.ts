import { messageText, ROLE, setup, setupState } from "@fairway/wire";
import { createHash, timingSafeEqual } from "node:crypto";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { insertFirstAccount } from "../../identity/accounts/first-account.ts";
import { insertFirstOptions } from "../../identity/accounts/first-options.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isLoopback } from "../../lib/net/ip.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Database } from "../../storage/database.ts";
import { isDuplicate } from "../../storage/errors.ts";
import type { OptionStore } from "../options/store.ts";
import { readPassword, readUsername } from "../users/input.ts";

export interface SetupState {
  /** Returns true once this installation has its first account; never becomes false again. */
  isSetUp(): boolean;
  /** Reads this from the database until it is true. */
  refresh(): Promise<boolean>;
}

export function createSetupState({ db }: Database): SetupState {
  let isDone = false;
  return {
    isSetUp: () => isDone,
    async refresh() {
      isDone ||= (await db.selectFrom("setups").select("id").limit(1).executeTakeFirst()) !== undefined;
      return isDone;
    },
  };
}

export interface SetupRoutesDeps {
  readonly database: Database;
  readonly state: SetupState;
  readonly passwords: Passwords;
  readonly options: OptionStore;
  readonly clock: Clock;
  readonly version: string;
  readonly setupToken: Secret | undefined;
  readonly firstRetries: number;
}

/** Id of a row that only one of several concurrent calls can insert. */
const SETUP_ID = 1;

export function setupRoutes(deps: SetupRoutesDeps): Route[] {
  const { database, state } = deps;
  return [
    implement(setupState, async () => {
      if (await state.refresh()) return { status: true, root_init: false, database_type: "" };
      return { status: false, root_init: await hasRoot(database), database_type: database.kind };
    }),
    implement(setup, async (call) => {
      try {
        await setUp(deps, call);
      } catch (thrown) {
        if (thrown instanceof Refusal) throw asBadRequest(thrown);
        throw thrown;
      }
      call.message(messageText("setup_done"));
    }),
  ];
}

async function hasRoot({ db }: Database): Promise<boolean> {
  return (await db.selectFrom("users").select("id").where("role", "=", ROLE.root).executeTakeFirst()) !== undefined;
}

async function setUp(deps: SetupRoutesDeps, call: Call<typeof setup>): Promise<void> {
  const { body, context } = call;
  const { database, state, clock } = deps;
  if (await state.refresh()) throw new Refusal("setup_already_done");
  if (!mayOpen(deps.setupToken, call)) throw new Refusal("setup_token_required");
  const username = readUsername(body.username ?? "");
  const password = readPassword(body.password ?? "");
  if (body.confirmPassword !== password) throw new Refusal("passwords_differ", { field: "confirmPassword" });
  const createdAt = seconds(clock);
  const row = accountRow({
    username,
    passwordHash: await deps.passwords.hash(password),
    createdAt,
    displayName: "Root User",
    role: ROLE.root,
  });
  try {
    await database.db.transaction().execute(async (trx) => {
      await trx
        .insertInto("setups")
        .values({ id: SETUP_ID, version: deps.version, initialized_at: createdAt })
        .execute();
      await insertFirstAccount(trx, row);
      await insertFirstOptions(trx, database.kind, { retries: deps.firstRetries, createdAt });
    });
  } catch (cause) {
    if (isDuplicate(cause)) throw new Refusal("setup_already_done", { cause });
    throw cause;
  }
  await state.refresh();
  const writer = { userId: 0, username, ip: context.ip };
  await deps.options.write(
    [
      { key: "SelfUseModeEnabled", text: String(body.SelfUseModeEnabled ?? false) },
      { key: "DemoSiteEnabled", text: String(body.DemoSiteEnabled ?? false) },
    ],
    writer,
  );
}

const FORWARDED = ["x-forwarded-for", "x-real-ip", "forwarded", "via"];

/**
 * Returns true with the correct token. Without a token, only this machine may open the setup, but not a proxy on it.
 */
function mayOpen(token: Secret | undefined, { body, context, request }: Call<typeof setup>): boolean {
  if (token) return isSame(token.reveal(), body.setup_token ?? "");
  return isLoopback(context.ip) && FORWARDED.every((name) => request.headers[name] === undefined);
}

/** Returns the refusal with status 400, as for all failures of the setup. */
function asBadRequest({ key, field }: Refusal): Refusal {
  return new Refusal(key, { status: 400, ...(field === undefined ? {} : { field }) });
}

function isSame(expected: string, given: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(expected), digest(given));
}

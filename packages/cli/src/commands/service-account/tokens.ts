import type { AccessScope, Client, ServiceToken } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { parseSpan } from "../../core/times.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printBare, printDone, printList, type Output, type Shape } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";
import { openProven, type Proof } from "../account/proof.ts";
import { findServiceAccount } from "./accounts.ts";
import { bindCalls } from "./calls.ts";

const TOKENS: Shape<ServiceToken> = {
  kind: "ServiceToken",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    plain("HINT", "hint"),
    { title: "SCOPES", value: ({ scopes }) => scopes.join(" ") },
    time("LAST USED", "last_used_at"),
    time("EXPIRES", "expires_at"),
  ],
  wide: [time("CREATED", "created_at")],
  name: ({ id }) => `access-token/${id}`,
};

interface Made {
  readonly id: number;
  readonly token: string;
  readonly expires_at: number;
}

const MADE: Shape<Made> = {
  kind: "ServiceToken",
  columns: [number("ID", "id"), plain("TOKEN", "token"), time("EXPIRES", "expires_at")],
  name: ({ id }) => `access-token/${id}`,
};

/** A service account of a team or of the installation, as the command line names it. */
export interface AccountPlace {
  readonly team: number;
  readonly account: string;
}

export async function listTokens(client: Client, { team, account }: AccountPlace, output: Output): Promise<void> {
  const { id: sid } = await findServiceAccount(client, team, account);
  const { data: rows } = await bindCalls(client, team).listTokens(sid);
  await printList(output, { ...TOKENS, rows, empty: "No access tokens." });
}

export interface ServiceTokenOptions extends Proof {
  readonly name: string;
  readonly scopes: readonly AccessScope[];
  readonly expires: string;
  readonly grace?: string;
}

/** Prints the new access token, which is shown once. */
export async function createToken(
  session: Session,
  { team, account }: AccountPlace,
  options: ServiceTokenOptions,
  output: Output,
): Promise<void> {
  const { name, scopes, expires, grace } = options;
  const { id: sid, name: holder } = await findServiceAccount(session.client, team, account);
  const body = {
    name,
    scopes: [...scopes],
    expires_in: parseSpan(expires, "--expires"),
    ...(grace !== undefined && { grace_seconds: parseSpan(grace, "--grace") }),
  };
  const proven = await openProven(session, options);
  const { data } = await bindCalls(proven, team).createToken(sid, body);
  output.note(`Access token ${data.id} (${name}) of ${holder}; it is shown once:`);
  await printBare(output, data.token, data, MADE);
}

/** Ends an access token; a person does so with a fresh sign-in, as for making one. */
export async function deleteToken(
  session: Session,
  { team, account }: AccountPlace,
  { token, yes, ...proof }: Proof & { readonly token: string; readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const { client } = session;
  const { id: sid, name: holder } = await findServiceAccount(client, team, account);
  const { data: rows } = await bindCalls(client, team).listTokens(sid);
  const wanted = token.replace(/^access-token\//, "");
  const named = rows.filter(({ id, name }) => (/^\d+$/.test(wanted) ? id === Number(wanted) : name === wanted));
  const [found, ...others] = named;
  if (!found) throw new CliError(`${holder} has no access token ${wanted}`, EXIT.notFound);
  if (others.length > 0) throw new CliError(`${holder} has several access tokens ${wanted}`, EXIT.usage, "name the id");
  await output.confirm(`End access token ${found.id} (${found.name}) of ${holder}`, 1, yes);
  const proven = await openProven(session, proof);
  await bindCalls(proven, team).removeToken(sid, found.id);
  await printDone(output, { id: found.id, account: sid }, `Access token ${found.id} (${found.name}) has ended.`);
}

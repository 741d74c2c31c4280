import {
  INSTALLATION_TEAM,
  nearest,
  SERVICE_ACCOUNT_STATUS,
  type CallInput,
  type Client,
  type ServiceAccount,
  type serviceAccountUpdate,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printDone, printList, type Output, type Shape } from "../../print/output.ts";
import { deleteEach } from "../each.ts";
import { bindCalls } from "./calls.ts";

const ACCOUNTS: Shape<ServiceAccount> = {
  kind: "ServiceAccount",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    { title: "STATUS", value: ({ status }) => (status === SERVICE_ACCOUNT_STATUS.on ? "enabled" : "disabled") },
    number("KEYS", "keys"),
    number("ACCESS TOKENS", "access_tokens"),
    time("LAST USED", "last_used_at"),
  ],
  wide: [plain("DESCRIPTION", "description"), number("BY", "created_by"), time("CREATED", "created_at")],
  name: ({ id }) => `service-account/${id}`,
};

export async function listAccounts(client: Client, team: number, output: Output): Promise<void> {
  const rows = await readAccounts(client, team);
  const empty = "No service accounts. Make one: fairway service-account create --name NAME";
  await printList(output, { ...ACCOUNTS, rows, empty });
}

async function readAccounts(client: Client, team: number): Promise<readonly ServiceAccount[]> {
  return (await bindCalls(client, team).list()).data;
}

/** Finds a service account of a team by its id or its whole name, in any case. */
export async function findServiceAccount(client: Client, team: number, text: string): Promise<ServiceAccount> {
  const wanted = text.replace(/^service-account\//, "");
  const rows = await readAccounts(client, team);
  const found = rows.find(({ id, name }) =>
    /^\d+$/.test(wanted) ? id === Number(wanted) : name.toLowerCase() === wanted.toLowerCase(),
  );
  if (found) return found;
  const names = rows.map(({ name }) => name);
  const near = nearest(wanted, names);
  const owner = team === INSTALLATION_TEAM ? "installation" : "team";
  const hint = near === undefined ? `the ${owner} has ${names.join(", ") || "none"}` : `did you mean ${near}?`;
  throw new CliError(`the ${owner} has no service account ${wanted}`, EXIT.notFound, hint);
}

export interface AccountTerms {
  readonly name?: string;
  readonly description?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export async function createAccount(
  client: Client,
  team: number,
  { name, description }: AccountTerms & { readonly name: string },
  output: Output,
): Promise<void> {
  const body = { name, ...(description !== undefined && { description }) };
  const { data } = await bindCalls(client, team).create(body);
  await printDone(output, data, `Created service account ${data.id} (${data.name}).`, ACCOUNTS);
}

export async function updateAccount(
  client: Client,
  team: number,
  { text, ...terms }: AccountTerms & { readonly text: string },
  output: Output,
): Promise<void> {
  const body = readTerms(terms);
  if (Object.keys(body).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway service-account update --help`");
  const { id: sid } = await findServiceAccount(client, team, text);
  const { data } = await bindCalls(client, team).update(sid, body);
  await printDone(output, data, `Changed service account ${data.id} (${data.name}).`, ACCOUNTS);
}

function readTerms({ name, description, enable, disable }: AccountTerms) {
  const status = enable ? SERVICE_ACCOUNT_STATUS.on : disable ? SERVICE_ACCOUNT_STATUS.off : undefined;
  const body: NonNullable<CallInput<typeof serviceAccountUpdate>["body"]> = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
  };
  return body;
}

export async function deleteAccounts(
  client: Client,
  team: number,
  { texts, yes }: { readonly texts: readonly string[]; readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const found: ServiceAccount[] = [];
  for (const text of texts) found.push(await findServiceAccount(client, team, text));
  const deletion = {
    noun: "service account",
    prefix: "service-account",
    kind: "ServiceAccountDelete",
    ids: found.map(({ id }) => id),
    question: (named: string) => `Delete service account ${named}`,
    loadName: (sid: number) => Promise.resolve(found.find(({ id }) => id === sid)?.name ?? ""),
    remove: (sid: number) => bindCalls(client, team).remove(sid),
  };
  await deleteEach(deletion, yes, output);
}

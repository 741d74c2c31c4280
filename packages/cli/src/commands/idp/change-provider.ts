import {
  identityProviderCreate,
  identityProviderDelete,
  identityProviderScimToken,
  identityProviderScimTokenDelete,
  identityProviderUpdate,
  MappingRule,
  type Client,
  type IdentityProvider,
  type IdentityProviderChange,
} from "@fairway/wire";
import * as z from "zod/mini";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printBare, printDone, type Output, type Shape } from "../../print/output.ts";
import type { Session } from "../../session/session.ts";
import { readTextFile } from "../../terminal/prompt.ts";
import { openProven, type Proof } from "../account/proof.ts";
import { deleteEach } from "../each.ts";
import { findProvider, PROVIDERS } from "./provider.ts";

/** What a provider can be changed to. */
export interface ProviderTerms extends Proof {
  readonly name?: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly secretFile?: string;
  readonly authMethod?: IdentityProvider["auth_method"];
  readonly scopes?: string;
  readonly allowHttp?: boolean;
  readonly domains?: readonly string[];
  readonly vouchesForEmail?: boolean;
  readonly jit?: IdentityProvider["jit"];
  readonly mappingFile?: string;
  readonly mfa?: IdentityProvider["mfa"];
  readonly acr?: readonly string[];
  readonly enforced?: boolean;
  readonly exempt?: readonly number[];
  readonly sessionHours?: number;
  readonly idleMinutes?: number;
  readonly reauth?: boolean;
  readonly logout?: boolean;
  readonly scimMatch?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export interface ProviderCreateOptions extends ProviderTerms {
  readonly slug: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
}

export async function createProvider(session: Session, options: ProviderCreateOptions, output: Output): Promise<void> {
  const { slug, name, issuer, clientId } = options;
  const body = { ...readTerms(options), slug, name, issuer, client_id: clientId };
  const { data } = await (await openProven(session, options)).call(identityProviderCreate, { body });
  output.note(`Register this redirect address at the provider: ${session.profile.server}/oauth/${slug}`);
  await printDone(
    output,
    data,
    `Created identity provider ${data.id} (${slug}). Test it: fairway idp test ${slug}`,
    PROVIDERS,
  );
}

export async function updateProvider(
  session: Session,
  text: string,
  options: ProviderTerms,
  output: Output,
): Promise<void> {
  const body = readTerms(options);
  if (Object.keys(body).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway idp update --help`");
  const { id, slug } = await findProvider(session.client, text);
  const { data } = await (await openProven(session, options)).call(identityProviderUpdate, { params: { id }, body });
  await printDone(output, data, `Changed identity provider ${id} (${slug}).`, PROVIDERS);
}

function readTerms(options: ProviderTerms): IdentityProviderChange {
  const { name, issuer, clientId, secretFile, domains, mappingFile, acr, exempt, enable, disable } = options;
  return dropAbsent({
    name,
    issuer,
    client_id: clientId,
    secret: secretFile === undefined ? undefined : readTextFile(secretFile, "--secret-file"),
    auth_method: options.authMethod,
    scopes: options.scopes,
    allow_http: options.allowHttp,
    domains: domains === undefined ? undefined : [...domains],
    vouches_for_email: options.vouchesForEmail,
    jit: options.jit,
    mapping: mappingFile === undefined ? undefined : readMapping(mappingFile),
    mfa: options.mfa,
    acr_values: acr === undefined ? undefined : [...acr],
    enforced: options.enforced,
    exempt: exempt === undefined ? undefined : [...exempt],
    session_hours: options.sessionHours,
    idle_minutes: options.idleMinutes,
    reauth: options.reauth,
    logout: options.logout,
    scim_match: options.scimMatch,
    status: enable ? 1 : disable ? 2 : undefined,
  });
}

type Absent<T> = { readonly [K in keyof T]: T[K] | undefined };

function dropAbsent<T extends object>(members: Absent<T>): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** Reads the list of rules, as `fairway idp get -o json` prints it. */
function readMapping(path: string): MappingRule[] {
  const text = readTextFile(path, "--mapping-file");
  const result = z.safeParse(z.array(MappingRule), parseJson(text, "--mapping-file"));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const at = issue ? `rule ${Number(issue.path[0] ?? 0) + 1} ${issue.path.slice(1).join(".")}: ${issue.message}` : "";
  throw new CliError(`--mapping-file: ${at}`, EXIT.usage, "write a list of rules as in the documentation of sign-in");
}

export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${source} is not JSON`, EXIT.usage, "check its brackets and commas");
  }
}

interface DeleteOptions extends Proof {
  readonly yes?: boolean;
}

export async function deleteProviders(
  session: Session,
  texts: readonly string[],
  options: DeleteOptions,
  output: Output,
): Promise<void> {
  const rows: IdentityProvider[] = [];
  for (const text of texts) rows.push(await findProvider(session.client, text));
  let proven: Client | undefined;
  const deletion = {
    noun: "identity provider",
    prefix: "idp",
    kind: "IdentityProviderDelete",
    ids: rows.map(({ id }) => id),
    question: (named: string) => `Delete identity provider ${named} with its links to accounts`,
    loadName: async (id: number) => rows.find((row) => row.id === id)?.slug ?? "",
    async remove(id: number) {
      proven ??= await openProven(session, options);
      await proven.call(identityProviderDelete, { params: { id } });
    },
  };
  await deleteEach(deletion, options.yes, output);
}

const TOKEN: Shape<{ readonly token: string }> = { kind: "ScimToken", columns: [plain("TOKEN", "token")] };

export interface ScimTokenOptions extends Proof {
  readonly end?: boolean;
}

/** Prints a new token of the directory, once, or ends all of them. */
export async function changeScimToken(
  session: Session,
  text: string,
  options: ScimTokenOptions,
  output: Output,
): Promise<void> {
  const { id, slug } = await findProvider(session.client, text);
  const proven = await openProven(session, options);
  const params = { id };
  if (options.end) {
    await proven.call(identityProviderScimTokenDelete, { params });
    return printDone(output, { id }, `All tokens of the directory of ${slug} have ended.`);
  }
  const { data } = await proven.call(identityProviderScimToken, { params });
  output.note(
    `Enter it in the directory, for the address ${session.profile.server}/scim/v2/${slug}. It is never shown again.`,
  );
  await printBare(output, data.token, data, TOKEN);
}

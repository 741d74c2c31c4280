import { identityProviderGet, identityProviderList, type Client, type IdentityProvider } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printList, printOne, type Output, type Shape } from "../../print/output.ts";

const yesNo = (is: boolean) => (is ? "yes" : "no");

/** How identity providers are printed. */
export const PROVIDERS: Shape<IdentityProvider> = {
  kind: "IdentityProvider",
  columns: [
    number("ID", "id"),
    plain("SLUG", "slug"),
    plain("NAME", "name"),
    { title: "STATUS", value: ({ status }) => (status === 1 ? "on" : "off") },
    plain("ISSUER", "issuer"),
    { title: "DOMAINS", value: ({ domains }) => domains.join(",") },
    { title: "ENFORCED", value: ({ enforced }) => yesNo(enforced) },
  ],
  wide: [
    plain("CLIENT", "client_id"),
    plain("JIT", "jit"),
    { title: "RULES", value: ({ mapping }) => String(mapping.length) },
    plain("MFA", "mfa"),
    { title: "DIRECTORY TOKENS", value: ({ scim_tokens: tokens }) => String(tokens.length) },
    time("CREATED", "created_at"),
  ],
  name: ({ slug }) => `idp/${slug}`,
};

/** Returns the provider of an id, of a slug or of `idp/acme`. */
export async function findProvider(client: Pick<Client, "call">, text: string): Promise<IdentityProvider> {
  const name = text.replace(/^idp\//, "");
  if (/^\d+$/.test(name)) return (await client.call(identityProviderGet, { params: { id: Number(name) } })).data;
  const rows = (await client.call(identityProviderList, {})).data;
  const row = rows.find(({ slug }) => slug === name);
  if (!row) throw new CliError(`there is no identity provider ${name}`, EXIT.notFound, "`fairway idp list` lists them");
  return row;
}

export async function listProviders(client: Client, output: Output): Promise<void> {
  const rows = (await client.call(identityProviderList, {})).data;
  const empty = "No identity providers. Add one: fairway idp create --help";
  await printList(output, { ...PROVIDERS, rows, empty });
}

export async function getProvider(client: Client, text: string, output: Output): Promise<void> {
  await printOne(output, await findProvider(client, text), { shape: PROVIDERS });
}

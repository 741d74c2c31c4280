// user:password@protocol(address)/name?parameters; the password may contain any character, so the last @ counts.
const DSN =
  /^(?:(?<user>[^:@]*)(?::(?<password>.*))?@)?(?:(?<network>tcp|unix)\((?<address>[^)]*)\))?\/(?<name>[^?/]+)(?:\?(?<query>.*))?$/;

const SSL_MODES: Readonly<Record<string, string>> = { true: "verify-identity", "skip-verify": "required" };

/**
 * Converts a data source name of Go's MySQL driver to a URL. Other texts are returned unchanged; `local` means the
 * embedded database, for which it returns undefined.
 */
export function toDatabaseUrl(text: string): string | undefined {
  if (text === "local" || text.startsWith("local?")) return undefined;
  const parts = /^\w+:\/\//.test(text) ? undefined : DSN.exec(text)?.groups;
  if (!parts) return text;
  const parameters = new URLSearchParams({ "ssl-mode": sslMode(parts["query"]) });
  if (parts["network"] === "unix") parameters.set("socket", parts["address"] ?? "");
  const account = `${encoded(parts["user"])}:${encoded(parts["password"])}`;
  return `mysql://${account}@${resolveHost(parts["network"], parts["address"])}/${parts["name"]}?${parameters.toString()}`;
}

function resolveHost(network: string | undefined, address: string | undefined): string {
  if (network === "unix") return "localhost";
  return address === undefined || address === "" ? "127.0.0.1:3306" : address;
}

function sslMode(query: string | undefined): string {
  return SSL_MODES[new URLSearchParams(query).get("tls") ?? ""] ?? "disabled";
}

function encoded(text: string | undefined): string {
  return encodeURIComponent(text ?? "");
}

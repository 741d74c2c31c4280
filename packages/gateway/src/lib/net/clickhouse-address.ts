/** What a URL of ClickHouse names. */
interface ClickhouseAddress {
  /** `http://host:8123` or `https://host:8443`. */
  readonly origin: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

const PORTS = { http: 8123, https: 8443 } as const;

export function isClickhouseUrl(text: string): boolean {
  return text.startsWith("clickhouse:");
}

/** Reads `clickhouse://user:password@host:8123/database?tls=true`. Throws an error that says what is wrong. */
export function readClickhouseAddress(text: string): ClickhouseAddress {
  const url = URL.parse(text);
  const database = url ? readDatabase(url) : undefined;
  if (!url || database === undefined)
    throw new Error(
      "give clickhouse://user:password@host:8123/name, the port of the HTTP interface, special characters of the password percent-encoded",
    );
  const scheme = readScheme(url);
  return {
    origin: `${scheme}://${url.hostname}:${url.port === "" ? PORTS[scheme] : url.port}`,
    username: decodeURIComponent(url.username) || "default",
    password: decodeURIComponent(url.password),
    database,
  };
}

/** Returns undefined if the URL names no host, or not one database. */
function readDatabase({ protocol, hostname, pathname }: URL): string | undefined {
  if (protocol !== "clickhouse:" || hostname === "") return undefined;
  const name = decodeURIComponent(pathname.slice(1));
  return name === "" || name.includes("/") ? undefined : name;
}

function readScheme({ searchParams }: URL): keyof typeof PORTS {
  const unknown = [...searchParams.keys()].find((name) => name !== "tls");
  if (unknown !== undefined) throw new Error(`its parameter ${unknown} is none: the only one is tls`);
  const tls = searchParams.get("tls") ?? "false";
  if (tls !== "true" && tls !== "false") throw new Error("its parameter tls is true or false");
  return tls === "true" ? "https" : "http";
}

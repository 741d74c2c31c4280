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
  const database = url && decodeURIComponent(url.pathname.slice(1));
  if (!url || url.protocol !== "clickhouse:" || url.hostname === "" || !database || database.includes("/"))
    throw new Error(
      "give clickhouse://user:password@host:8123/name, the port of the HTTP interface, special characters of the password percent-encoded",
    );
  const unknown = [...url.searchParams.keys()].find((name) => name !== "tls");
  if (unknown !== undefined) throw new Error(`its parameter ${unknown} is none: the only one is tls`);
  const tls = url.searchParams.get("tls") ?? "false";
  if (tls !== "true" && tls !== "false") throw new Error("its parameter tls is true or false");
  const scheme = tls === "true" ? "https" : "http";
  return {
    origin: `${scheme}://${url.hostname}:${url.port === "" ? PORTS[scheme] : url.port}`,
    username: decodeURIComponent(url.username) || "default",
    password: decodeURIComponent(url.password),
    database,
  };
}

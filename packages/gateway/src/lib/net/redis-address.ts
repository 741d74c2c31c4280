/** Where Redis is: one server by its URL, or sentinels that know which of several is the primary. */
export type RedisAddress = { readonly url: string } | { readonly sentinels: SentinelAddress };

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface Login {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export interface SentinelAddress {
  readonly hosts: readonly HostPort[];
  /** Name of the group of servers that the sentinels watch. */
  readonly master: string;
  readonly db: number;
  /** For the primary. */
  readonly redis: Login;
  /** For the sentinels. */
  readonly sentinel: Login;
  /** Both speak TLS. */
  readonly isTls: boolean;
}

const SENTINEL_PORT = 26_379;
const FORMS =
  "give redis://:password@host:6379/0, rediss:// for TLS, or redis+sentinel://:password@host:26379,host:26379/0?master=name";
const DATABASE = "the path is the number of the database, such as /0";
const SENTINEL_URL = /^redis(s?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const QUERY = ["master", "sentinel_username", "sentinel_password"];

/** Throws an Error that names what is wrong and shows nothing of the text: it holds passwords. */
export function readRedisAddress(text: string): RedisAddress {
  if (/^rediss?\+sentinel:/.test(text)) return { sentinels: readSentinels(text) };
  const url = URL.parse(text);
  if (!url || !/^rediss?:$/.test(url.protocol)) throw new Error(FORMS);
  if (!/^(?:\/\d*)?$/.test(url.pathname)) throw new Error(DATABASE);
  return { url: text };
}

function readSentinels(text: string): SentinelAddress {
  const [, tls, user = "", hosts = "", db = "", query = ""] = SENTINEL_URL.exec(text) ?? [];
  if (hosts === "") throw new Error(FORMS);
  if (!/^\d*$/.test(db)) throw new Error(DATABASE);
  const given = readQuery(query);
  const master = given.get("master") ?? "";
  if (master === "") throw new Error("name the group of servers that the sentinels watch: ?master=name");
  const colon = user.indexOf(":");
  return {
    hosts: hosts.split(",").map(readHost),
    master,
    db: Number(db),
    redis: {
      username: decoded(colon < 0 ? user : user.slice(0, colon)),
      password: colon < 0 ? undefined : decoded(user.slice(colon + 1)),
    },
    sentinel: { username: given.get("sentinel_username"), password: given.get("sentinel_password") },
    isTls: tls === "s",
  };
}

function readHost(text: string): HostPort {
  const url = URL.parse(`redis://${text}`);
  if (!url || url.hostname === "") throw new Error("separate the hosts of the sentinels by commas, each host:port");
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port === "" ? SENTINEL_PORT : Number(url.port) };
}

/** A plus stays one: passwords have it, and nothing here has spaces. */
function readQuery(query: string): ReadonlyMap<string, string | undefined> {
  const pairs = query.split("&").filter((part) => part !== "");
  return new Map(
    pairs.map((part) => {
      const [name = "", ...value] = part.split("=");
      if (!QUERY.includes(name)) throw new Error(`after the question mark may stand ${QUERY.join(", ")} only`);
      return [name, decoded(value.join("="))];
    }),
  );
}

/** Undefined = not given. */
function decoded(text: string): string | undefined {
  try {
    return text === "" ? undefined : decodeURIComponent(text);
  } catch {
    throw new Error("a % in a name or password is written %25");
  }
}

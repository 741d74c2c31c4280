import { decodePercent } from "../text/percent-encoding.ts";

/** The location of Redis: one server by its URL, sentinels that know the current primary, or nodes of a cluster. */
export type RedisAddress =
  | { readonly url: string }
  | { readonly sentinels: SentinelAddress }
  | { readonly cluster: ClusterAddress };

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
  /** The name of the server group that the sentinels monitor. */
  readonly master: string;
  readonly db: number;
  /** For the primary. */
  readonly redis: Login;
  /** For the sentinels. */
  readonly sentinel: Login;
  /** Both use TLS. */
  readonly isTls: boolean;
}

/** Some nodes of a Redis Cluster; they name the others. */
export interface ClusterAddress {
  readonly hosts: readonly HostPort[];
  /** For all nodes. */
  readonly redis: Login;
  readonly isTls: boolean;
}

const SENTINEL_PORT = 26_379;
const NODE_PORT = 6_379;
const FORMS =
  "give redis://:password@host:6379/0, rediss:// for TLS, redis+sentinel://:password@host:26379,host:26379/0?master=name, or redis+cluster://:password@host:6379,host:6379";
const DATABASE = "the path is the number of the database, such as /0";
const SENTINEL_URL = /^redis(s?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const CLUSTER_URL = /^redis(s?)\+cluster:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^/?#]*))?$/;
const QUERY = ["master", "sentinel_username", "sentinel_password"];

/** Parses an address. Throws an Error that names the fault but shows nothing of the text, which contains passwords. */
export function readRedisAddress(text: string): RedisAddress {
  if (/^rediss?\+sentinel:/.test(text)) return { sentinels: readSentinels(text) };
  if (/^rediss?\+cluster:/.test(text)) return { cluster: readCluster(text) };
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
  return {
    hosts: readHosts(hosts, "sentinels", SENTINEL_PORT),
    master,
    db: Number(db),
    redis: readLogin(user),
    sentinel: { username: given.get("sentinel_username"), password: given.get("sentinel_password") },
    isTls: tls === "s",
  };
}

function readCluster(text: string): ClusterAddress {
  const [, tls, user = "", hosts = "", db = ""] = CLUSTER_URL.exec(text) ?? [];
  if (hosts === "") throw new Error(FORMS);
  if (!/^0?$/.test(db)) throw new Error("a Redis Cluster has database 0 only: leave the path away");
  return { hosts: readHosts(hosts, "nodes", NODE_PORT), redis: readLogin(user), isTls: tls === "s" };
}

function readHosts(text: string, what: string, defaultPort: number): HostPort[] {
  return text.split(",").map((one) => {
    const url = URL.parse(`redis://${one}`);
    if (!url || url.hostname === "") throw new Error(`separate the hosts of the ${what} by commas, each host:port`);
    return { host: url.hostname.replace(/^\[|\]$/g, ""), port: url.port === "" ? defaultPort : Number(url.port) };
  });
}

function readLogin(user: string): Login {
  const colon = user.indexOf(":");
  return {
    username: decoded(colon < 0 ? user : user.slice(0, colon)),
    password: colon < 0 ? undefined : decoded(user.slice(colon + 1)),
  };
}

/** Parses a query. A plus remains a plus, because passwords contain it and no value has spaces. */
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

/** Returns the decoded text; undefined if it is absent. */
function decoded(text: string): string | undefined {
  if (text === "") return undefined;
  const plain = decodePercent(text);
  if (plain === undefined) throw new Error("a % in a name or password is written %25");
  return plain;
}

import { toDatabaseUrl } from "./go-dsn.ts";

/** Names of the same settings in compatible gateways, so that switching only needs another image. */

export interface Alias {
  readonly name: string;
  /** The name in this gateway; absent if there is nothing to set. */
  readonly variable?: string;
  /** The difference. */
  readonly about: string;
  /**
   * Returns the text for this gateway's variable; undefined leaves it unset. `others` are all variables of the process.
   */
  readonly translate?: (text: string, others: Readonly<Record<string, string | undefined>>) => string | undefined;
}

export const ALIASES: readonly Alias[] = [
  ...["FAIRWAY_HTTPS_PROXY", "FAIRWAY_HTTP_PROXY", "FAIRWAY_NO_PROXY"].flatMap(listProxyNames),
  { name: "PORT", variable: "FAIRWAY_PORT", about: "the same" },
  {
    name: "SQL_DSN",
    variable: "FAIRWAY_DATABASE_URL",
    about: "Go form user:password@tcp(host:port)/name, postgres:// URL, or local",
    translate: toDatabaseUrl,
  },
  {
    name: "SQLITE_PATH",
    variable: "FAIRWAY_DATABASE_URL",
    about: "a file path",
    translate: (path) => `sqlite:${path.split("?")[0]}`,
  },
  { name: "LOG_SQL_DSN", variable: "FAIRWAY_LOG_DATABASE_URL", about: "as SQL_DSN", translate: toDatabaseUrl },
  { name: "SQL_MAX_OPEN_CONNS", variable: "FAIRWAY_DATABASE_CONNECTIONS", about: "the same" },
  {
    name: "REDIS_CONN_STRING",
    variable: "FAIRWAY_REDIS_URL",
    about: "the same; with REDIS_MASTER_NAME the sentinels, host:port,host:port",
    translate: buildRedisUrl,
  },
  { name: "REDIS_MASTER_NAME", about: "read with REDIS_CONN_STRING: the group that its sentinels watch" },
  { name: "REDIS_PASSWORD", about: "read with REDIS_MASTER_NAME: the password of that Redis" },
  { name: "SESSION_SECRET", variable: "FAIRWAY_SESSION_SECRET", about: "the same" },
  { name: "CRYPTO_SECRET", variable: "FAIRWAY_ENCRYPTION_KEY", about: "the same" },
  { name: "SESSION_SECRET", variable: "FAIRWAY_ENCRYPTION_KEY", about: "when CRYPTO_SECRET is absent" },
  { name: "TRUSTED_PROXIES", variable: "FAIRWAY_TRUSTED_PROXIES", about: "the same" },
  {
    name: "MAX_REQUEST_BODY_MB",
    variable: "FAIRWAY_MAX_BODY_BYTES",
    about: "in MiB",
    translate: (mib) => multiply(mib, 1_048_576),
  },
  {
    name: "DEBUG",
    variable: "FAIRWAY_LOG_LEVEL",
    about: "true means debug",
    translate: (text) => (text === "true" ? "debug" : undefined),
  },
  {
    name: "NODE_TYPE",
    variable: "FAIRWAY_MIGRATE",
    about: "slave means wait",
    translate: (text) => (text === "slave" ? "wait" : undefined),
  },
  { name: "OTEL_EXPORTER_OTLP_ENDPOINT", variable: "FAIRWAY_OTLP_ENDPOINT", about: "the same; over HTTP alone" },
  { name: "OTEL_EXPORTER_OTLP_HEADERS", variable: "FAIRWAY_OTLP_HEADERS", about: "the same" },
  { name: "OTEL_SERVICE_NAME", variable: "FAIRWAY_TRACE_SERVICE", about: "the same" },
  { name: "OTEL_RESOURCE_ATTRIBUTES", variable: "FAIRWAY_TRACE_ATTRIBUTES", about: "the same" },
  {
    name: "OTEL_TRACES_SAMPLER_ARG",
    variable: "FAIRWAY_TRACE_SAMPLE",
    about: "the same, if OTEL_TRACES_SAMPLER is a ratio",
    translate: (text, others) => (others["OTEL_TRACES_SAMPLER"]?.endsWith("traceidratio") === true ? text : undefined),
  },
  { name: "NODE_NAME", variable: "FAIRWAY_INSTANCE_ID", about: "the same" },
  { name: "POD_NAME", variable: "FAIRWAY_INSTANCE_ID", about: "the same" },
  {
    name: "GLOBAL_API_RATE_LIMIT_ENABLE",
    variable: "FAIRWAY_LIMIT_API",
    about: "false means off",
    translate: offWhenFalse,
  },
  {
    name: "GLOBAL_API_RATE_LIMIT",
    variable: "FAIRWAY_LIMIT_API",
    about: "the count",
    translate: createRateTranslator("GLOBAL_API_RATE_LIMIT_DURATION", "180"),
  },
  {
    name: "GLOBAL_API_RATE_LIMIT_DURATION",
    variable: "FAIRWAY_LIMIT_API",
    about: "the seconds of GLOBAL_API_RATE_LIMIT",
    translate: (seconds) => `180/${seconds}`,
  },
  {
    name: "GLOBAL_WEB_RATE_LIMIT_ENABLE",
    variable: "FAIRWAY_LIMIT_WEB",
    about: "false means off",
    translate: offWhenFalse,
  },
  {
    name: "GLOBAL_WEB_RATE_LIMIT",
    variable: "FAIRWAY_LIMIT_WEB",
    about: "the count",
    translate: createRateTranslator("GLOBAL_WEB_RATE_LIMIT_DURATION", "180"),
  },
  {
    name: "GLOBAL_WEB_RATE_LIMIT_DURATION",
    variable: "FAIRWAY_LIMIT_WEB",
    about: "the seconds of GLOBAL_WEB_RATE_LIMIT",
    translate: (seconds) => `60/${seconds}`,
  },
  {
    name: "CRITICAL_RATE_LIMIT_ENABLE",
    variable: "FAIRWAY_LIMIT_CRITICAL",
    about: "false means off",
    translate: offWhenFalse,
  },
  {
    name: "CRITICAL_RATE_LIMIT",
    variable: "FAIRWAY_LIMIT_CRITICAL",
    about: "the count",
    translate: createRateTranslator("CRITICAL_RATE_LIMIT_DURATION", "1200"),
  },
  {
    name: "CRITICAL_RATE_LIMIT_DURATION",
    variable: "FAIRWAY_LIMIT_CRITICAL",
    about: "the seconds of CRITICAL_RATE_LIMIT",
    translate: (seconds) => `20/${seconds}`,
  },
  { name: "MAX_USER_TOKENS", variable: "FAIRWAY_MAX_USER_TOKENS", about: "the same" },
  { name: "GENERATE_DEFAULT_TOKEN", variable: "FAIRWAY_GENERATE_DEFAULT_TOKEN", about: "the same" },
  { name: "CHANNEL_TEST_FREQUENCY", variable: "FAIRWAY_CHANNEL_TEST_FREQUENCY", about: "the same" },
  { name: "CHANNEL_UPDATE_FREQUENCY", variable: "FAIRWAY_CHANNEL_UPDATE_FREQUENCY", about: "the same" },
  { name: "POLLING_INTERVAL", variable: "FAIRWAY_POLLING_INTERVAL", about: "the same" },
  { name: "UPDATE_TASK", variable: "FAIRWAY_UPDATE_TASKS", about: "the same" },
  {
    name: "RELAY_TIMEOUT",
    variable: "FAIRWAY_HEADER_TIMEOUT_MS",
    about: "in seconds; 0 keeps the default",
    translate: (text) => (text === "0" ? undefined : multiply(text, 1_000)),
  },
  {
    name: "STREAMING_TIMEOUT",
    variable: "FAIRWAY_STREAM_IDLE_TIMEOUT_MS",
    about: "in seconds",
    translate: (text) => multiply(text, 1_000),
  },
  { name: "RETRY_TOTAL_SECONDS", variable: "FAIRWAY_RETRY_TOTAL_SECONDS", about: "the same" },
  { name: "SHUTDOWN_TIMEOUT_SECONDS", variable: "FAIRWAY_DRAIN_SECONDS", about: "the same" },
  { name: "SYNC_FREQUENCY", about: "changes are seen within seconds without it" },
  { name: "MEMORY_CACHE_ENABLED", about: "channels and options are always cached in memory" },
  { name: "BATCH_UPDATE_ENABLED", about: "charges are never held back" },
  { name: "BATCH_UPDATE_INTERVAL", about: "charges are never held back" },
];

/** Most programs read these names, in either case; curl prefers the small letters. */
function listProxyNames(variable: string): Alias[] {
  const name = variable.replace("FAIRWAY_", "");
  return [name.toLowerCase(), name].map((alias) => ({ name: alias, variable, about: "the same" }));
}

function buildRedisUrl(text: string, others: Readonly<Record<string, string | undefined>>): string {
  const { REDIS_MASTER_NAME: master, REDIS_PASSWORD: password } = others;
  if (!master) return text;
  const login = password ? `:${encodeURIComponent(password)}@` : "";
  return `redis+sentinel://${login}${text}/0?master=${encodeURIComponent(master)}`;
}

function offWhenFalse(text: string): string | undefined {
  return text === "false" ? "off" : undefined;
}

function createRateTranslator(duration: string, fallback: string): NonNullable<Alias["translate"]> {
  return (count, others) => `${count}/${others[duration] || fallback}`;
}

/** Multiplies a whole number; leaves any other text unchanged, for the parser to refuse. */
function multiply(text: string, factor: number): string {
  return /^\d+$/.test(text) ? String(Number(text) * factor) : text;
}

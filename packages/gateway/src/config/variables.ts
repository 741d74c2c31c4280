import { encryptionKeys } from "./encryption-keys.ts";
import * as parse from "./parsers.ts";
import { define, type Variable } from "./variable.ts";
import { FIRST_START_VARIABLES } from "./first-start-variables.ts";
import { KUBERNETES_VARIABLES } from "./kubernetes-variables.ts";
import { LIMIT_VARIABLES } from "./limit-variables.ts";
import { LOG_EXPORT_VARIABLES } from "./log-export-variables.ts";
import { NETWORK_VARIABLES } from "./network-variables.ts";
import { PROCESS_VARIABLES } from "./process-variables.ts";
import { STORE_VARIABLES } from "./store-variables.ts";
import { TRACE_VARIABLES } from "./trace-variables.ts";

export type { Variable };

const MINUTES_PER_YEAR = 525_600;
const MS_PER_DAY = 86_400_000;

/** Every variable of the gateway, by its name in `Env`. */
export const VARIABLES = {
  host: define({
    name: "FAIRWAY_HOST",
    about: "Address that the gateway listens on. Beyond loopback the default password of the first account is refused.",
    fallback: "127.0.0.1",
    example: "0.0.0.0",
    parse: parse.text,
  }),
  port: define({
    name: "FAIRWAY_PORT",
    about: "Port of the gateway; 0 takes any free one.",
    fallback: "3000",
    example: "8080",
    parse: parse.portNumber,
  }),
  adminHost: define({
    name: "FAIRWAY_ADMIN_HOST",
    about: "Address of the second listener: probes and metrics. Blank means FAIRWAY_HOST.",
    fallback: "",
    example: "0.0.0.0",
    parse: parse.text,
  }),
  adminPort: define({
    name: "FAIRWAY_ADMIN_PORT",
    about: "Port of the second listener; 0 takes any free one, off opens none.",
    fallback: "9090",
    example: "off",
    parse: parse.portOrOff,
  }),
  dataDir: define({
    name: "FAIRWAY_DATA_DIR",
    about: "Folder of the embedded database, of the generated key and of the journal.",
    fallback: ".fairway",
    example: "/var/lib/fairway",
    parse: parse.text,
  }),
  consoleProgress: define({
    name: "FAIRWAY_CONSOLE_PROGRESS",
    about:
      "File with the progress of the console's first build, which pages show until the console is there. npm start sets it.",
    fallback: "",
    example: "/var/lib/fairway/build-progress.txt",
    parse: parse.optional(parse.text),
  }),
  ...STORE_VARIABLES,
  publicUrl: define({
    name: "FAIRWAY_PUBLIC_URL",
    about: "Address under which users reach the gateway, until the option ServerAddress is set.",
    fallback: "",
    example: "https://ai.example.com",
    parse: parse.optional(parse.webAddress),
  }),
  rootPassword: define({
    name: "FAIRWAY_ROOT_PASSWORD",
    about: "Password of the account root at the first start; at least 8 characters.",
    fallback: "",
    example: "correct-horse-battery",
    parse: parse.optional(parse.secret(8)),
    isSecret: true,
  }),
  sessionSecret: define({
    name: "FAIRWAY_SESSION_SECRET",
    about:
      "Keys the hashes of one-time codes; at least 16 characters. If blank, one is generated once and stored in the database.",
    fallback: "",
    example: "openssl rand -hex 32",
    parse: parse.optional(parse.sessionSecret),
    isSecret: true,
  }),
  encryptionKeys: define({
    name: "FAIRWAY_ENCRYPTION_KEY",
    about:
      "Seals upstream keys, tokens and secret options in the database: one secret, or id:KEY pairs separated by commas, newest first, where the last may be a secret. The last one also finds tokens by their hash, so it stays. A passphrase is derived slowly. Blank makes a key file in FAIRWAY_DATA_DIR when the database is SQLite.",
    fallback: "",
    example: "2026b:5Yw…=,2026a:n0T…=",
    parse: parse.optional(encryptionKeys),
    isSecret: true,
  }),
  trustedProxies: define({
    name: "FAIRWAY_TRUSTED_PROXIES",
    about: "Addresses and networks whose X-Forwarded-For and X-Forwarded-Proto are believed.",
    fallback: "",
    example: "10.0.0.0/8,2001:db8::/32",
    parse: parse.networks,
  }),
  maxBodyBytes: define({
    name: "FAIRWAY_MAX_BODY_BYTES",
    about: "Largest JSON body of a relayed request.",
    fallback: "33554432",
    example: "67108864",
    parse: parse.integer(1_024, 1_073_741_824),
  }),
  maxJsonBytes: define({
    name: "FAIRWAY_MAX_JSON_BYTES",
    about: "Largest JSON of a relayed request after decompression, without inline files (long Base64 texts).",
    fallback: "8388608",
    example: "16777216",
    parse: parse.integer(1_024, 1_073_741_824),
  }),
  bodyMemoryBytes: define({
    name: "FAIRWAY_BODY_MEMORY_BYTES",
    about:
      "Memory that the bodies of requests under way may take together; further bodies are answered 503 with Retry-After. 0 = a quarter of the heap.",
    fallback: "0",
    example: "268435456",
    parse: parse.integer(0, 1_099_511_627_776),
  }),
  maxInflight: define({
    name: "FAIRWAY_MAX_INFLIGHT",
    about: "Relayed requests under way at once; more are answered 503. 0 = no limit.",
    fallback: "0",
    example: "2000",
    parse: parse.integer(0, 1_000_000),
  }),
  maxSockets: define({
    name: "FAIRWAY_MAX_SOCKETS",
    about: "Realtime sessions that are open at once; more are answered 503. 0 = no limit.",
    fallback: "10000",
    example: "2000",
    parse: parse.integer(0, 1_000_000),
  }),
  logLevel: define({
    name: "FAIRWAY_LOG_LEVEL",
    about: "Least important lines that are written.",
    fallback: "info",
    example: "debug",
    parse: parse.createChoiceParser("debug", "info", "warn", "error", "off"),
  }),
  logFormat: define({
    name: "FAIRWAY_LOG_FORMAT",
    about: "Form of log lines; auto is text on a terminal and json elsewhere.",
    fallback: "auto",
    example: "json",
    parse: parse.createChoiceParser("auto", "json", "text"),
  }),
  ...PROCESS_VARIABLES,
  ...TRACE_VARIABLES,
  ...LOG_EXPORT_VARIABLES,
  ...NETWORK_VARIABLES,
  demo: define({
    name: "FAIRWAY_DEMO",
    about:
      "A channel and a key that answer before any provider is connected; auto makes them with SQLite on this machine, off removes them.",
    fallback: "auto",
    example: "off",
    parse: parse.createChoiceParser("auto", "on", "off"),
  }),
  ...FIRST_START_VARIABLES,
  ...KUBERNETES_VARIABLES,
  ...LIMIT_VARIABLES,
  maxUserTokens: define({
    name: "FAIRWAY_MAX_USER_TOKENS",
    about: "Most tokens of one user.",
    fallback: "1000",
    example: "50",
    parse: parse.integer(1, 1_000_000),
  }),
  secretsDir: define({
    name: "FAIRWAY_SECRETS_DIR",
    about:
      "Folder of secrets that documents may refer to: one folder for each mounted Secret, one file for each key. Variables that begin with FAIRWAY_SECRET_ may be referred to as well.",
    fallback: "",
    example: "/run/secrets/fairway",
    parse: parse.optional(parse.text),
  }),
  documentsDir: define({
    name: "FAIRWAY_DOCUMENTS_DIR",
    about:
      "Folder of documents, such as mounted ConfigMaps, that one replica applies within 15 seconds of a change; what no document describes any more is deleted.",
    fallback: "",
    example: "/documents",
    parse: parse.optional(parse.text),
  }),
  generateDefaultToken: define({
    name: "FAIRWAY_GENERATE_DEFAULT_TOKEN",
    about: "Gives every new user a token.",
    fallback: "false",
    example: "true",
    parse: parse.boolean,
  }),
  channelTestMinutes: define({
    name: "FAIRWAY_CHANNEL_TEST_FREQUENCY",
    about: "Minutes between tests of all channels; 0 = never.",
    fallback: "0",
    example: "60",
    parse: parse.integer(0, MINUTES_PER_YEAR),
  }),
  channelUpdateMinutes: define({
    name: "FAIRWAY_CHANNEL_UPDATE_FREQUENCY",
    about: "Minutes between readings of all upstream balances; 0 = never.",
    fallback: "0",
    example: "1440",
    parse: parse.integer(0, MINUTES_PER_YEAR),
  }),
  pollingSeconds: define({
    name: "FAIRWAY_POLLING_INTERVAL",
    about: "Seconds between two channels when all are tested.",
    fallback: "0",
    example: "2",
    parse: parse.decimal(0, 3_600),
  }),
  updateTasks: define({
    name: "FAIRWAY_UPDATE_TASKS",
    about: "Asks upstreams about drawings, songs and videos that are not finished.",
    fallback: "true",
    example: "false",
    parse: parse.boolean,
  }),
  blockPrivateUpstreams: define({
    name: "FAIRWAY_BLOCK_PRIVATE_UPSTREAMS",
    about: "Refuses channels whose address is in a private network.",
    fallback: "false",
    example: "true",
    parse: parse.boolean,
  }),
  allowLinkLocalUpstreams: define({
    name: "FAIRWAY_ALLOW_LINK_LOCAL_UPSTREAMS",
    about:
      "Lets channels reach link-local and metadata addresses such as 169.254.169.254, where clouds hand out the credentials of the machine.",
    fallback: "false",
    example: "true",
    parse: parse.boolean,
  }),
  requestTimeoutSeconds: define({
    name: "FAIRWAY_REQUEST_TIMEOUT_SECONDS",
    about: "Time for a whole request to arrive, its body included; the answer has no such limit. 0 = no limit.",
    fallback: "900",
    example: "300",
    parse: parse.integer(0, 86_400),
  }),
  maxConnectionsPerAddress: define({
    name: "FAIRWAY_MAX_CONNECTIONS_PER_ADDRESS",
    about: "Connections that one address may have open; trusted proxies have no limit. 0 = no limit.",
    fallback: "0",
    example: "200",
    parse: parse.integer(0, 1_000_000),
  }),
  connectTimeoutMs: define({
    name: "FAIRWAY_CONNECT_TIMEOUT_MS",
    about: "Time to connect to an upstream.",
    fallback: "10000",
    example: "5000",
    parse: parse.integer(1, MS_PER_DAY),
  }),
  headerTimeoutMs: define({
    name: "FAIRWAY_HEADER_TIMEOUT_MS",
    about: "Time until an upstream begins a plain answer.",
    fallback: "600000",
    example: "300000",
    parse: parse.integer(1, MS_PER_DAY),
  }),
  streamHeaderTimeoutMs: define({
    name: "FAIRWAY_STREAM_HEADER_TIMEOUT_MS",
    about: "Time until an upstream begins a streamed answer.",
    fallback: "120000",
    example: "60000",
    parse: parse.integer(1, MS_PER_DAY),
  }),
  streamIdleTimeoutMs: define({
    name: "FAIRWAY_STREAM_IDLE_TIMEOUT_MS",
    about: "Longest silence of an upstream inside an answer.",
    fallback: "300000",
    example: "60000",
    parse: parse.integer(1, MS_PER_DAY),
  }),
  contentTimeoutMs: define({
    name: "FAIRWAY_CONTENT_TIMEOUT_MS",
    about:
      "Timeout for the first content of an answer while the upstream sends only comments, blank lines and events that say nothing. Checked every ten seconds. Below FAIRWAY_RETRY_TOTAL_SECONDS, another channel may be tried.",
    fallback: "900000",
    example: "90000",
    parse: parse.integer(1, MS_PER_DAY),
  }),
  heartbeatMs: define({
    name: "FAIRWAY_HEARTBEAT_MS",
    about: "Silence after which a stream gets a keep-alive; 0 = none.",
    fallback: "15000",
    example: "10000",
    parse: parse.integer(0, MS_PER_DAY),
  }),
  retryTotalSeconds: define({
    name: "FAIRWAY_RETRY_TOTAL_SECONDS",
    about: "No further channel is tried when a request is older than this.",
    fallback: "120",
    example: "60",
    parse: parse.decimal(0, 86_400),
  }),
  githubUrl: define({
    name: "FAIRWAY_GITHUB_URL",
    about: "GitHub's address for signing in.",
    fallback: "https://github.com",
    example: "https://github.example.com",
    parse: parse.webAddress,
  }),
  githubApiUrl: define({
    name: "FAIRWAY_GITHUB_API_URL",
    about: "Address of GitHub's API.",
    fallback: "https://api.github.com",
    example: "https://github.example.com/api/v3",
    parse: parse.webAddress,
  }),
  linuxdoUrl: define({
    name: "FAIRWAY_LINUXDO_URL",
    about: "Address of LINUX DO for signing in.",
    fallback: "https://connect.linux.do",
    example: "http://127.0.0.1:9999",
    parse: parse.webAddress,
  }),
  turnstileUrl: define({
    name: "FAIRWAY_TURNSTILE_URL",
    about: "Address of the human check.",
    fallback: "https://challenges.cloudflare.com",
    example: "http://127.0.0.1:9999",
    parse: parse.webAddress,
  }),
} as const;

/** Names of the command line and of tests, which may be set in the same shell. */
export const NAMES_OF_OTHERS = new Set([
  "FAIRWAY_INSECURE_HTTP",
  "FAIRWAY_SERVER",
  "FAIRWAY_TOKEN",
  "FAIRWAY_USER_ID",
  "FAIRWAY_CONTEXT",
  "FAIRWAY_OUTPUT",
  "FAIRWAY_CONFIG",
  "FAIRWAY_REQUIRE_SERVICES",
]);
export const PREFIX_OF_TESTS = "FAIRWAY_TEST_";

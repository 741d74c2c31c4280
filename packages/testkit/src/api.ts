import { ROOT_PASSWORD } from "./gateway.ts";

/** The envelope of the management API, as received. */
export interface Answer<D = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly success: boolean;
  readonly message: string;
  readonly data: D;
}

/** A signed-in console session: it sends the session cookie and the user-id header with every call. */
export interface Session {
  readonly url: string;
  readonly userId: number;
  readonly headers: Readonly<Record<string, string>>;
  call<D = unknown>(method: string, path: string, body?: unknown): Promise<Answer<D>>;
  /** Works like `call`, but throws the message of a refusal; returns the data. */
  must<D = unknown>(method: string, path: string, body?: unknown): Promise<D>;
}

export interface ChannelInput {
  readonly name?: string;
  /** 1 = OpenAI. */
  readonly type?: number;
  readonly key?: string;
  readonly base_url: string;
  /** Comma-separated list. */
  readonly models: string;
  readonly group?: string;
  readonly [field: string]: unknown;
}

export interface TokenInput {
  readonly name?: string;
  readonly remain_quota?: number;
  readonly unlimited_quota?: boolean;
  readonly [field: string]: unknown;
}

export async function signIn(url: string, username = "root", password = ROOT_PASSWORD): Promise<Session> {
  const response = await fetch(`${url}/api/user/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username, password }),
  });
  const answer = await readAnswer<{ id: number }>(response);
  if (!answer.success) throw new Error(`sign-in of ${username} refused: ${answer.message}`);
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  return createSession(url, answer.data.id, { cookie, "New-Api-User": String(answer.data.id) });
}

/** The key that upstreams see unless a test sets another. */
export const UPSTREAM_KEY = "sk-fake-0123456789abcdef";

/** Creates a channel and returns its id. */
export async function createChannel(session: Session, input: ChannelInput): Promise<number> {
  const name = input.name ?? `channel-${Math.random().toString(36).slice(2)}`;
  await session.must("POST", "/api/channel/", { type: 1, key: UPSTREAM_KEY, group: "default", ...input, name });
  const found = await session.must<{ id: number; name: string }[]>(
    "GET",
    `/api/channel/search?keyword=${encodeURIComponent(name)}`,
  );
  const channel = found.find((candidate) => candidate.name === name);
  if (!channel) throw new Error(`the channel ${name} was not created`);
  return channel.id;
}

/** Creates a token and returns its secret key, including `sk-`. */
export async function createToken(session: Session, input: TokenInput = {}): Promise<string> {
  const token = await session.must<{ key: string }>("POST", "/api/token/", {
    name: "test",
    expired_time: -1,
    remain_quota: 0,
    unlimited_quota: true,
    model_limits_enabled: false,
    model_limits: "",
    allow_ips: "",
    group: "",
    ...input,
  });
  return `sk-${token.key}`;
}

/** Sets options of the system settings. */
export async function setOptions(session: Session, options: Readonly<Record<string, string>>): Promise<void> {
  for (const [key, value] of Object.entries(options)) await session.must("PUT", "/api/option/", { key, value });
}

/** Sets a price ratio for models, and leaves other models unchanged. */
export async function setModelRatios(session: Session, ratios: Readonly<Record<string, number>>): Promise<void> {
  const options = await session.must<{ key: string; value: string }[]>("GET", "/api/option/");
  const current = options.find((option) => option.key === "ModelRatio")?.value ?? "{}";
  const merged = { ...(JSON.parse(current) as Record<string, number>), ...ratios };
  await setOptions(session, { ModelRatio: JSON.stringify(merged) });
}

function createSession(url: string, userId: number, headers: Readonly<Record<string, string>>): Session {
  const call = async <D>(method: string, path: string, body?: unknown): Promise<Answer<D>> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return readAnswer<D>(response);
  };
  const must = async <D>(method: string, path: string, body?: unknown): Promise<D> => {
    const answer = await call<D>(method, path, body);
    if (!answer.success) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.message}`);
    return answer.data;
  };
  return { url, userId, headers, call, must };
}

async function readAnswer<D>(response: Response): Promise<Answer<D>> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  const envelope = isJson ? (JSON.parse(text) as Partial<Answer<D>>) : {};
  return {
    status: response.status,
    headers: response.headers,
    success: envelope.success ?? false,
    message: envelope.message ?? text.slice(0, 500),
    data: envelope.data as D,
  };
}

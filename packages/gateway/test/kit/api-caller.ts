import { request as httpRequest } from "node:http";
import { gunzipSync } from "node:zlib";

export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; an empty object when it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ApiRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
}

/** A client of the management API that keeps its cookie and names its user, over plain HTTP. */
export class ApiCaller {
  readonly #baseUrl: string;
  cookie = "";
  /** Marks of accounts that signed in here, as a browser keeps them. */
  readonly devices = new Map<string, string>();
  userId = 0;
  accessToken = "";

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  async signIn(username: string, password: string): Promise<ApiReply> {
    const reply = await this.post("/api/user/login", { username, password });
    const data = reply.body["data"] as { id: number } | undefined;
    if (!data) throw new Error(`sign-in of ${username} failed: ${reply.text}`);
    this.userId = data.id;
    return reply;
  }

  get = (path: string, headers?: Readonly<Record<string, string>>) =>
    this.call("GET", path, headers ? { headers } : {});
  post = (path: string, body: unknown) => this.call("POST", path, { body });
  put = (path: string, body: unknown) => this.call("PUT", path, { body });
  delete = (path: string) => this.call("DELETE", path, {});

  /** `data` of a call that must succeed. */
  async data<T>(reply: Promise<ApiReply>): Promise<T> {
    const { body, text } = await reply;
    if (body["success"] !== true) throw new Error(`the call was refused: ${text}`);
    return body["data"] as T;
  }

  call(method: string, path: string, { headers = {}, body }: ApiRequest): Promise<ApiReply> {
    const payload = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const sent: Record<string, string> = payload === undefined ? {} : { "content-type": "application/json" };
    const cookies = [this.cookie, ...[...this.devices].map(([name, value]) => `${name}=${value}`)];
    if (this.cookie !== "" || this.devices.size > 0) sent["cookie"] = cookies.filter(Boolean).join("; ");
    if (this.userId !== 0) sent["new-api-user"] = String(this.userId);
    if (this.accessToken !== "") sent["authorization"] = this.accessToken;
    Object.assign(sent, headers);
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(this.#baseUrl + path, { method, headers: sent, agent: false }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          this.#keepCookie(incoming.headers["set-cookie"]);
          const bytes = Buffer.concat(chunks);
          const text = (incoming.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parse(text) });
        });
      });
      outgoing.on("error", reject);
      outgoing.end(payload);
    });
  }

  #keepCookie(cookies: readonly string[] | undefined): void {
    for (const cookie of cookies ?? []) {
      const [pair = ""] = cookie.split(";");
      const [name = "", value = ""] = pair.split("=");
      if (name.includes("device-")) this.devices.set(name, value);
      else if (/^(__Host-)?session$/.test(name)) this.#keepSession(name, value);
    }
  }

  #keepSession(name: string, value: string): void {
    if (value !== "") this.cookie = `${name}=${value}`;
    else if (this.cookie.startsWith(`${name}=`)) this.cookie = "";
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

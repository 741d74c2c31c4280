import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface LogRecord {
  readonly timeUnixNano: string;
  readonly severityText: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface CollectorAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An OpenTelemetry collector that accepts logs over HTTP in JSON. */
export interface LogCollector {
  readonly url: string;
  /** Records of requests that were answered with 200. */
  readonly records: readonly LogRecord[];
  /** The value of `authorization` of the last request. */
  readonly authorization: string | undefined;
  readonly requests: number;
  /** Sets the answer that each request gets instead of 200. */
  answer(answer: CollectorAnswer | undefined): void;
  stop(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string; readonly boolValue?: boolean };
}

interface Sent {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly {
      readonly logRecords: readonly (Omit<LogRecord, "attributes"> & { readonly attributes: readonly Attribute[] })[];
    }[];
  }[];
}

export async function startLogCollector(): Promise<LogCollector> {
  const records: LogRecord[] = [];
  let answer: CollectorAnswer | undefined;
  let authorization: string | undefined;
  let requests = 0;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      requests += 1;
      authorization = request.headers.authorization;
      const { status, body, headers } = answer ?? { status: request.url === "/v1/logs" ? 200 : 404 };
      if (status === 200) records.push(...recordsIn(JSON.parse(text) as Sent));
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(body ?? "{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    records,
    get authorization() {
      return authorization;
    },
    get requests() {
      return requests;
    },
    answer: (next) => void (answer = next),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function recordsIn({ resourceLogs }: Sent): LogRecord[] {
  const sent = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
  return sent.map((record) => ({
    ...record,
    attributes: Object.fromEntries(record.attributes.map(({ key, value }) => [key, plain(value)])),
  }));
}

function plain({ stringValue, intValue, boolValue }: Attribute["value"]): string | number | boolean {
  return stringValue ?? boolValue ?? Number(intValue);
}

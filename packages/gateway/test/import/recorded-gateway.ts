// Gateways of other families that answer with given rows, in the pages of their family.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

type Row = Readonly<Record<string, unknown>>;

interface RecordedGateway {
  readonly address: string;
  /** Method, path with query and credentials of each call. */
  readonly seen: string[];
}

type Family = "one-api" | "new-api" | "one-hub";

const PAGE = 10;

/** Returns the page that compatible gateways return for these parameters. */
function cut(family: Family, rows: readonly Row[], query: URLSearchParams): unknown {
  const number = (name: string) => Number(query.get(name) ?? 0);
  if (family === "one-api") return rows.slice(number("p") * PAGE, (number("p") + 1) * PAGE);
  const at = Math.max(1, number(family === "new-api" ? "p" : "page")) - 1;
  const size = number(family === "new-api" ? "page_size" : "size") || PAGE;
  const some = rows.slice(at * size, (at + 1) * size);
  return family === "new-api"
    ? { items: some, total: rows.length, page: at + 1, page_size: size }
    : { data: some, total_count: rows.length, page: at + 1, size };
}

interface RecordedAnswers {
  readonly token: string;
  /** Rows of lists, by path. */
  readonly lists: Readonly<Record<string, readonly Row[]>>;
  /** Everything else, by path. */
  readonly answers: Readonly<Record<string, unknown>>;
}

/** Starts a gateway of a family until the end of the test. */
export function startFamily(family: Family, { token, lists, answers }: RecordedAnswers): Promise<RecordedGateway> {
  return serve((request, path, query) => {
    if (request.headers.authorization !== `Bearer ${token}`) return { success: false, message: "no such token" };
    const rows = lists[path];
    if (rows !== undefined) return { success: true, message: "", data: cut(family, rows, query) };
    return Object.hasOwn(answers, path) ? { success: true, message: "", data: answers[path] } : undefined;
  });
}

/** Starts a server whose answers are those of the table, as they are. */
export function startPlain(answers: (path: string, query: URLSearchParams, key: string) => unknown) {
  return serve((request, path, query) => answers(path, query, request.headers.authorization ?? ""));
}

async function serve(
  answer: (request: IncomingMessage, path: string, query: URLSearchParams) => unknown,
): Promise<RecordedGateway> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://gateway.test");
    seen.push(`${request.method} ${request.url} ${String(request.headers["new-api-user"] ?? "")}`);
    const body = answer(request, pathname, searchParams);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { error: "not found" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

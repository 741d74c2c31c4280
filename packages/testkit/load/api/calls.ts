import { runSql } from "../../src/sql.ts";

/** Targets of the p95 by kind of call, in milliseconds; undefined means that it is only shown. */
export const TARGETS = { list: 200, day: 300, channels: 100, other: undefined } as const;

export interface ApiCall {
  readonly name: string;
  readonly kind: keyof typeof TARGETS;
  readonly by: "root" | "user";
  /** Changes with each turn, so that no answer comes from a cache. */
  path(turn: number): string;
}

/** The contents of a seeded database that calls refer to. */
export interface Contents {
  readonly logs: number;
  readonly channels: number;
  readonly firstLog: number;
  /** Epoch seconds of the newest row. */
  readonly until: number;
  readonly days: number;
  readonly users: readonly { readonly name: string; readonly firstLog: number }[];
  readonly tokens: readonly string[];
  readonly models: readonly string[];
  readonly channelIds: readonly number[];
  readonly requestIds: readonly string[];
}

const DAY = 86_400;
const SOME = 40;

/** Reads names from all parts of the tables: busy and quiet users. */
export async function readContents(url: string): Promise<Contents> {
  const ask = async (sql: string) => (await runSql(url, sql)).map((row) => Object.values(row));
  const [ends = []] = await ask(
    "select min(id) as a, max(id) as b, min(created_at) as c, max(created_at) as d from logs",
  );
  const [firstLog = 0, lastLog = 0, from = 0, until = 0] = ends.map(Number);
  const [counts = []] = await ask("select count(*) from channels");
  const users = await ask(`select username, id from users where role = 1 order by id limit ${SOME}`);
  // These run one after the other, because on PostgreSQL each locks all partitions.
  const firsts = await inTurn(users, async ([name, id]) => {
    const [row = []] = await ask(
      `select id from logs where user_id = ${Number(id)} order by created_at, id limit 1 offset 20`,
    );
    return { name: String(name), firstLog: Number(row[0] ?? lastLog) };
  });
  const tokens = await ask(`select name from tokens order by id limit ${SOME}`);
  const channels = await ask(`select id from channels order by used_quota desc limit ${SOME}`);
  const models = await ask(`select distinct model_name from quota_data where created_at > ${until - 2 * DAY}`);
  const requestIds = await inTurn(Array.from({ length: SOME }).keys().toArray(), async (at) => {
    const id = firstLog + Math.floor(((lastLog - firstLog) * at) / SOME);
    const [row = [""]] = await ask(`select request_id from logs where id = ${id}`);
    return String(row[0]);
  });
  return {
    logs: lastLog - firstLog + 1,
    channels: Number(counts[0] ?? 0),
    firstLog,
    until,
    days: Math.max(1, Math.floor((until - from) / DAY)),
    users: firsts,
    tokens: tokens.map(([name]) => String(name)),
    models: models.map(([name]) => String(name)),
    channelIds: channels.map(([id]) => Number(id)),
    requestIds,
  };
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Every call of the bench, in the order of the report. */
export function apiCalls(contents: Contents): ApiCall[] {
  return [...listCalls(contents), ...ownCalls(contents), ...statisticsCalls(contents), ...channelCalls(contents)];
}

function listCalls(contents: Contents): ApiCall[] {
  const { users, tokens, models, channelIds, requestIds } = contents;
  const list = (name: string, query: (turn: number) => string): ApiCall => {
    return { name, kind: "list", by: "root", path: (turn) => `/api/log/?page_size=20&${query(turn)}` };
  };
  return [
    list("first page", () => "p=1"),
    list("page 50 by number", () => "p=50"),
    list("last page by cursor", (turn) => `before=${contents.firstLog + 20 + turn}`),
    list("a user", (turn) => `p=1&username=${pick(users, turn).name}`),
    list("a user, last page by cursor", (turn) => {
      const { name, firstLog } = pick(users, turn);
      return `before=${firstLog}&username=${name}`;
    }),
    list("a token", (turn) => `p=1&token_name=${pick(tokens, turn)}`),
    list("a model in a day", (turn) => `p=1&model_name=${pick(models, turn)}&${buildDayQuery(contents, turn)}`),
    list("models by wildcard in a day", (turn) => `p=1&model_name=gpt%25&${buildDayQuery(contents, turn)}`),
    list("a channel", (turn) => `p=1&channel=${pick(channelIds, turn)}`),
    list("a group in a day", (turn) => `p=1&group=vip&${buildDayQuery(contents, turn)}`),
    list("errors", () => "p=1&type=5"),
    list("consumption of a user in a day", (turn) => {
      return `p=1&type=2&username=${pick(users, turn).name}&${buildDayQuery(contents, turn)}`;
    }),
    list(
      "streams longer than 10 s in a day",
      (turn) => `p=1&is_stream=true&min_use_time=10&${buildDayQuery(contents, turn)}`,
    ),
    list("a request id", (turn) => `p=1&request_id=${pick(requestIds, turn)}`),
  ];
}

function ownCalls(contents: Contents): ApiCall[] {
  const own = { kind: "list", by: "user" } as const;
  return [
    { ...own, name: "own, first page", path: () => "/api/log/self?p=1&page_size=20" },
    { ...own, name: "own, a day", path: (turn) => `/api/log/self?p=1&page_size=20&${buildDayQuery(contents, turn)}` },
  ];
}

function statisticsCalls(contents: Contents): ApiCall[] {
  const { users, models } = contents;
  const day = (turn: number) => buildDayQuery(contents, turn);
  const root = { kind: "day", by: "root" } as const;
  const wide = { kind: "other", by: "root" } as const;
  return [
    { ...root, name: "spent in a day", path: (turn) => `/api/log/stat?${day(turn)}` },
    {
      ...root,
      name: "spent in a day by a user",
      path: (turn) => `/api/log/stat?username=${pick(users, turn).name}&${day(turn)}`,
    },
    {
      ...root,
      name: "spent in a day on a model",
      path: (turn) => `/api/log/stat?model_name=${pick(models, turn)}&${day(turn)}`,
    },
    { kind: "day", by: "user", name: "spent in a day, own", path: (turn) => `/api/log/self/stat?${day(turn)}` },
    { ...root, name: "chart of a day", path: (turn) => `/api/data/?${day(turn)}` },
    {
      ...root,
      name: "chart of a day of a user",
      path: (turn) => `/api/data/?username=${pick(users, turn).name}&${day(turn)}`,
    },
    { kind: "day", by: "user", name: "chart of a day, own", path: (turn) => `/api/data/self?${day(turn)}` },
    { ...wide, name: "histogram of a day", path: (turn) => `/api/log/histogram?${day(turn)}` },
    { ...wide, name: "facets of a day", path: (turn) => `/api/log/facets?${day(turn)}` },
    { ...wide, name: "spent since ever", path: () => "/api/log/stat" },
    { ...wide, name: "chart since ever", path: () => "/api/data/" },
  ];
}

function channelCalls({ channels, models }: Contents): ApiCall[] {
  const call = (name: string, path: (turn: number) => string): ApiCall => ({
    name,
    kind: "channels",
    by: "root",
    path,
  });
  const pages = Math.max(1, Math.floor(channels / 20));
  return [
    call("first page", () => "/api/channel/?p=0&page_size=20"),
    call("any page", (turn) => `/api/channel/?p=${(turn * 37) % pages}&page_size=20`),
    call("last page", () => `/api/channel/?p=${pages - 1}&page_size=20&id_sort=true`),
    call("100 on a page", (turn) => `/api/channel/?p=${turn % 5}&page_size=100`),
    call("by tags", (turn) => `/api/channel/?p=${turn % 2}&page_size=2&tag_mode=true`),
    call("search by name", (turn) => `/api/channel/search?keyword=channel-00${turn % 10}&p=0&page_size=20`),
    call("search by model and group", (turn) => {
      return `/api/channel/search?model=${pick(models, turn)}&group=vip&p=0&page_size=20`;
    }),
  ];
}

/** Returns both ends of a whole day before the newest row, a different one each turn. */
function buildDayQuery({ until, days }: Contents, turn: number): string {
  const start = Math.floor(until / DAY) * DAY - (1 + (turn % Math.max(1, days - 1))) * DAY;
  return `start_timestamp=${start}&end_timestamp=${start + DAY - 1}`;
}

function pick<Item>(items: readonly Item[], turn: number): Item {
  const item = items[turn % items.length];
  if (item === undefined) throw new Error("the database is not seeded");
  return item;
}

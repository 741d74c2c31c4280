/** Ids, filters and other values that tell queries of one name apart. */
type Part = string | number | boolean | object | undefined;

/**
 * The keys of the query cache by resource. A key begins with the name of its resource, and refreshing a key refreshes
 * all keys that begin with it: `tokens.all` every query of tokens. What is below `lists` has the shape `Rows` where rows
 * are changed in place; `shown` is a row on its page, and `one` the copy that a form edits.
 */
export const queryKeys = {
  audit: { list: (...by: Part[]) => ["audit", "list", ...by] },
  budgets: {
    lists: ["budgets", "list"],
    history: (id: number) => ["budgets", "list", "history", id],
    one: (id: number) => ["budgets", "one", id],
    suggestions: (...by: Part[]) => ["budgets", "suggestions", ...by],
  },
  channels: {
    all: ["channels"],
    lists: ["channels", "list"],
    list: (filter: Part) => ["channels", "list", "page", filter],
    shown: (id: number) => ["channels", "list", "shown", id],
    demo: ["channels", "list", "demo"],
    newest: ["channels", "list", "newest"],
    providers: ["channels", "list", "providers"],
    one: (id: number) => ["channels", "one", id],
    keys: (id: number) => ["channels", "keys", id],
    health: ["channels", "health"],
    managed: ["channels", "managed"],
    models: ["channels", "models"],
    trouble: ["channels", "trouble"],
    types: ["channels", "types"],
  },
  /** What a confirmation by password or passkey needs to know. */
  confirm: { factor: ["confirm", "factor"], passkeys: ["confirm", "passkeys"] },
  content: { about: ["content", "about"], home: ["content", "home"], notice: ["content", "notice"] },
  documents: { managed: ["documents", "managed"] },
  drawings: { list: (...by: Part[]) => ["drawings", "list", ...by] },
  groups: { every: ["groups", "every"], own: ["groups", "own"] },
  jobs: { all: ["jobs"], channels: ["jobs", "channels"], latest: ["jobs", "latest"] },
  logs: {
    all: ["logs"],
    lists: ["logs", "list"],
    list: (...by: Part[]) => ["logs", "list", ...by],
    one: (...by: Part[]) => ["logs", "one", ...by],
    request: (id: string) => ["logs", "request", id],
    explanation: (id: Part) => ["logs", "explanation", id],
    facets: (...by: Part[]) => ["logs", "facets", ...by],
    histogram: (...by: Part[]) => ["logs", "histogram", ...by],
    totals: (...by: Part[]) => ["logs", "totals", ...by],
    recent: ["logs", "recent"],
    failures: ["logs", "failures"],
    failuresOf: (channel: number) => ["logs", "failures", channel],
    user: (id: number) => ["logs", "user", id],
  },
  models: { own: ["models", "own"] },
  options: {
    all: ["options"],
    list: ["options", "list"],
    prices: ["options", "prices"],
    history: (name: string) => ["options", "history", name],
    found: (...by: Part[]) => ["options", "found", ...by],
  },
  playground: {
    all: ["playground"],
    models: ["playground", "models"],
    charge: (request: string) => ["playground", "charge", request],
  },
  pricing: { all: ["pricing"], list: (user: number | undefined) => ["pricing", user] },
  redemptions: {
    lists: ["redemptions", "list"],
    list: (filter: Part) => ["redemptions", "list", filter],
    one: (id: number) => ["redemptions", "one", id],
  },
  search: { found: (text: string) => ["search", text] },
  /** The signed-in user. */
  self: {
    all: ["self"],
    user: ["self", "user"],
    accessTokens: ["self", "access-tokens"],
    invite: ["self", "invite"],
    orders: ["self", "orders"],
    passkeys: ["self", "passkeys"],
    preferences: ["self", "preferences"],
    sessions: ["self", "sessions"],
    twoFactor: ["self", "two-factor"],
  },
  statistics: {
    subjects: (asked: Part) => ["statistics", "subjects", asked],
    overTime: (asked: Part) => ["statistics", "over-time", asked],
  },
  /** Belongs to no user: survives a sign-out. */
  status: ["status"],
  system: { replicas: ["system", "replicas"] },
  tasks: { list: (...by: Part[]) => ["tasks", "list", ...by] },
  tokens: {
    all: ["tokens"],
    lists: ["tokens", "list"],
    list: (filter: Part) => ["tokens", "list", "page", filter],
    allShown: ["tokens", "shown"],
    shown: (id: number) => ["tokens", "shown", id],
    count: ["tokens", "list", "count"],
    newest: ["tokens", "list", "newest"],
    one: (id: number) => ["tokens", "one", id],
  },
  usage: {
    all: ["usage"],
    table: (...by: Part[]) => ["usage", "table", ...by],
    by: (...by: Part[]) => ["usage", "by", ...by],
    rate: (filter: Part) => ["usage", "rate", filter],
  },
  users: {
    lists: ["users", "list"],
    list: (filter: Part) => ["users", "list", "page", filter],
    allShown: ["users", "shown"],
    shown: (id: number) => ["users", "shown", id],
    orders: (id: number) => ["users", "orders", id],
    audit: (id: number) => ["users", "audit", id],
    one: (id: number) => ["users", "one", id],
  },
  wallet: { card: ["wallet", "card"], price: (...by: Part[]) => ["wallet", "price", ...by] },
} as const;
